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
NOTES = {
    SUM_OF_CALLS: "the row is the sum of many calls over a period, as a provider reports them",
    REPEATS_CHILDREN: "the row repeats what the calls below it state; those count, it does not",
    OUTPUT_LOWER_BOUND: "the answer was broken off, so at least so many tokens were generated",
    CACHE_LIFETIME_UNKNOWN: "tokens were written to a cache for a time that the source does not state",
}

#: Kind of what a source states of a call.
StatedKind = Literal["text", "time", "whole", "decimal", "truth"]
#: What a mapping of the dataset `calls` may give. Counts of tokens are as the source counts them: `input` is all input
#: under the convention `gross`; `cache_read` holds its audio and images; `cache_write` is all that was written, whatever
#: for how long, and need not be stated; audio, images and video of the input are those that no cache had, and part of
#: `input`; those of the output are part of `output`. The ledger makes disjoint classes of them. `estimated_cost` counts
#: where no `reported_cost` is, and is what was avoided where the gateway answered by itself. `tags.KEY` is a tag.
STATED: dict[str, StatedKind] = {
    "call_id": "text", "parent_id": "text", "attempt": "whole", "called_at": "time", "ended_at": "time",
    "requests": "whole", "provider": "text", "model": "text", "variant": "text", "region": "text", "key": "text",
    "caller": "text", "status": "text", "input": "whole", "cache_read": "whole", "cache_write": "whole",
    "cache_write_5m": "whole", "cache_write_1h": "whole", "input_audio": "whole", "cache_read_audio": "whole",
    "input_image": "whole", "cache_read_image": "whole", "input_video": "whole", "output": "whole",
    "reasoning": "whole", "citation": "whole", "output_audio": "whole", "output_image": "whole",
    "output_video": "whole", "web_searches": "whole", "reported_cost": "decimal", "estimated_cost": "decimal",
    "avoided_cost": "decimal", "reported_currency": "text", "cost_basis": "text", "input_convention": "text",
    "output_convention": "text", "accepted": "truth", "notes": "text",
}  # fmt: skip
TAG = "tags."
#: Most tokens that a row may state in one class; more is a slip of a program.
MOST_TOKENS = 10**15
