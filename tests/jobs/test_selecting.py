"""A selection goes into a figure's id and comes out again."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadSetting
from unitcost.facts.days import next_month
from unitcost.facts.rules import Settings
from unitcost.facts.spend import Selection
from unitcost.jobs.selecting import parse_tag, select

MONTHS = st.dates(date(2001, 1, 1), date(2098, 1, 1)).map(lambda day: day.replace(day=1))


@given(
    st.one_of(st.none(), MONTHS),
    st.integers(1, 30),
    st.sampled_from(["billed", "effective", "list", "contracted"]),
    st.sampled_from(["billing", "charge"]),
    st.sampled_from(["UTC", "-05:00", "Europe/Berlin", "America/Argentina/Buenos_Aires"]),
    st.sampled_from(["", "EUR", "credits", "own units, new/old@x"]),
)
def test_a_tag_says_the_whole_selection(
    start: date | None, months: int, cost: str, place: str, zone: str, currency: str
) -> None:
    end = start
    for _ in range(months):
        end = next_month(end) if end else None
    selection = Selection(
        cost=cost, start=start, end=end, place=place, timezone=zone, currency=currency,  # type: ignore[arg-type]
    )  # fmt: skip
    assert parse_tag(selection.tag) == selection


def test_the_last_month_of_a_range_is_inside_and_named() -> None:
    selection = select(Settings(), since="2026-08", until="2026-10")
    assert (selection.start, selection.end) == (date(2026, 8, 1), date(2026, 11, 1))
    assert selection.tag == "2026-08..2026-10,effective"


@pytest.mark.parametrize(
    "said",
    [
        {"month": "2026-9"}, {"month": "2026-13"}, {"month": "２０２６-09"}, {"month": "9999-12"}, {"month": "0001-01"},
        {"until": "9999-12"}, {"month": "2026-09", "since": "2026-08"}, {"since": "2026-09", "until": "2026-08"},
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused(said: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        select(Settings(), **said)  # type: ignore[arg-type]
