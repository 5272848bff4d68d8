"""Each charge keeps the number of its row, whether the engine counts while it reads or afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger_bills import load, row

from unitcost.facts.spend import Selection
from unitcost.ledger import Ledger, statement
from unitcost.ledger import load as loading


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("bad", [(), (1, 4)])
def test_a_charge_keeps_the_number_of_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: bool, bad: tuple[int, ...]
) -> None:
    for module in (loading, statement):
        monkeypatch.setattr(module, "counts_rows", lambda scan: counts)
    bill = [row("oops" if number in bad else "1", f"row {number}") for number in range(1, 7)]
    with Ledger.open(":memory:") as ledger:
        load(ledger, tmp_path / "a.csv", bill[:2])
        record = load(ledger, tmp_path / "b.csv", bill, part=True)
        (rows,) = ledger.rows(Selection(), (), [((), "USD")])
        charges = [charge for charge in rows if charge.file == "b.csv"]
        rejects = sorted(reject.row for file, reject in ledger.rejects() if file == "b.csv")
    assert record.rows_read == len(bill)
    assert {charge.row_number: charge.description for charge in charges} == {
        number: f"row {number}" for number in range(1, 7) if number not in bad
    }
    assert rejects == list(bad)
