"""Fast and careful path end in the same ledger, and no row or cent is lost on either."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unitcost import money, readers
from unitcost.facts.source import LoadRecord, ReadOptions, Reject
from unitcost.ledger import Ledger
from unitcost.readers import core

NOW = datetime(2026, 10, 1, tzinfo=UTC)
HEADER = (
    "BilledCost", "EffectiveCost", "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart",
    "ChargePeriodEnd", "ServiceName", "Tags",
)  # fmt: skip


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a file, load it into a ledger of its own; `fast` tells which path is taken."""
    count = iter(range(10_000))

    def loading(data: bytes, *, fast: bool, **options: object) -> tuple[LoadRecord, list[tuple[str, Reject]]]:
        monkeypatch.setattr(core, "FAST_FROM_BYTES", 1)
        folder = tmp_path / str(next(count))
        folder.mkdir()
        (folder / "bill.csv").write_bytes(data)
        said = ReadOptions(**options)
        plan = readers.read(folder / "bill.csv", said, workdir=folder, careful=not fast)
        assert plan.fast == fast
        with Ledger.open(":memory:") as ledger:
            arguments = {"file": "bill.csv", "sha256": "0", "source": "bill.csv", "options": said, "now": NOW}
            return ledger.load(plan, **arguments), ledger.rejects()

    return loading


def text_of(rows: list[tuple[str, ...]], *, end: str = "\n") -> bytes:
    import io

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(HEADER)
    writer.writerows(rows)
    return text.getvalue().encode()


AMOUNTS = st.decimals(-(10**9), 10**9, places=6).map(str) | st.sampled_from(
    ["", "NULL", "0", "-0.00", "1E-7", "12.5e3", "NaN", "Infinity", "1,5", "$5", "x", "0.1234567890123456789", " 3 "]
)
ROWS = st.tuples(
    AMOUNTS,
    AMOUNTS,
    st.sampled_from(["USD", "EUR"]),
    st.just("2026-09-01T00:00:00Z"),
    st.just("2026-10-01T00:00:00Z"),
    st.sampled_from(["2026-09-01T00:00:00Z", "2026-09-02 00:00:00", "2026-09-03", "2026-13-01", ""]),
    st.sampled_from(["2026-09-04T00:00:00Z", "2026-09-05"]),
    st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6),
    st.sampled_from(
        ["", "{}", '{"team": "risk"}', '{"a": true, "b": null}', "not json", '{"x": "\\"}', '{"k": "ü;,"}']
    ),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, min_size=1, max_size=8))
def test_fast_and_careful_path_make_the_same_ledger(load, rows):
    usual = ("1", "1", "USD", *["2026-09-01", "2026-10-01"] * 2, "a", "")  # keeps the currency and the dates settled
    data = text_of([usual, *rows])
    fast, fast_rejects = load(data, fast=True)
    careful, careful_rejects = load(data, fast=False)
    for part in ("rows_read", "rows_accepted", "rows_rejected", "totals", "residues"):
        assert getattr(fast, part) == getattr(careful, part), part
    assert fast.rows_read == len(rows) + 1 == fast.rows_accepted + fast.rows_rejected
    assert [(r.row, r.column, r.value, r.reason) for _, r in fast_rejects] == [
        (r.row, r.column, r.value, r.reason) for _, r in careful_rejects
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(amounts=st.lists(st.decimals(-(10**7), 10**7, places=15), min_size=1, max_size=20), fast=st.booleans())
def test_the_ledger_and_the_residue_are_the_file(load, amounts, fast):
    period = ("2026-09-01", "2026-10-01") * 2
    data = text_of([(f"{amount:f}", "0", "USD", *period, "a", "") for amount in amounts])
    record, _ = load(data, fast=fast)
    assert record.rows_rejected == 0
    kept = Decimal(record.totals["USD"]["billed_cost"])
    residue = Decimal(record.residues.get("USD", {}).get("billed_cost", "0"))
    assert money.add([kept, residue]) == money.add(amounts)


def test_a_bare_carriage_return_in_a_cell_does_not_split_its_row(load):
    row = ("1", "1", "USD", *["2026-09-01", "2026-10-01"] * 2, "a\rb", "")
    record, _ = load(text_of([row, row]), fast=False)
    assert (record.rows_accepted, record.totals["USD"]["billed_cost"]) == (2, "2")


def test_what_the_reader_sets_aside_is_counted(load):
    row = ("1", "1", "USD", *["2026-09-01", "2026-10-01"] * 2, "a", "")
    record, rejects = load(text_of([row]) + b"1,short\n" + text_of([row]), fast=False)
    assert (record.rows_read, record.rows_accepted, record.rows_rejected) == (4, 2, 2)
    assert [reject.row for _, reject in rejects] == [2, 3]


def test_a_file_without_rows_loads(load):
    record, _ = load(text_of([]), fast=False, currency="USD")
    assert (record.rows_read, record.rows_accepted, record.rows_rejected) == (0, 0, 0)
