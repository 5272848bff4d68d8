"""Words of the table `calls`: how a call ended, how its source counts, and what is to be said of it."""

from __future__ import annotations

from typing import Literal

#: `cached`: the gateway answered from its own cache, so no model was called. `aborted`: the caller went away before the
#: answer was whole.
CallStatus = Literal["ok", "failed", "aborted", "cached"]
CALL_STATUSES: tuple[CallStatus, ...] = ("ok", "failed", "aborted", "cached")
#: How a model was called, where that changes its price; empty = the usual way.
Variant = Literal["", "batch", "flex", "priority"]
VARIANTS: tuple[Variant, ...] = ("", "batch", "flex", "priority")
#: `gross`: the input that a source states holds what was read from and written to a cache. `fresh`: it does not.
InputConvention = Literal["gross", "fresh"]
#: Whether the output that a source states holds what was reasoned, or stands beside it.
OutputConvention = Literal["includes-reasoning", "beside-reasoning"]
#: `measured`: the source says that it cost so much, zero included. `estimated`: the source itself calls it an estimate.
CostBasis = Literal["measured", "estimated"]

#: Codes in the column `notes`, several joined by `;`.
SUM_OF_CALLS = "sum-of-calls"
REPEATS_CHILDREN = "repeats-children"
OUTPUT_LOWER_BOUND = "output-lower-bound"
CACHE_LIFETIME_UNKNOWN = "cache-lifetime-unknown"
CACHE_UNKNOWN = "cache-unknown"
NOTES = {
    SUM_OF_CALLS: "the row is the sum of many calls over a period, as a provider reports them",
    REPEATS_CHILDREN: "the row repeats what the calls below it state; those count, it does not",
    OUTPUT_LOWER_BOUND: "the answer was broken off, so at least so many tokens were generated",
    CACHE_LIFETIME_UNKNOWN: "tokens were written to a cache for a time that the source does not state",
    CACHE_UNKNOWN: "the source does not say how much of the input was read from a cache",
}
