"""Time zones as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from unitcost.errors import BadSetting
from unitcost.facts.zones import zone_of


@pytest.mark.parametrize(("name", "minutes"), [("UTC", 0), ("-05:00", -300), ("+05:45", 345), ("Europe/Berlin", 60)])
def test_a_zone_has_its_offset(name: str, minutes: int) -> None:
    assert zone_of(name).utcoffset(datetime(2026, 1, 15)) == timedelta(minutes=minutes)


@pytest.mark.parametrize("name", ["", "Mars/Phobos", "-5", "+15:00", "05:00", "../../etc/passwd", "Europe", "\0"])
def test_anything_else_is_none(name: str) -> None:
    with pytest.raises(BadSetting, match="there is no time zone"):
        zone_of(name, where="--timezone")
