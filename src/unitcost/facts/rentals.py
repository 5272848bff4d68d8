"""Accelerators that a plan may rent, at a price by the hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from unitcost import money
from unitcost.errors import BadSetting

PricingCategory = Literal["on-demand", "spot", "reserved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rental:
    """A machine with accelerators at a price by the hour.

    Parameters
    ----------
    accelerator
        Name as people say it: `H100`, `A100-80GB`.
    machine
        The vendor's name of the machine; empty where the vendor rents single accelerators.
    count
        Accelerators in the machine.
    usd_per_hour
        Price of the whole machine. [USD / hour]
    source, as_of
        The page the price was read from, and when it was true.
    """

    accelerator: str
    machine: str
    count: int
    usd_per_hour: Decimal
    category: PricingCategory
    region: str
    source: str
    as_of: date

    def __post_init__(self) -> None:
        if self.count < 1 or self.usd_per_hour < 0:
            raise BadSetting(
                f"a rental of {self.count} x {self.accelerator} at {self.usd_per_hour} USD/h cannot be",
                where=self.source, mend="give at least one accelerator and a price that is not negative",
            )  # fmt: skip

    @property
    def usd_per_accelerator_hour(self) -> Decimal:
        """Price of one accelerator for an hour. [USD / hour]."""
        return money.divide(self.usd_per_hour, Decimal(self.count))
