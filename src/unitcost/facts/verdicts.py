"""Whether one option is worse than another by more than a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: `undecided`: the data allow both answers.
Outcome = Literal["not worse", "worse", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Answer of a paired comparison with a reference.

    Parameters
    ----------
    loss
        Quality of the reference less that of the option, on the same items; positive = the option is worse.
    low, high
        One-sided confidence bounds of the loss, each at the level of the test.
    margin
        Loss that is allowed.
    p_not_worse
        Probability of data like these, or better, if the true loss were the margin.
    items
        Items that both have answered.
    spread
        Variance of the difference on one item; for right and wrong answers the share on which the two disagree.
    needs_more
        Further items that a decision is likely to need; 0 unless undecided.
    method
        How the bounds were made, in words.
    """

    outcome: Outcome
    loss: float
    low: float
    high: float
    margin: float
    p_not_worse: float
    items: int
    spread: float
    needs_more: int
    method: str

    def in_words(self) -> str:
        """The answer as a sentence without its full stop."""
        said = f"loss {self.loss:+.4f} (at most {self.high:+.4f}) against a margin of {self.margin:.4f}, {self.items:,} items"
        if self.outcome == "undecided":
            needs = f", needs {self.needs_more:,} more items" if self.needs_more else ", not chosen to be confirmed"
            return f"undecided{needs}: {said}"
        return f"{self.outcome}: {said}"
