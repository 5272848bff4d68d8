"""Files taken apart: packing, encoding, delimiters, widths, broken rows. The same rows come out of each dress."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unitcost import readers
from unitcost.errors import BadBill, BadFile, BadSetting, NeedsAnswer, UnknownName
from unitcost.facts.source import ReadOptions

IN_FIXTURE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(
    "dress",
    [
        lambda data: data,
        lambda data: codecs.BOM_UTF8 + data,
        lambda data: codecs.BOM_UTF16_LE + data.decode().encode("utf-16-le"),
        lambda data: codecs.BOM_UTF16_BE + data.decode().encode("utf-16-be"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.rstrip(b"\n"),
        lambda data: b"\n\n" + data,
        lambda data: data.replace(b"\n", b"\n\n"),
        gzip.compress,
        bz2.compress,
        lzma.compress,
        lambda data: gzip.compress(codecs.BOM_UTF8 + data),
    ],
    ids=[
        "plain",
        "bom",
        "utf16le",
        "utf16be",
        "crlf",
        "no last line end",
        "blank first",
        "blank lines",
        "gzip",
        "bzip2",
        "xz",
        "gzip and bom",
    ],
)
def test_the_dress_of_a_file_does_not_change_its_rows(read, bill, dress):
    plain = read(bill("1.25", "-3", "0.10"))
    dressed = read(dress(bill("1.25", "-3", "0.10").encode()))
    assert dressed.rows == plain.rows
    assert dressed.numbers == [1, 2, 3]
    assert dressed.plan.scan.columns == plain.plan.scan.columns
    assert dressed.plan.mapping == plain.plan.mapping
    assert not dressed.plan.rejects


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_each_delimiter_is_found(read, bill, delimiter):
    taken = read(bill("1.25", "2").replace(",", delimiter))
    assert taken.column("BilledCost") == ["1.25", "2"]


def test_the_name_of_a_file_decides_nothing(read, bill):
    packed = gzip.compress(bill("7").encode())
    assert read(packed, name="bill.csv").rows == read(packed, name="bill.parquet").rows == read(bill("7")).rows
    assert read(bill("7"), name="bill.csv.gz").column("BilledCost") == ["7"]


def test_a_delimiter_that_is_named_is_used(read):
    text = "BilledCost:BillingCurrency:ServiceName\n1:USD:a,b\n"
    assert read(text, delimiter=":", period="2026-09").column("ServiceName") == ["a,b"]
    with pytest.raises(BadSetting, match="delimiter"):
        read(text, delimiter="::")


def test_latin_1_is_asked_for_and_then_read(read, bill):
    data = bill(lines=("1,USD,2026-09-01,2026-10-01,2026-09-01,2026-09-02,Dépôt",)).encode("latin-1")
    with pytest.raises((BadFile, NeedsAnswer), match=r"0xe9 at offset \d+") as caught:
        read(data)
    assert "--encoding" in caught.value.mend
    assert ":2" in caught.value.where
    assert read(data, encoding="latin-1").column("ServiceName") == ["Dépôt"]
    with pytest.raises(UnknownName, match="there is no encoding `no-such-codec`"):
        read(data, encoding="no-such-codec")


def test_a_bad_byte_past_the_first_look_is_found_with_its_place(read, bill):
    good = bill(*["1"] * 3000).encode()
    with pytest.raises(BadFile, match=rf"0xff at offset {len(good)} ") as caught:
        read(good + b"\xff,USD\n")
    assert caught.value.where.endswith(":3002")


def test_one_short_row_is_set_aside_with_its_text(read, bill):
    taken = read(bill("1", "2", lines=("3,USD,short",)) + bill("4").split("\n", 1)[1])
    assert taken.column("BilledCost") == ["1", "2", "4"]
    assert taken.numbers == [1, 2, 4]
    (reject,) = taken.plan.rejects
    assert (reject.row, reject.raw) == (3, "3,USD,short")
    assert "3 cells" in reject.reason


def test_one_long_row_is_set_aside(read, bill):
    taken = read(bill("1", "2") + bill("3").splitlines()[1] + ",more\n")
    assert len(taken.rows) == 2
    assert [reject.row for reject in taken.plan.rejects] == [3]


def test_rows_that_all_lack_the_last_cell_are_read_with_no_value(read, bill):
    text = bill("1", "2", "3").replace(",storage", "")
    taken = read(text)
    assert taken.column("ServiceName") == ["", "", ""]
    assert not taken.plan.rejects
    assert "lacks the last cell" in taken.flags


def test_rows_short_by_unlike_numbers_of_cells_are_set_aside(read, bill):
    first, second = (
        line.rsplit(",", cut)[0] for line, cut in zip(bill("1", "2").splitlines()[1:], (1, 2), strict=True)
    )
    taken = read("\n".join([bill().strip(), first, second]) + "\n")
    assert taken.rows == []
    assert [reject.row for reject in taken.plan.rejects] == [1, 2]


def test_a_header_in_the_middle_is_set_aside(read, bill):
    taken = read(bill("1") + bill("2"))
    assert taken.column("BilledCost") == ["1", "2"]
    assert [(r.row, r.reason) for r in taken.plan.rejects] == [(2, "repeats the header")]


def test_blank_lines_are_no_rows(read, bill):
    taken = read(bill("1", lines=("", "  ", bill("2").splitlines()[1], "")))
    assert taken.numbers == [1, 2]


def test_a_quote_that_is_never_closed_loses_one_row_and_no_more(read, bill):
    lines = bill("1", "2", "3").splitlines()
    lines[2] = '"' + lines[2]
    taken = read("\n".join(lines) + "\n")
    assert taken.column("BilledCost") == ["1", "3"]
    assert [(r.row, r.raw) for r in taken.plan.rejects] == [(2, lines[2])]


def test_text_after_a_quote_loses_one_row(read, bill):
    taken = read(bill("1", lines=('"2"x,USD,,,,,', bill("3").splitlines()[1])))
    assert taken.column("BilledCost") == ["1", "3"]
    assert [reject.row for reject in taken.plan.rejects] == [2]


def test_a_line_end_inside_quotes_is_part_of_the_cell(read, bill):
    taken = read(bill("1").replace("storage", '"sto\nrage"'))
    assert taken.column("ServiceName") == ["sto\nrage"]


def test_a_zero_byte_loses_one_row(read, bill):
    filler = bill(*["1"] * 800)
    taken = read((filler + "2\0,USD,,,,,\n" + bill("3").splitlines()[1] + "\n").encode())
    assert [reject.row for reject in taken.plan.rejects] == [801]
    assert "zero byte" in taken.plan.rejects[0].reason
    assert len(taken.rows) == 801


def test_a_line_past_the_limit_is_set_aside_without_being_held(read, bill, monkeypatch):
    monkeypatch.setattr("unitcost.readers.tables.ROW_LIMIT", 1000)
    taken = read(bill("1") + "9" * 5000 + "\n" + bill("2").splitlines()[1] + "\n")
    assert taken.column("BilledCost") == ["1", "2"]
    (reject,) = taken.plan.rejects
    assert reject.row == 2
    assert len(reject.raw) <= 1000


def test_names_that_differ_in_case_are_kept_by_position(read):
    taken = read("BilledCost,BillingCurrency,tags,Tags\n1,USD,{},\n", period="2026-09")
    assert taken.plan.scan.columns == ("BilledCost", "BillingCurrency", "tags", "Tags")


def test_a_name_twice_with_unlike_cells_is_refused(read):
    with pytest.raises(BadBill, match="BilledCost"):
        read("BilledCost,BillingCurrency,ServiceName,BilledCost\n1,USD,a,2\n", period="2026-09")


def test_a_header_and_no_rows_loads_nothing_and_says_so(read, bill):
    taken = read(bill(), currency="USD")
    assert taken.rows == []
    assert "no rows" in taken.flags


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b"\n \r\n\t", "blanks"),
        (b"\0" * 500, "zero bytes"),
        (bytes(range(256)) * 40, "binary"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "binary"),
        (b"PK\x03\x04whatever", "Excel"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"PAR1 and no more of it", "cut off"),
        (b"PAR1" + b"\x15\x04" * 40 + b"PAR1", "cut off or damaged"),
        (
            gzip.compress(
                b"BilledCost,BillingCurrency,BillingPeriodStart,BillingPeriodEnd\n"
                + b"1,USD,2026-09-01,2026-10-01\n" * 9000
            )[:-40],
            "damaged or ends early",
        ),
        (b"<html><body>Sign in</body></html>", "web page"),
        (b"just some words\nand more of them\n", "no table|not a table"),
        (b"[1, 2, 3]", "no objects"),
        (b"{", "no objects|not JSON"),
        (b"a,b,c\n1,2,3\n", "no reader knows"),
        (b"x" * 2_000_000, "longer than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_bill_is_refused_with_what_where_and_mend(read, data, what):
    with pytest.raises(BadFile, match=what) as caught:
        read(data, name="odd.csv", period="2026-09")
    assert "odd.csv" in caught.value.where
    assert caught.value.mend


def test_a_folder_or_nothing_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "absent.csv"):
        with pytest.raises(BadFile):
            readers.read(path, ReadOptions(), workdir=tmp_path)


CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@IN_FIXTURE
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=12), sign=st.sampled_from(",;|\t"))
def test_any_cell_comes_through_the_careful_path_as_it_was(read, rows, sign):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=sign, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["BilledCost", "BillingCurrency", "ServiceName", "x_note"])
    writer.writerows(["1", "USD", *row] for row in rows)
    taken = read(text.getvalue(), period="2026-09", careful=True)
    assert [row[2:] for row in taken.rows] == rows
    assert taken.numbers == list(range(1, len(rows) + 1))
    assert not taken.plan.rejects


@IN_FIXTURE
@given(tail=st.binary(max_size=300))
def test_whatever_follows_the_rows_is_read_rejected_or_refused_but_never_a_traceback(read, bill, tail):
    try:
        taken = read(bill("1", "2").encode() + tail)
    except (BadFile, NeedsAnswer) as error:
        said = (error.what, error.where, error.mend)
        assert all(said)
        return
    assert taken.column("BilledCost")[:2] == ["1", "2"] or taken.plan.rejects
    numbers = sorted([*taken.numbers, *(reject.row for reject in taken.plan.rejects)])
    assert numbers == list(range(1, len(numbers) + 1)), "each row is kept or set aside, once"
