"""Price records: what they refuse, how they are named, when they are stale."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from unitcost.errors import BadPrice
from unitcost.facts.prices import InForce, PriceRecord, Source, Tier, first_day, flat, midnight

RECORD = PriceRecord(
    kind="instance", provider="aws", region="us-east-1", sku="p5.48xlarge", unit="machine-hour", currency="USD",
    tiers=flat(Decimal("55.04")), observed="2026-07-20", effective_from=midnight(date(2026, 7, 20)),
    source=Source(key="feed", revision="1d92708", licence="MIT"),
)  # fmt: skip


def tiers(*overs: int) -> tuple[Tier, ...]:
    return tuple(Tier(over=Decimal(over), price=Decimal(1)) for over in overs)


@pytest.mark.parametrize("wrong", [(), tiers(1), tiers(0, 0), tiers(0, 2, 1)])
def test_tiers_begin_at_zero_and_ascend(wrong: tuple[Tier, ...]) -> None:
    with pytest.raises(BadPrice, match="ascend"):
        replace(RECORD, tiers=wrong)


@pytest.mark.parametrize("price", ["-1", "NaN", "Infinity"])
def test_a_price_is_a_number_and_not_negative(price: str) -> None:
    with pytest.raises(BadPrice, match="not negative"):
        replace(RECORD, tiers=flat(Decimal(price)))


def test_a_record_ends_after_it_begins_and_knows_its_zone() -> None:
    with pytest.raises(BadPrice, match="before it begins"):
        replace(RECORD, effective_to=RECORD.effective_from)
    with pytest.raises(BadPrice, match="no time zone"):
        replace(RECORD, effective_from=datetime(2026, 7, 20))


@pytest.mark.parametrize(
    ("text", "day"), [("2026", date(2026, 1, 1)), ("2025-12", date(2025, 12, 1)), ("2026-07-20", date(2026, 7, 20))]
)
def test_a_date_may_be_partial(text: str, day: date) -> None:
    assert first_day(text) == day


@pytest.mark.parametrize("text", ["", "26", "2026-13", "2026-7-1", "2026-02-30", "2026-07-20T00:00"])
def test_other_dates_are_refused(text: str) -> None:
    with pytest.raises(BadPrice, match="is no date"):
        first_day(text)


def test_an_id_is_made_from_the_content() -> None:
    assert RECORD.id == replace(RECORD).id
    assert RECORD.id == replace(RECORD, remarks=("said later",)).id
    assert RECORD.id == replace(RECORD, tiers=flat(Decimal("55.0400"))).id
    read_again = replace(RECORD, observed="2026-07-21", source=replace(RECORD.source, revision="2"))
    assert RECORD.id == read_again.id
    others = (
        {"tiers": flat(Decimal("55.05"))}, {"region": "us-east-2"}, {"zone": "a"}, {"category": "Dynamic"},
        {"hours": "01:00-04:00"}, {"effective_from": None}, {"unit": "accelerator-hour"}, {"currency": "EUR"},
        {"source": Source(key="other")}, {"mode": "whole-request"}, {"variant": "batch"},
    )  # fmt: skip
    ids = {RECORD.id, *(replace(RECORD, **other).id for other in others)}  # type: ignore[arg-type]
    assert len(ids) == len(others) + 1


def test_the_id_of_a_known_record_stays() -> None:
    assert RECORD.id == "price-e6d3d339c403"


@pytest.mark.parametrize(
    ("other", "limit"),
    [
        ({}, 90),
        ({"category": "Dynamic"}, 7),
        ({"kind": "model"}, 30),
        ({"kind": "transfer"}, 180),
        ({"source": Source(key="ours", licence="own")}, 365),
    ],
)
def test_a_price_is_stale_after_its_days(other: dict[str, object], limit: int) -> None:
    item = InForce(record=replace(RECORD, **other), last_seen=date(2026, 1, 1))  # type: ignore[arg-type]
    last_day = datetime.combine(date(2026, 1, 1), datetime.min.time(), UTC)
    from datetime import timedelta

    assert item.notes(last_day + timedelta(days=limit)) == ()
    [note] = item.notes(last_day + timedelta(days=limit + 1))
    assert f"stale after {limit}" in note
    assert item.age_days(last_day - timedelta(days=5)) == 0


def test_a_later_price_makes_the_days_between_doubtful() -> None:
    later = replace(RECORD, observed="2026-09-01", tiers=flat(Decimal(40)))
    item = InForce(record=RECORD, last_seen=date(2026, 7, 20), next=later)
    assert item.notes(datetime(2026, 7, 20, 23, tzinfo=UTC)) == ()
    [note] = item.notes(datetime(2026, 8, 1, tzinfo=UTC))
    assert "40 USD was read on 2026-09-01" in note
    stated = InForce(record=RECORD, last_seen=date(2026, 7, 20), next=replace(later, dating="stated"))
    assert stated.notes(datetime(2026, 8, 1, tzinfo=UTC)) == ()
