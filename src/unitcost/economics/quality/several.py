"""Many options against one reference: without care one of twenty bad ones passes by luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from zlib import crc32

from unitcost.economics.quality.paired import ALPHA, more_items
from unitcost.facts.verdicts import Verdict


def holm(verdicts: Mapping[str, Verdict], *, alpha: float = ALPHA) -> dict[str, Verdict]:
    """Verdicts of options that were tried together: "not worse" is wrong for any of them at most with chance `alpha`.

    An option that passes alone but not among the others becomes undecided.

    Notes
    -----
    Holm's step-down procedure: the k-th smallest of m probabilities must be below ``alpha / (m - k + 1)``, and all before
    it too [1]_.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
       (1979), section 3.
    """
    passed = True
    found = {}
    ordered = sorted(verdicts.items(), key=lambda pair: (pair[1].p_not_worse, pair[0]))
    for place, (name, verdict) in enumerate(ordered):
        level = alpha / (len(ordered) - place)
        passed = passed and verdict.p_not_worse < level
        found[name] = verdict if passed or verdict.outcome != "not worse" else _doubted(verdict, len(ordered))
    return {name: found[name] for name in verdicts}


def is_for_choice(item: str) -> bool:
    """Whether an item is among those that options are chosen on; the others confirm the one that was chosen.

    Every second item, by a hash of its name, so that the same item is always on the same side.
    """
    return crc32(item.encode()) % 2 == 0


def _doubted(verdict: Verdict, options: int) -> Verdict:
    return replace(
        verdict, outcome="undecided", method=f"{verdict.method}; among {options} options (Holm 1979)",
        needs_more=more_items(verdict.spread, verdict.margin, verdict.items),
    )  # fmt: skip


def unchosen(verdict: Verdict) -> Verdict:
    """Verdict of an option that was not the one chosen to be confirmed: it stays open."""
    return replace(verdict, outcome="undecided", method=f"{verdict.method}; not chosen on the first half", needs_more=0)
