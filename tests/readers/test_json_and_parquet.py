"""JSON lines, JSON arrays and parquet: the same rows as the csv, numbers as they are written."""

from __future__ import annotations

import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadFile
from unitcost.readers import json_rows, survey

ROW = {
    "BilledCost": 1.5, "BillingCurrency": "USD", "BillingPeriodStart": "2026-09-01", "BillingPeriodEnd": "2026-10-01",
    "ChargePeriodStart": "2026-09-01", "ChargePeriodEnd": "2026-09-02", "Tags": {"team": "risk", "n": 1.10},
}  # fmt: skip


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("write", [lines, lambda *rows: json.dumps(rows), lambda *rows: json.dumps(rows, indent=2)])
def test_lines_and_arrays_are_the_same_rows(read, write):
    taken = read(write(ROW, {**ROW, "BilledCost": None, "ServiceName": "late"}))
    assert taken.column("BilledCost") == ["1.5", ""]
    assert taken.column("ServiceName") == ["", "late"]
    assert [json.loads(cell) for cell in taken.column("Tags")] == [ROW["Tags"]] * 2
    assert taken.plan.reader == "focus"


@pytest.mark.parametrize("write", [lines, lambda *rows: json.dumps(rows)])
def test_a_large_json_file_is_read_twice_and_gives_the_same_rows(read, monkeypatch, write):
    nested = {**ROW, "Tags": None, "extra": {"a": [1.50], "b": {"c": 2}}}
    text = write(nested, {**ROW, "BillingCurrency": "EUR"}, ROW).replace('"EUR"', "oops")
    small = read(text)
    monkeypatch.setattr(survey, "_HELD_BYTES", 0)
    large = read(text)
    assert small.plan.scan.columns == large.plan.scan.columns
    assert (small.rows, small.numbers, small.plan.rejects) == (large.rows, large.numbers, large.plan.rejects)
    assert [reject.row for reject in small.plan.rejects] == [2]
    assert "extra.b.c" in small.plan.scan.columns


def test_one_object_over_several_lines_is_one_row(read):
    assert read(json.dumps(ROW, indent=2)).column("BilledCost") == ["1.5"]


def test_numbers_stay_as_they_are_written(read):
    numbers = ["0.1000000000000000055511151231257827", "1E-7", "-0", "123456789012345678901234567890.5", "1.10"]
    text = "".join(lines(ROW).replace("1.5", number) for number in numbers)
    assert read(text).column("BilledCost") == numbers


def test_nested_objects_become_dotted_names_and_lists_stay_text():
    (found,) = json_rows.objects(
        io.StringIO('{"a": {"b": {"c": 1.0}}, "l": [{"k": 1.50}], "t": true, "n": null}'), lines=True
    )
    assert found == {"a.b.c": "1.0", "l": '[{"k": 1.50}]', "t": "true", "n": ""}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"BilledCost": }', "not JSON"),
        ("[1]", "not an object"),
        ("17", "not an object"),
        ("[" * 100_000, "not JSON|deep"),
    ],
)
def test_a_bad_line_is_set_aside_and_the_next_is_read(read, bad, reason):
    taken = read(lines(ROW) + bad + "\n" + lines({**ROW, "BilledCost": 2}))
    assert taken.column("BilledCost") == ["1.5", "2"]
    (reject,) = taken.plan.rejects
    assert reject.row == 2
    assert re.search(reason, reject.reason)


def test_an_array_that_is_cut_off_says_so(read):
    taken = read(json.dumps([ROW, ROW])[:-30])
    assert len(taken.rows) == 1
    assert [reject.row for reject in taken.plan.rejects] == [2]


def test_a_line_past_the_limit_is_set_aside(read, monkeypatch):
    monkeypatch.setattr("unitcost.readers.json_rows.OBJECT_LIMIT", 1000)
    taken = read(lines(ROW, {**ROW, "x": "y" * 5000}, ROW))
    assert taken.numbers == [1, 3]


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(min_size=1, max_size=5), TREES, max_size=4), max_size=5))
def test_lines_and_array_agree_on_any_objects(rows):
    one = list(json_rows.objects(io.StringIO(lines(*rows)), lines=True))
    other = list(json_rows.objects(io.StringIO(json.dumps(rows, indent=1)), lines=False))
    assert one == other
    assert len(one) == len(rows)
    assert all(isinstance(found, dict) for found in one)


@given(TREES)
def test_json_text_of_a_value_means_the_value(tree):
    decoded = json_rows._DECODER.decode(json.dumps(tree))
    assert json.loads(json_rows.written(decoded)) == tree


@pytest.fixture
def parquet(tmp_path):
    def make(name: str = "bill", **columns: list) -> object:
        path = tmp_path / name
        pq.write_table(pa.table(columns), path)
        return path

    return make


def focus_columns(count: int = 3) -> dict[str, list]:
    return {name: [value if name != "Tags" else json.dumps(value)] * count for name, value in ROW.items()}


def test_parquet_is_left_to_the_engine_whatever_its_name_and_size(parquet, take_file):
    path = parquet(name="bill.csv", **focus_columns())
    taken = take_file(path)
    assert taken.plan.fast
    assert (taken.plan.scan.format, taken.plan.scan.path) == ("parquet", path)
    assert taken.plan.scan.columns == tuple(ROW)


def test_parquet_goes_row_by_row_when_it_is_told_to(parquet, take_file):
    from decimal import Decimal

    columns = focus_columns(2) | {
        "BilledCost": [Decimal("1.50"), Decimal("-2.25")],
        "x_list": [[1, 2], None],
        "x_map": pa.array([[("a", "1")], []], pa.map_(pa.string(), pa.string())),
    }
    taken = take_file(parquet(**columns), careful=True)
    assert taken.column("BilledCost") == ["1.50", "-2.25"]
    assert taken.column("x_list") == ["[1,2]", ""]
    assert json.loads(taken.column("x_map")[0]) == {"a": "1"}


def test_half_a_parquet_file_is_refused(parquet, take_file):
    path = parquet(**focus_columns(5000))
    data = path.read_bytes()
    for part in (data[: len(data) // 2], data[:-1], data[:20] + data[-20:]):
        path.write_bytes(part)
        with pytest.raises(BadFile, match="cut off") as caught:
            take_file(path)
        assert caught.value.mend


def test_parquet_in_gzip_is_refused(parquet, read):
    import gzip

    with pytest.raises(BadFile, match="packed once more"):
        read(gzip.compress(parquet(**focus_columns()).read_bytes()))


def test_parquet_without_rows_loads_nothing_and_says_so(parquet, take_file):
    taken = take_file(parquet(**focus_columns(0)), currency="USD")
    assert "no rows" in taken.flags


def test_parquet_without_a_currency_asks(parquet, take_file):
    from unitcost.errors import NeedsAnswer

    columns = focus_columns(3) | {"BillingCurrency": pa.array([None, None, None], pa.string())}
    with pytest.raises(NeedsAnswer, match="currency"):
        take_file(parquet(**columns))


PAGES = {"runs": [{"a": 1.50}, {"b": [1, None, True]}], "next": "x", "more": {"runs": [2]}}


@pytest.mark.parametrize("form", ["{0}\n{0}", "[{0}, {0}]", " {0}{0}"])
def test_entries_of_pages_come_singly(form: str) -> None:
    text = form.format(json.dumps(PAGES)).replace("1.5", "1.50")
    page = [
        ("runs", {"a": "1.50"}), ("runs", {"b": ["1", None, True]}), ("next", "x"), ("more", {"runs": ["2"]}), ("", None)
    ]  # fmt: skip
    assert list(json_rows.entries(io.StringIO(text), {"runs"})) == page * 2


def test_a_cut_text_ends_with_what_is_broken() -> None:
    text = json.dumps(PAGES)
    for cut in range(1, len(text)):
        found = list(json_rows.entries(io.StringIO(text[:cut]), {"runs"}))
        assert isinstance(found[-1][1], json_rows.BrokenObject)
        assert not any(isinstance(value, json_rows.BrokenObject) for _, value in found[:-1])


def test_values_stand_one_after_the_other_or_in_an_array() -> None:
    for text in ('{"a": NaN} {"b": 2}', '[{"a": NaN}, {"b": 2}]'):
        assert list(json_rows.values(io.StringIO(text))) == [{"a": "NaN"}, {"b": "2"}]
    *good, last = json_rows.values(io.StringIO('[{"a": 1}, {"b": '))
    assert good == [{"a": "1"}]
    assert isinstance(last, json_rows.BrokenObject)
