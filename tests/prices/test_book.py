"""The book: which record is in force, what is not known, what the user's own price does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import NoPrice, UnknownName
from unitcost.facts.offers import Shape
from unitcost.facts.prices import PriceRecord, Source, flat, midnight
from unitcost.prices import PriceBook, Wanted, bundled, tables
from unitcost.prices.history import changes, in_force

SOURCE = Source(key="list", licence="MIT")
OWN = Source(key="ours", licence="own")


def record(day: str, price: str, **other: object) -> PriceRecord:
    base = PriceRecord(
        kind="instance", provider="p", region="r-1", sku="m", unit="machine-hour", currency="USD",
        tiers=flat(Decimal(price)), observed=day, effective_from=midnight(date.fromisoformat(day)), source=SOURCE,
    )  # fmt: skip
    return replace(base, **other)  # type: ignore[arg-type]


def book(*records: PriceRecord, own: tuple[PriceRecord, ...] = ()) -> PriceBook:
    shape = Shape(provider="p", instance_type="m", accelerator="H100-80GB", accelerator_count=Decimal(8))
    return PriceBook([tables.record_row(r) for r in records], [shape], {"list": SOURCE}, own)


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def test_the_beginning_is_inclusive_and_the_end_is_not() -> None:
    history = [record("2026-01-01", "5"), record("2026-03-10", "4")]
    found = {day: in_force(history, at(day))[0].record.price for day in ("2026-03-09T23:59:59", "2026-03-10")}
    assert found == {"2026-03-09T23:59:59": 5, "2026-03-10": 4}
    assert in_force([record("2026-01-01", "5", effective_to=at("2026-02-01"))], at("2026-02-01")) == []


def test_a_price_read_again_is_a_newer_record_seen_later() -> None:
    history = [record("2026-01-01", "5"), record("2026-03-10", "5"), record("2026-05-01", "4")]
    [item] = in_force(history, at("2026-02-01"))
    assert (item.record.observed, item.last_seen) == ("2026-01-01", date(2026, 3, 10))
    assert item.next is not None
    assert item.next.price == 4


def test_before_the_first_price_there_is_none() -> None:
    with pytest.raises(NoPrice, match="no price for 2025-12-31; the first is from 2026-01-01"):
        book(record("2026-01-01", "5")).price("m", region="r-1", at=at("2025-12-31"))


def test_unknown_names_are_answered_with_near_ones() -> None:
    known = book(record("2026-01-01", "5"))
    when = at("2026-06-01")
    with pytest.raises(UnknownName, match="did you mean `r-1`"):
        known.price("m", region="r-2", at=when)
    with pytest.raises(UnknownName, match="in the price book `x`"):
        known.price("x", region="r-1", at=when)
    with pytest.raises(UnknownName, match="provider `q`"):
        known.price("m", region="r-1", provider="q", at=when)
    with pytest.raises(NoPrice, match="no Dynamic price"):
        known.price("m", region="r-1", category="Dynamic", at=when)


def test_a_name_that_several_sell_needs_the_provider() -> None:
    both = book(record("2026-01-01", "5"), record("2026-01-01", "6", provider="q"))
    with pytest.raises(NoPrice, match="p, q sell it"):
        both.price("m", region="r-1", at=at("2026-06-01"))
    assert both.price("m", region="r-1", provider="q", at=at("2026-06-01")).record.price == 6


def test_the_users_own_price_wins_while_it_is_in_force() -> None:
    own = record("2026-02-01", "3", source=OWN, dating="stated", effective_to=at("2026-03-01"))
    mixed = book(record("2026-01-01", "5"), record("2026-02-10", "4"), own=(own,))
    prices = {
        d: mixed.price("m", region="r-1", at=at(d)).record.price for d in ("2026-01-15", "2026-02-15", "2026-03-15")
    }
    assert prices == {"2026-01-15": 5, "2026-02-15": 3, "2026-03-15": 4}


def test_a_price_without_region_holds_everywhere() -> None:
    assert book(record("2026-01-01", "5", region="")).price("m", region="any", at=at("2026-06-01")).record.price == 5


def test_a_zone_does_not_stand_for_its_region() -> None:
    zones = book(record("2026-01-01", "9", zone="a"), record("2026-01-01", "5"))
    assert zones.price("m", region="r-1", at=at("2026-06-01")).record.price == 5


def test_the_users_own_price_wins_by_another_unit_and_everywhere() -> None:
    own = record("2026-02-01", "1", source=OWN, region="", provider="", unit="accelerator-hour")
    mixed = book(record("2026-01-01", "9"), record("2026-01-01", "8", region="r-2")).with_own([own], [])
    for region in ("r-1", "r-2"):
        assert mixed.price("m", region=region, at=at("2026-03-01")).record.source == OWN
    offers = mixed.offers(frozenset({"H100-80GB"}), [], at("2026-03-01"))
    assert [(o.region, o.on_demand and o.on_demand.source) for o in offers] == [("r-1", OWN), ("r-2", OWN)]
    before = mixed.offers(frozenset({"H100-80GB"}), ["r-2"], at("2026-01-15"))
    assert [o.on_demand and o.on_demand.price for o in before] == [8]


def test_a_machine_priced_everywhere_and_nowhere_else_is_offered_once() -> None:
    own = record("2026-02-01", "1", source=OWN, region="")
    [offer] = book(own=(own,)).offers(frozenset({"H100-80GB"}), [], at("2026-03-01"))
    assert offer.region == "any"


def test_globs_ignore_case() -> None:
    known = book(record("2026-01-01", "5"), record("2026-01-01", "6", region="eu-1"))
    assert [r.region for r in known.records(Wanted(region="R-*"))] == ["r-1"]
    assert len(known.records(Wanted(sku="M", provider="P"))) == 2


def test_changes_between_two_days() -> None:
    history = [
        record("2026-01-01", "5"), record("2026-03-10", "4"), record("2026-01-01", "7", sku="same"),
        record("2026-02-01", "7", sku="same"), record("2026-03-01", "2", sku="new"),
    ]  # fmt: skip
    found = changes(history, at("2026-02-15"), at("2026-04-01"))
    assert [(c.before and c.before.price, c.after and c.after.price) for c in found] == [(5, 4), (None, 2)]


rows = st.lists(
    st.tuples(st.dates(date(2020, 1, 1), date(2030, 1, 1)), st.integers(1, 5)), min_size=1, unique_by=lambda r: r[0]
)


@given(rows, st.dates(date(2019, 1, 1), date(2031, 1, 1)))
def test_the_record_in_force_is_the_latest_that_began(history: list[tuple[date, int]], day: date) -> None:
    records = [record(d.isoformat(), str(p)) for d, p in history]
    found = in_force(records, midnight(day))
    begun = [d for d, _ in history if d <= day]
    assert [item.record.observed for item in found] == ([max(begun).isoformat()] if begun else [])


@given(rows)
def test_records_survive_the_table(history: list[tuple[date, int]]) -> None:
    records = [record(d.isoformat(), str(p)) for d, p in history]
    text = tables.written([tables.record_row(r) for r in records], tables.RECORD_COLUMNS)
    assert [tables.record(row, {"list": SOURCE}) for row in tables.rows(text)] == records


def test_offers_gather_the_categories_of_a_machine() -> None:
    known = book(record("2026-01-01", "9"), record("2026-01-01", "3", category="Dynamic"))
    [offer] = known.offers(frozenset({"H100-80GB"}), ["r-*"], at("2026-06-01"))
    assert offer.on_demand is not None
    assert offer.spot is not None
    assert (offer.on_demand.price, offer.spot.price, offer.region) == (9, 3, "r-1")
    assert known.offers(frozenset({"H100-80GB"}), ["eu-*"], at("2026-06-01")) == []
    assert known.offers(frozenset({"T4"}), [], at("2026-06-01")) == []


def test_each_shipped_record_can_be_read_and_has_its_own_id() -> None:
    records = bundled().records(Wanted())
    assert len(records) > 5000
    assert len({r.id for r in records}) == len(records)
    assert {r.source.licence for r in records} <= {"Apache-2.0", "MIT", "MPL-2.0"}
    by_id = {r.id for r in records}
    assert all(set(r.inputs) <= by_id for r in records)
    assert all(bool(r.inputs) or not r.derived_from.startswith(("median", "on-demand")) for r in records)


def test_no_shipped_spot_price_passes_on_demand() -> None:
    groups: dict[tuple[str, ...], dict[str, Decimal]] = {}
    for item in bundled().in_force(Wanted(kind="instance"), datetime(2026, 11, 30, tzinfo=UTC)):
        r = item.record
        groups.setdefault((r.provider, r.region, r.zone, r.sku), {})[r.category] = r.price
    both = [prices for prices in groups.values() if {"Standard", "Dynamic"} <= prices.keys()]
    assert len(both) > 1000
    assert all(prices["Dynamic"] < prices["Standard"] for prices in both)
