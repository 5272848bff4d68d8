"""The arrays that the kernel works on, and what its numbers stand for.

One record holds all that is known of a request, so that an event touches one or two lines of the processor's cache.
"""

from __future__ import annotations

import numpy as np

#: Two moments closer than this are the same one, whatever way the sums were rounded. [s]
SAME_S = 1e-9
NONE = -1

#: Schedulers.
DECODE_FIRST, PREFILL_FIRST, WHOLE_PROMPT, STATIC = 0, 1, 2, 3
#: Routing.
ROUND_ROBIN, LEAST_LOADED, PREFIX_AFFINITY = 0, 1, 2
#: What becomes of a request.
UNSERVED, DONE, REJECTED, TIMED_OUT = 0, 1, 2, 3
#: States of a replica.
OFF, PROVISIONING, LOADING, STANDBY, READY, DRAINING = 0, 1, 2, 3, 4, 5
#: Goal of a replica that is to serve in the place of a less preferred one.
TAKE_OVER = 6
#: Pricing category of a place, by its number in `arrays.CATEGORIES`.
ON_DEMAND = 2
#: What a replica is doing.
IDLE, TIMER, DECODE, MIXED, PREFILL = 0, 1, 2, 3, 4
#: What happens to spot capacity.
NOTICE, KILL, BACK = 0, 1, 2
#: Gaps between tokens are counted in bins of 1 %, from a microsecond up.
GAP_BINS, GAP_BIN_WIDTH, GAP_FIRST_S = 2200, 0.01, 1e-6

REQUEST = np.dtype(
    [
        ("arrival", "f8"), ("held_since", "f8"), ("queued", "f8"), ("scheduled", "f8"), ("first", "f8"), ("last", "f8"),
        ("hash_from", "i8"), ("base", "i8"), ("ring_at", "i8"),
        ("input", "i4"), ("output", "i4"), ("prefill", "i4"), ("done", "i4"), ("chunk", "i4"), ("generated", "i4"),
        ("hash_count", "i4"), ("shared", "i4"), ("cached", "i4"), ("replica", "i4"), ("preemptions", "i4"), ("kills", "i4"),
        ("next", "i4"), ("run_before", "i4"), ("run_after", "i4"), ("ring_before", "i4"), ("ring_after", "i4"),
        ("status", "i4"),
    ],
    align=True,
)  # fmt: skip
REPLICA = np.dtype(
    [
        ("now", "f8"), ("end", "f8"), ("first_s", "f8"), ("slope_s", "f8"), ("attention_s", "f8"),
        ("since", "f8"), ("until", "f8"), ("busy_s", "f8"), ("batch_s", "f8"), ("stall_s", "f8"), ("last_done", "f8"),
        ("steps", "i8"), ("activity", "i8"), ("clock", "i8"), ("next_done", "i8"),
        ("decoding", "i8"), ("context", "i8"), ("running", "i8"), ("waiting", "i8"), ("longest", "i8"),
        ("wait_head", "i8"), ("wait_tail", "i8"), ("run_head", "i8"), ("run_tail", "i8"),
        ("partial", "i8"), ("step_head", "i8"), ("chunks", "i8"), ("step_tokens", "i8"),
        ("free", "i8"), ("idle", "i8"), ("oldest", "i8"), ("newest", "i8"), ("slot_free", "i8"), ("least_free", "i8"),
        ("state", "i8"), ("goal", "i8"), ("category", "i8"), ("lost", "i8"), ("gap_bin", "i8"), ("stalled", "i8"),
        ("iterations", "i8"), ("preemptions", "i8"), ("evictions", "i8"), ("output_tokens", "i8"), ("prefilled", "i8"),
    ],
    align=True,
)  # fmt: skip
#: A block of a prompt that a replica keeps, pinned by `users` or in the order of last use.
SLOT = np.dtype([("hash", "i8"), ("users", "i4"), ("older", "i4"), ("newer", "i4")], align=True)
INTERVAL = np.dtype(
    [("start", "f8"), ("end", "f8"), ("replica", "i4"), ("state", "i4"), ("category", "i4")], align=True
)
EVENT = np.dtype([("time", "f8"), ("replica", "i8"), ("what", "i8")], align=True)
#: A decode iteration: the first request that finishes with it.
RING = np.dtype([("head", "i4")])
#: Decoding sequences that need a block at iterations that leave this rest, divided by the size of a block.
PHASE = np.dtype([("count", "i8")])
#: A place of the table by hash: the slot that stands there.
ENTRY = np.dtype([("slot", "i4")])
HASH = np.dtype([("key", "i8")])
#: Gaps between tokens that are at least `edge`.
GAP = np.dtype([("edge", "f8"), ("count", "i8")], align=True)
WANT = np.dtype([("count", "i8")])
SECONDS = np.dtype([("s", "f8")])
#: Decode times of one batch on one piece of the context axis: a value at context 0 and a slope.
PIECE = np.dtype([("step", "f8"), ("step_slope", "f8"), ("attention", "f8"), ("attention_slope", "f8")], align=True)
#: The whole of a run: where its arrays are, how long they are, the rules, and what concerns all replicas.
SIM = np.dtype(
    [
        ("at_requests", "i8"), ("at_replicas", "i8"), ("at_ring", "i8"), ("at_phases", "i8"), ("at_slots", "i8"),
        ("at_entries", "i8"), ("at_hashes", "i8"), ("at_gaps", "i8"), ("at_intervals", "i8"), ("at_events", "i8"),
        ("at_history", "i8"), ("at_shared", "i8"), ("at_upper", "i8"), ("at_pieces", "i8"), ("at_chunk_axis", "i8"),
        ("at_past_axis", "i8"), ("at_chunk_s", "i8"),
        ("requests", "i8"), ("replicas", "i8"), ("ring", "i8"), ("kept", "i8"), ("entries", "i8"), ("rows", "i8"),
        ("events", "i8"), ("looks", "i8"), ("dense", "i8"), ("pieces", "i8"), ("chunks", "i8"), ("pasts", "i8"),
        ("scheduler", "i8"), ("routing", "i8"), ("max_batch", "i8"), ("max_step_tokens", "i8"), ("max_delay", "f8"),
        ("block", "i8"), ("blocks", "i8"), ("hash_tokens", "i8"), ("hash_blocks", "i8"), ("fast", "i8"), ("slack", "i8"),
        ("per_step", "f8"), ("per_prefill_step", "f8"), ("per_sequence", "f8"), ("shared_slope", "f8"),
        ("minimum", "i8"), ("maximum", "i8"), ("initial", "i8"), ("warm", "i8"), ("spare", "i8"), ("spot_spare", "i8"),
        ("target", "f8"),
        ("interval", "f8"), ("surge", "i8"), ("cooldown", "f8"), ("idle_timeout", "f8"), ("max_wait", "f8"),
        ("provision", "f8"), ("loading", "f8"), ("waking", "f8"), ("horizon", "f8"),
        ("held_head", "i8"), ("held_tail", "i8"), ("held", "i8"), ("turn", "i8"), ("event", "i8"), ("written", "i8"),
        ("next_control", "f8"), ("tick", "f8"), ("last_down", "f8"), ("ticks", "i8"), ("last_arrival", "f8"), ("end", "f8"),
    ],
    align=True,
)  # fmt: skip
