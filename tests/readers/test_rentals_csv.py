"""Own tables of prices by the hour."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from unitcost.errors import BadFile
from unitcost.readers import rentals_csv


def test_a_price_in_another_currency_is_not_taken_for_dollars(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("accelerator,count,usd_per_hour,currency\nL40S,1,1,USD\nH100-80GB,1,2,EUR\n")
    with pytest.raises(BadFile, match="the price is in EUR"):
        rentals_csv.read(path, today=date(2026, 7, 1))
    path.write_text("accelerator,count,usd_per_hour,currency\nL40S,1,1,usd\nH100-80GB,1,2,\n")
    assert [str(one.usd_per_hour) for one in rentals_csv.read(path, today=date(2026, 7, 1))] == ["1", "2"]
