"""Which price of the settings is in force."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from unitcost.attribution.work_prices import price_days, price_in_force
from unitcost.facts.rules import WorkPrice

PRICES = (
    WorkPrice(accelerator="*", usd_per_hour=Decimal(1)),
    WorkPrice(accelerator="h100*", usd_per_hour=Decimal(3)),
    WorkPrice(accelerator="h100", usd_per_hour=Decimal(2)),
    WorkPrice(accelerator="h100", usd_per_hour=Decimal("0.8"), pricing_category="spot"),
    WorkPrice(accelerator="h100", usd_per_hour=Decimal("0.7"), pricing_category="spot", since=date(2031, 6, 1)),
)


@pytest.mark.parametrize(
    ("accelerator", "category", "day", "usd"),
    [
        ("a100", "", date(2031, 5, 1), "1"),
        ("H100", "", date(2031, 5, 1), "2"),
        ("h100", "on-demand", date(2031, 7, 1), "2"),
        ("h100", "spot", date(2031, 5, 31), "0.8"),
        ("h100", "spot", date(2031, 6, 1), "0.7"),
    ],
)
def test_the_most_exact_and_newest_price_counts(accelerator: str, category: str, day: date, usd: str) -> None:
    found = price_in_force(PRICES, accelerator, category, day)
    assert found is not None
    assert found.usd_per_hour == Decimal(usd)


def test_no_price_is_no_guess() -> None:
    assert price_in_force(PRICES[2:], "a100", "", date(2031, 5, 1)) is None
    assert price_days(PRICES) == [date(2031, 6, 1)]
