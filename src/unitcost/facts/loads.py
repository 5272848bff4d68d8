"""What came of requests to an endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: `cut`: the answer began and was not finished. `refused`: the server answered with an error.
Fate = Literal["ok", "refused", "timeout", "cut", "failed", "unsent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One request; moments are seconds since the run began.

    Parameters
    ----------
    due_s, sent_s, ended_s
        When it should have been sent, was sent, and was over. [s]
    first_s
        When the first token came; None where the answer is not streamed. [s]
    tokens
        Tokens of the answer; 0 where it has none.
    last_s
        When the last token came. [s]
    why
        What went wrong; empty when nothing did.
    """

    due_s: float
    sent_s: float
    ended_s: float
    fate: Fate = "ok"
    first_s: float | None = None
    last_s: float | None = None
    tokens: int = 0
    why: str = ""

    @property
    def latency_s(self) -> float:
        """Time from when it was due until it was over. [s]."""
        return self.ended_s - self.due_s

    @property
    def delay_s(self) -> float:
        """How late the generator itself was. [s]."""
        return self.sent_s - self.due_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a request brought: moments of the clock of the run, tokens and the fate."""

    fate: Fate = "ok"
    first_s: float | None = None
    last_s: float | None = None
    tokens: int = 0
    why: str = ""
