"""Lines above the header are left out where the header is known beyond doubt, and rows keep their place in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text
from unitcost.facts.source import ReadOptions
from unitcost.readers import core, find

BILL = text([row(0, cost="4"), row(1, cost="ten"), row(2, cost="6")])
ABOVE = {
    "a title and a blank line": ("Report generated 2031-07-01\n\n", 2, "from 'Report generated 2031-07-01' on, are"),
    "cells": ('"Report, of June",,,\nAccount:,main\n\n', 3, """from '"Report, of June",,,' on, are"""),
    "the separator": ("sep=,\n", 1, "the line above it, 'sep=,', is"),
    "a byte order mark": ("\ufeffReport\n", 1, "the line above it, 'Report', is"),
    "other line ends": ("Report\x0b\u2028of June\r\n\r\n", 2, "from 'Report"),
}


@pytest.mark.parametrize("above", ABOVE)
def test_lines_above_the_header_are_left_out(desk: Desk, above: str) -> None:
    lines, count, shown = ABOVE[above]
    desk.write("bill.csv", "").write_bytes((lines + BILL).encode())
    (loaded,) = desk.load(str(desk.folder / "bill.csv"), code=3)["files"]
    assert (loaded["rows_read"], loaded["rows_accepted"]) == (3, 2)
    (flag,) = [flag for flag in loaded["flags"] if "header" in flag]
    assert flag.startswith(f"The header stands in line {count + 1}; ")
    assert shown in flag
    (reject,) = json.loads(desk.run("check", "--json").stdout)["rejects"]
    assert reject["row"] == count + 2
    assert desk.report()["total"] == {"USD": "10"}


def test_the_header_alone_is_left_as_it_is(desk: Desk) -> None:
    (loaded,) = desk.load(str(desk.write("bill.csv", BILL)), code=3)["files"]
    assert not [flag for flag in loaded["flags"] if "header" in flag]


def test_another_delimiter_below(desk: Desk) -> None:
    header = "service;day;unit;quantity\nfraud;2031-06-01;predictions;1000\n"
    (loaded,) = desk.load(str(desk.write("outputs.csv", f"Report, of June, 2031\n{header}")))["files"]
    assert loaded["reader"] == "outputs-csv"


def test_columns_that_the_user_maps_are_a_header(desk: Desk) -> None:
    desk.write("own.csv", "Hours of June\n\nWhat,Amount,Day\ngpu,7,2031-06-03\n")
    columns = 'service_name = "What"\nbilled_cost = "Amount"\ncharge_period_start = "Day"\ncharge_period_end = "Day"\n'
    desk.write("unitcost.toml", f'[[load]]\npath = "own.csv"\ncurrency = "USD"\n[load.columns]\n{columns}')
    desk.load()
    assert desk.report()["services"] == {"USD": {"gpu": "7"}}


def test_what_only_looks_like_a_header_is_pointed_at(desk: Desk) -> None:
    desk.write("bill.csv", "Report of June\n\nBilledCost,ServiceName,Remark\n1,Compute,x\n")
    (failure,) = desk.load(str(desk.folder / "bill.csv"), code=1)["failures"]
    assert failure["what"] == "no reader knows the first line as a header; line 3 looks like one"
    assert failure["mend"] == "delete the lines above it"


def test_a_large_file_with_a_preamble_is_read_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "FAST_FROM_BYTES", 0)
    for name, above, fast in (("plain", "", True), ("titled", "Report\n", False)):
        path = tmp_path / f"{name}.csv"
        path.write_text(above + text([row(0)]), encoding="utf-8")
        assert core.read(path, ReadOptions(), workdir=tmp_path).fast is fast
        assert find(path, ReadOptions())[0][0] == "focus"
