"""Calls of models as requests over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What a row of a log of calls is as traffic.
ArrivalKind = Literal["played", "flagged", "left_out", "refused"]


@dataclass(frozen=True, slots=True)
class CallArrival:
    """One row of a log of calls.

    Parameters
    ----------
    kind, reason
        Whether it is one of the traffic, and why not or what is to be known of it.
    at_us
        When the call began, since 1970 UTC; None: not told. [microseconds]
    input_tokens, output_tokens
        All of the prompt, what a cache had included, and all of the answer; None: not known.
    tenant
        Key or caller.
    """

    file: str
    row: int
    kind: ArrivalKind
    reason: str
    at_us: int | None
    input_tokens: int | None
    output_tokens: int | None
    model: str
    tenant: str
