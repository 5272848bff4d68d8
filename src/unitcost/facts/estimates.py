"""A guess with its range: what planners answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from unitcost.errors import UnitcostError

#: What an estimate stands on: rows somebody measured, a formula, a stated assumption, or a quoted price.
EstimateBasis = Literal["measured", "modelled", "assumed", "quoted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An expected value between a low and a high one.

    Parameters
    ----------
    value, low, high
        In one unit, which the name of the field that holds the estimate says; ``low <= value <= high``.
    basis
        The weakest thing that the estimate stands on.
    because
        The rows or the formula it comes from, in words.

    Raises
    ------
    UnitcostError
        When the three are not finite or not in order.
    """

    value: float
    low: float
    high: float
    basis: EstimateBasis
    because: str = ""

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.low, self.value, self.high))) or not self.low <= self.value <= self.high:
            raise UnitcostError(
                f"an estimate of {self.value} cannot lie between {self.low} and {self.high}",
                mend="look at the inputs that it was made from: one of them is not a usual number",
            )

    def times(self, factor: float) -> Estimate:
        """The estimate in another unit, or for another quantity: each value times a factor that is not negative."""
        return Estimate(
            value=self.value * factor, low=self.low * factor, high=self.high * factor, basis=self.basis,
            because=self.because,
        )  # fmt: skip


def exactly(value: float, basis: EstimateBasis, because: str = "") -> Estimate:
    """Estimate without a range: a quoted price, a value that the user gave."""
    return Estimate(value=value, low=value, high=value, basis=basis, because=because)
