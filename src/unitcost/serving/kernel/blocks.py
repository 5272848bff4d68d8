"""The KV cache of a replica: a pool of blocks that running requests and kept prefixes share.

A prompt's full blocks are kept under their hashes, pinned while a request uses them and afterwards in the order of last use,
the deepest of a prompt first to go. Everything else is counted, not listed.
"""

from __future__ import annotations

from typing import Any

from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import NONE
from unitcost.serving.kernel.records import entry, phase, prefix_hash, slot


@kernel
def home(key: int, mask: int) -> int:
    """Where the search for a key begins (Fibonacci hashing)."""
    return ((key * 0x9E3779B97F4A7C1) >> 24) & mask


@kernel
def find(sim: Any, r: int, key: int) -> int:
    """Slot that keeps a block; `NONE` when it is not kept."""
    mask = sim.entries - 1
    j = home(key, mask)
    while entry(sim.at_entries, r * sim.entries + j).slot >= 0:
        s = entry(sim.at_entries, r * sim.entries + j).slot
        if slot(sim.at_slots, r * sim.kept + s).hash == key:
            return s
        j = (j + 1) & mask
    return NONE


@kernel
def keep(sim: Any, r: int, p: Any, key: int) -> None:
    """Keep a new block, used by one request."""
    s = p.slot_free
    kept_block = slot(sim.at_slots, r * sim.kept + s)
    p.slot_free = kept_block.newer
    kept_block.hash = key
    kept_block.users = 1
    mask = sim.entries - 1
    j = home(key, mask)
    while entry(sim.at_entries, r * sim.entries + j).slot >= 0:
        j = (j + 1) & mask
    entry(sim.at_entries, r * sim.entries + j).slot = s


@kernel
def drop(sim: Any, r: int, s: int) -> None:
    """Take a slot out of the table; what was pushed past it moves back (no tombstones)."""
    mask = sim.entries - 1
    hole = home(slot(sim.at_slots, r * sim.kept + s).hash, mask)
    while entry(sim.at_entries, r * sim.entries + hole).slot != s:
        hole = (hole + 1) & mask
    j = hole
    while True:
        j = (j + 1) & mask
        other = entry(sim.at_entries, r * sim.entries + j).slot
        if other < 0:
            break
        if ((j - home(slot(sim.at_slots, r * sim.kept + other).hash, mask)) & mask) >= ((j - hole) & mask):
            entry(sim.at_entries, r * sim.entries + hole).slot = other
            hole = j
    entry(sim.at_entries, r * sim.entries + hole).slot = NONE


@kernel
def unlink_idle(sim: Any, r: int, p: Any, s: int) -> None:
    """Take a slot out of the order of last use."""
    kept_block = slot(sim.at_slots, r * sim.kept + s)
    if kept_block.older < 0:
        p.oldest = kept_block.newer
    else:
        slot(sim.at_slots, r * sim.kept + kept_block.older).newer = kept_block.newer
    if kept_block.newer < 0:
        p.newest = kept_block.older
    else:
        slot(sim.at_slots, r * sim.kept + kept_block.newer).older = kept_block.older
    p.idle -= 1


@kernel
def link_idle(sim: Any, r: int, p: Any, s: int) -> None:
    """Put a slot at the young end of the order of last use."""
    kept_block = slot(sim.at_slots, r * sim.kept + s)
    kept_block.older = p.newest
    kept_block.newer = NONE
    if p.newest < 0:
        p.oldest = s
    else:
        slot(sim.at_slots, r * sim.kept + p.newest).newer = s
    p.newest = s
    p.idle += 1


@kernel
def take_blocks(sim: Any, r: int, p: Any, blocks: int) -> None:
    """Take blocks out of the pool, forgetting the prefixes used longest ago where it has too few."""
    while p.free < blocks:
        s = p.oldest
        unlink_idle(sim, r, p, s)
        drop(sim, r, s)
        slot(sim.at_slots, r * sim.kept + s).newer = p.slot_free
        p.slot_free = s
        p.free += sim.hash_blocks
        p.evictions += 1
    p.free -= blocks
    if p.free < p.least_free:
        p.least_free = p.free


@kernel
def cacheable(sim: Any, q: Any) -> int:
    """Full blocks of a prompt that may be shared."""
    tokens = sim.hash_tokens
    return min(q.hash_count, q.input // tokens) if tokens > 0 else 0


@kernel
def matched(sim: Any, r: int, q: Any) -> tuple[int, int]:
    """Leading blocks of a prompt that a replica keeps, and how many of them nobody uses."""
    most = cacheable(sim, q)
    found, idle = 0, 0
    while found < most:
        s = find(sim, r, prefix_hash(sim.at_hashes, q.hash_from + found).key)
        if s < 0:
            break
        if slot(sim.at_slots, r * sim.kept + s).users == 0:
            idle += 1
        found += 1
    return found, idle


@kernel
def share(sim: Any, r: int, p: Any, q: Any, first: int, last: int) -> int:
    """Pin blocks `first` up to `last` of a prompt, and say how many were kept; the others are from now on."""
    kept = 0
    for h in range(q.hash_from + first, q.hash_from + last):
        s = find(sim, r, prefix_hash(sim.at_hashes, h).key)
        if s < 0:
            keep(sim, r, p, prefix_hash(sim.at_hashes, h).key)
            continue
        kept += 1
        kept_block = slot(sim.at_slots, r * sim.kept + s)
        if kept_block.users == 0:
            unlink_idle(sim, r, p, s)
        kept_block.users += 1
    return kept


@kernel
def blocks_of(sim: Any, tokens: int) -> int:
    """Blocks that so many tokens fill."""
    block = sim.block
    return (tokens + block - 1) // block


@kernel
def admit(sim: Any, r: int, p: Any, q: Any) -> bool:
    """Give a request the blocks of its prompt, if there are enough; what is kept of it need not be computed."""
    need = blocks_of(sim, q.prefill)
    found, idle = 0, 0
    if sim.hash_tokens > 0 and q.hash_count > 0:
        found, idle = matched(sim, r, q)
        need -= found * sim.hash_blocks
    if p.free + (p.idle - idle) * sim.hash_blocks < need:
        return False
    q.shared = cacheable(sim, q)
    share(sim, r, p, q, 0, found)
    take_blocks(sim, r, p, need)
    p.free += share(sim, r, p, q, found, q.shared) * sim.hash_blocks
    q.done = min(found * sim.hash_tokens, q.prefill - 1)
    if q.kills == 0 and q.preemptions == 0:
        q.cached = q.done
    return True


@kernel
def release(sim: Any, r: int, p: Any, q: Any, tokens: int) -> None:
    """Give back the blocks of a request that holds `tokens`; its full prompt blocks stay until room is needed."""
    p.free += blocks_of(sim, tokens) - q.shared * sim.hash_blocks
    for h in range(q.shared - 1, -1, -1):
        s = find(sim, r, prefix_hash(sim.at_hashes, q.hash_from + h).key)
        kept_block = slot(sim.at_slots, r * sim.kept + s)
        kept_block.users -= 1
        if kept_block.users == 0:
            link_idle(sim, r, p, s)
    q.shared = 0


@kernel
def growth(sim: Any, r: int, p: Any, first: int, steps: int) -> int:
    """Blocks that the decoding sequences need for `steps` iterations from iteration `first` on."""
    block = sim.block
    need = (steps // block) * p.decoding
    for k in range(first, first + steps % block):
        need += phase(sim.at_phases, r * sim.block + (k % block)).count
    return need


@kernel
def can_take(sim: Any, p: Any, blocks: int) -> bool:
    """Whether so many blocks are free or could be made so."""
    return p.free + p.idle * sim.hash_blocks >= blocks


@kernel
def flush(sim: Any, r: int, p: Any) -> None:
    """Empty the KV cache."""
    for j in range(sim.entries):
        entry(sim.at_entries, r * sim.entries + j).slot = NONE
    for s in range(sim.kept):
        slot(sim.at_slots, r * sim.kept + s).newer = s + 1
        slot(sim.at_slots, r * sim.kept + s).users = 0
    p.slot_free = 0
    p.oldest = NONE
    p.newest = NONE
    p.idle = 0
    p.free = sim.blocks
    p.least_free = min(p.least_free, p.free)
