"""Laws of the ledger: any bill closes, and neither order, repetition nor division of files changes what it holds."""

from __future__ import annotations

import csv
import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost import money, readers
from unitcost.attribution import decide, fingerprint
from unitcost.attribution.periods import place
from unitcost.facts.rules import OwnerRules, Settings
from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.facts.spend import Selection
from unitcost.ledger import Ledger

NOW = datetime(2031, 7, 1, tzinfo=UTC)
HEADER = (
    "BilledCost", "EffectiveCost", "BillingCurrency", "ResourceId", "ServiceName", "team", "ChargePeriodStart",
    "ChargePeriodEnd", "BillingPeriodStart", "BillingPeriodEnd",
)  # fmt: skip
AMOUNTS = st.decimals(min_value=-(10**7), max_value=10**7, allow_nan=False, allow_infinity=False, places=14)
NAMES = st.text(alphabet="abAB-_ '\"<>,;ä\u202e\n", max_size=6)
HOURS = st.integers(0, 24 * 89)


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[str, ...]]:
    count = draw(st.integers(1, 12))
    return [draw(row(number)) for number in range(count)]


@st.composite
def row(draw: st.DrawFn, number: int) -> tuple[str, ...]:
    start = draw(HOURS)
    end = start + draw(st.integers(0, 24 * 40))
    return (
        str(draw(AMOUNTS)), str(draw(AMOUNTS)), draw(st.sampled_from(["USD", "EUR"])), f"r{number}{draw(NAMES)}",
        "Compute", draw(NAMES), moment(start), moment(end), "2031-06-01T00:00:00Z", "2031-07-01T00:00:00Z",
    )  # fmt: skip


def moment(hours: int) -> str:
    day, hour = divmod(hours, 24)
    return f"2031-{4 + day // 30:02d}-{1 + day % 30:02d}T{hour:02d}:00:00Z"


def load(ledger: Ledger, folder: Path, name: str, body: list[tuple[str, ...]], *, part: bool = False) -> LoadRecord:
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([HEADER, *body])
    said = ReadOptions(part=part)
    plan = readers.read(path, said, workdir=folder)
    return ledger.load(plan, file=name, sha256=str(hash((name, *body))), source="s", options=said, now=NOW)


def content(ledger: Ledger) -> list[tuple[object, ...]]:
    usd, eur = ledger.rows(Selection(cost="billed"), (), [((), "USD"), ((), "EUR")])
    return sorted(
        (r.currency, str(r.cost), r.resource, r.charge_period_start, r.charge_period_end) for r in [*usd, *eur]
    )


@settings(max_examples=15, deadline=None)
@given(rows())
def test_any_bill_closes(body: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as name, Ledger.open(Path(name) / "l.duckdb") as ledger:
        record = load(ledger, Path(name), "bill.csv", body)
        assert record.rows_read == record.rows_accepted + record.rows_rejected == len(body)
        assert not record.rows_rejected
        for unit, totals in record.totals.items():
            for place_in_row, column in ((0, "billed_cost"), (1, "effective_cost")):
                exact = money.add(Decimal(cells[place_in_row]) for cells in body if cells[2] == unit)
                residue = Decimal(record.residues.get(unit, {}).get(column, "0"))
                assert money.add([Decimal(totals[column]), residue]) == exact


@settings(max_examples=10, deadline=None)
@given(rows(), st.sampled_from(["UTC", "-05:00", "Asia/Kolkata", "America/New_York"]))
def test_any_owner_rules_and_any_months_close(body: list[tuple[str, ...]], zone: str) -> None:
    with tempfile.TemporaryDirectory() as name, Ledger.open(Path(name) / "l.duckdb") as ledger:
        load(ledger, Path(name), "bill.csv", body)
        rules = Settings(
            owners={"team": OwnerRules(kind="team", sources=("tags.team",), known=("a", "B"), inherit=("account",))}
        )
        ledger.write_attributions(fingerprint(rules), decide(ledger.facets(), rules))
        whole = money.add_by_currency((row.currency, row.amount) for row in ledger.spend(Selection(), ()))
        for dims in (
            ("team", "team_how", "line"),
            ("driver", "driver_rule"),
            ("team", "day"),
            ("month",),
            ("resource", "month"),
        ):
            placements = place(ledger.charge_periods(), "day" if "day" in dims else "month", zone)
            parts = ledger.spend(Selection(timezone=zone), dims, placements=placements)
            assert money.add_by_currency((row.currency, row.amount) for row in parts) == whole


@settings(max_examples=8, deadline=None)
@given(rows(), st.integers(0, 12), st.booleans())
def test_order_repetition_and_halves_change_nothing(body: list[tuple[str, ...]], cut: int, swap: bool) -> None:
    cut = min(cut, len(body))
    halves = [(f"{n}.csv", half) for n, half in enumerate((body[:cut], body[cut:])) if half]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Ledger.open(folder / "whole.duckdb") as ledger:
            load(ledger, folder, "bill.csv", body)
            assert load(ledger, folder, "bill.csv", body).outcome == "unchanged"
            whole = content(ledger)
        with Ledger.open(folder / "halves.duckdb") as ledger:
            for file, half in reversed(halves) if swap else halves:
                load(ledger, folder, file, half, part=True)
            assert content(ledger) == whole
