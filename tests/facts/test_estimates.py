"""Estimates and rentals refuse what cannot be."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.estimates import Estimate, exactly
from unitcost.facts.rentals import Rental


def test_an_estimate_keeps_its_order_when_it_is_scaled() -> None:
    estimate = Estimate(value=2.0, low=1.0, high=5.0, basis="measured").times(3.0)
    assert (estimate.low, estimate.value, estimate.high, estimate.basis) == (3.0, 6.0, 15.0, "measured")
    assert exactly(4.0, "quoted").low == 4.0


@pytest.mark.parametrize("wrong", [(1.0, 2.0, 3.0), (float("nan"), 0.0, 1.0), (1.0, 0.0, float("inf"))])
def test_an_estimate_outside_its_range_is_refused(wrong) -> None:
    value, low, high = wrong
    with pytest.raises(UnitcostError):
        Estimate(value=value, low=low, high=high, basis="modelled")


def rental(**more) -> Rental:
    about = {
        "accelerator": "H100", "machine": "p5.48xlarge", "count": 8, "usd_per_hour": Decimal("55.04"),
        "category": "on-demand", "region": "us-east-1", "source": "a page", "as_of": date(2026, 9, 1),
    }  # fmt: skip
    return Rental(**{**about, **more})


def test_the_price_of_one_accelerator_is_the_machine_by_its_count() -> None:
    assert rental().usd_per_accelerator_hour == Decimal("6.88")


@pytest.mark.parametrize("wrong", [{"count": 0}, {"usd_per_hour": Decimal(-1)}])
def test_a_rental_that_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(BadSetting):
        rental(**wrong)
