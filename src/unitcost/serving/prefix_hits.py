"""What a prefix cache can give at most, what it gave, and why it gave nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.errors import BadSetting
from unitcost.serving.fleet import Fleet
from unitcost.serving.kernel import layout
from unitcost.serving.simulate import Run
from unitcost.serving.traces import Ints, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class IdealHits:
    """Hits of one shared least-recently-used cache.

    Parameters
    ----------
    blocks
        Its size; None: without limit.
    block_share, token_share
        Blocks found over blocks looked up; the same blocks, each taken as a whole one, over tokens of all prompts: how hit
        ratios of such traces are usually given.
    tokens
        Tokens that these blocks really hold: fewer where a prompt ends in its last one.
    """

    blocks: int | None
    block_share: float
    token_share: float
    tokens: int


def ideal_hits(trace: Trace, sizes: Sequence[int | None]) -> list[IdealHits]:
    """Hits that one cache for the whole trace would have, by size, in one pass over the trace.

    The blocks of a prompt are looked up until the first that is missing, then touched deepest first, so that prefixes stay
    whole. The last block of a prompt counts even where the prompt does not fill it.

    Notes
    -----
    A least-recently-used cache of C blocks holds the C blocks touched last, so a block is found where no more than C distinct ones
    were touched since [1]_. Touching deepest first makes a block's parents younger than itself: found blocks are a prefix.

    References
    ----------
    .. [1] R. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9 (1970).
    """
    from unitcost.serving.kernel.distances import stack_distances

    _need_hashes(trace)
    keys, distinct = dense(trace.hashes)
    distances = stack_distances(keys, np.ascontiguousarray(trace.hash_from, np.int64), distinct)
    tokens = int(trace.input_tokens.sum())
    held = _tokens_of_blocks(trace)
    rows = []
    for size in sizes:
        found = (distances > 0) & (distances <= (size or len(keys)))
        count = int(found.sum())
        rows.append(
            IdealHits(
                blocks=size, block_share=count / len(keys), token_share=min(1.0, count * trace.hash_tokens / tokens),
                tokens=int(held[found].sum()),
            )
        )  # fmt: skip
    return rows


def _tokens_of_blocks(trace: Trace) -> Ints:
    """Tokens that each hashed block holds: fewer than a whole one where the prompt ends in it, none beyond."""
    counts = np.diff(trace.hash_from)
    places = np.arange(len(trace.hashes)) - np.repeat(trace.hash_from[:-1] - trace.hash_from[0], counts)
    left = np.repeat(trace.input_tokens, counts) - places * trace.hash_tokens
    held: Ints = np.clip(left, 0, trace.hash_tokens)
    return held


def dense(keys: Ints) -> tuple[Ints, int]:
    """Keys as numbers from 0 in the order of their values, and how many distinct ones there are."""
    distinct, places = np.unique(keys, return_inverse=True)
    return np.ascontiguousarray(places.reshape(-1), np.int64), len(distinct)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixAccount:
    """Prompt tokens that a cache could have given, that it gave, and where the rest went: the parts add up to the ceiling.

    Parameters
    ----------
    prompt_tokens
        Of all answered requests.
    ceiling_tokens
        Tokens of prompts that stand at the beginning of an earlier prompt too, to the block of the trace: one cache without limit.
    found_tokens
        Given by the caches of the replicas.
    lost_to_off_tokens
        All of the ceiling where the engine keeps no prefixes.
    lost_to_blocks_tokens
        Ceiling less what full blocks could give without limit.
    lost_to_room_tokens
        That less one cache as large as all of the fleet.
    lost_to_routing_tokens
        That less what a cache of one replica's size could give of the requests that came to it, over the replicas. Below zero
        where parted caches keep what one would have dropped.
    lost_to_timing_tokens
        That less what was found: the order in which requests were taken up, memory that running ones held, and the last
        token of a prompt that is there as a whole, which is always computed.
    off_reason
        Why the engine keeps no prefixes; empty: it does.
    """

    prompt_tokens: int
    ceiling_tokens: int
    found_tokens: int
    lost_to_off_tokens: int = 0
    lost_to_blocks_tokens: int = 0
    lost_to_room_tokens: int = 0
    lost_to_routing_tokens: int = 0
    lost_to_timing_tokens: int = 0
    off_reason: str = ""


def prefix_account(found: Run, fleet: Fleet, *, off_reason: str = "") -> PrefixAccount:
    """Ceiling, actual and lost hits of a run, over the requests that were answered.

    Parameters
    ----------
    off_reason
        Why the fleet's engine keeps no prefixes, where it does not.

    Raises
    ------
    BadSetting
        When the trace has no hashes.
    """
    _need_hashes(found.trace)
    done = found.status == layout.DONE
    trace, replica = found.trace.only(done), found.replica[done]
    prompts = int(trace.input_tokens.sum())
    ceiling = _given(trace)
    if not fleet.engine.prefix_caching:
        return PrefixAccount(
            prompt_tokens=prompts, ceiling_tokens=ceiling, found_tokens=0, lost_to_off_tokens=ceiling,
            off_reason=off_reason or "prefix caching is switched off",
        )  # fmt: skip
    full = _full_blocks(trace)
    room = fleet.grid.kv_tokens_per_replica // trace.hash_tokens
    whole, roomy = _given(full), _given(full, room * len(fleet.categories))
    apart = sum(_given(full.only(replica == place), room) for place in np.unique(replica))
    cached = int(found.cached_tokens[done].sum())
    return PrefixAccount(
        prompt_tokens=prompts, ceiling_tokens=ceiling, found_tokens=cached, lost_to_blocks_tokens=ceiling - whole,
        lost_to_room_tokens=whole - roomy, lost_to_routing_tokens=roomy - apart, lost_to_timing_tokens=apart - cached,
    )  # fmt: skip


def _given(trace: Trace, blocks: int | None = None) -> int:
    """Tokens that one cache would give. [tokens]."""
    if not len(trace.hashes) or blocks == 0:
        return 0
    return ideal_hits(trace, [blocks])[0].tokens


def no_hits_because(trace: Trace, *, caching: bool, block_tokens: int, off_reason: str = "") -> str:
    """Why a prefix cache finds nothing; empty when it should find something.

    Parameters
    ----------
    caching, off_reason
        Whether the engine keeps prefixes, and why not.
    block_tokens
        Size of its blocks.
    """
    if not caching:
        return off_reason or "prefix caching is switched off"
    if not trace.hash_tokens:
        return "the trace has no hashes of prompts: it is not known what they share"
    longest = int(trace.input_tokens.max())
    if block_tokens > longest:
        return f"blocks are too large: one holds {block_tokens} tokens, the longest prompt has {longest}"
    if not ideal_hits(trace, [None])[0].block_share:
        return f"no two prompts share a first block of {trace.hash_tokens} tokens"
    full = _full_blocks(trace)
    if not len(full.hashes) or not ideal_hits(full, [None])[0].block_share:
        return f"no full block is shared: what prompts share is shorter than {trace.hash_tokens} tokens"
    if block_tokens > trace.hash_tokens and not _shares_after(full, -(-block_tokens // trace.hash_tokens)):
        return f"blocks are too large: what prompts share is shorter than {block_tokens} tokens"
    return ""


def _shares_after(trace: Trace, blocks: int) -> bool:
    """Whether two prompts have their first `blocks` blocks in common."""
    ends = trace.hash_from[:-1][np.diff(trace.hash_from) >= blocks] + blocks - 1
    return len(np.unique(trace.hashes[ends])) < len(ends)


def _full_blocks(trace: Trace) -> Trace:
    """The trace without blocks that a prompt does not fill."""
    _need_hashes(trace)
    counts = np.minimum(np.diff(trace.hash_from), trace.input_tokens // trace.hash_tokens)
    places = np.arange(len(trace.hashes)) - np.repeat(trace.hash_from[:-1], np.diff(trace.hash_from))
    kept = places < np.repeat(counts, np.diff(trace.hash_from))
    return Trace(
        arrival_s=trace.arrival_s, input_tokens=trace.input_tokens, output_tokens=trace.output_tokens,
        duration_s=trace.duration_s, hashes=trace.hashes[kept], hash_from=np.concatenate([[0], np.cumsum(counts)]),
        hash_tokens=trace.hash_tokens, keys=trace.keys, name=trace.name,
    )  # fmt: skip


def _need_hashes(trace: Trace) -> None:
    if not trace.hash_tokens or not len(trace.hashes):
        raise BadSetting(
            "the trace has no prefix hashes", where=trace.name, mend="use a trace with hashes of prompt blocks"
        )
