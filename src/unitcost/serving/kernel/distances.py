"""Least recently used caches of every size at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from unitcost.serving.kernel.compiled import entry, kernel


@kernel
def add(tree: Any, at: int, amount: int) -> None:
    """Add to one place of a tree of sums (Fenwick)."""
    at += 1
    while at < tree.shape[0]:
        tree[at] += amount
        at += at & -at


@kernel
def sum_until(tree: Any, at: int) -> int:
    """Sum of the places up to `at`."""
    found = 0
    at += 1
    while at > 0:
        found += tree[at]
        at -= at & -at
    return found


@entry
def stack_distances(keys: Any, begins: Any, distinct: int) -> Any:
    """How many distinct keys were touched since each key was, itself included; 0 when it never was.

    Keys come in groups: all of a group are looked up, then touched from the last to the first. `keys` are numbers below
    `distinct`; `begins` has one entry more than there are groups.
    """
    tree = np.zeros(keys.shape[0] + 2, np.int64)
    last = np.full(distinct, -1, np.int64)
    found = np.zeros(keys.shape[0], np.int64)
    moment, alive = 0, 0
    for g in range(begins.shape[0] - 1):
        for i in range(begins[g], begins[g + 1]):
            if last[keys[i]] >= 0:
                found[i] = alive - sum_until(tree, last[keys[i]]) + 1
        for i in range(begins[g + 1] - 1, begins[g] - 1, -1):
            key = keys[i]
            if last[key] >= 0:
                add(tree, last[key], -1)
            else:
                alive += 1
            last[key] = moment
            add(tree, moment, 1)
            moment += 1
    return found
