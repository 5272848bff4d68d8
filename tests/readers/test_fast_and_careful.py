"""Which files the engine reads as they are, and that both ways say the same."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from unitcost import readers
from unitcost.errors import BadFile
from unitcost.facts.source import ReadOptions
from unitcost.readers import core


@pytest.fixture
def small_limit(monkeypatch):
    """Every file is large."""
    monkeypatch.setattr(core, "FAST_FROM_BYTES", 1)


def test_small_files_are_checked_row_by_row(read, bill):
    taken = read(bill("1"))
    assert not taken.plan.fast
    assert taken.plan.scan.numbered


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_large_clean_files_are_left_to_the_engine(read, bill, start):
    text = start + bill("1", "2").replace(",", ";")
    fast, careful = read(text), read(text, careful=True)
    assert fast.plan.fast
    assert not careful.plan.fast
    assert fast.rows != []
    assert fast.plan.scan.delimiter == ";"
    for name in ("reader", "dialect", "mapping", "conventions", "flags", "date_order", "nulls", "cost_column"):
        assert getattr(fast.plan, name) == getattr(careful.plan, name)
    assert fast.plan.scan.columns == careful.plan.scan.columns


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize(
    "data",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.replace(",storage", "").encode(),
        lambda text: (text + "1,short\n").encode(),
        lambda text: gzip.compress(text.encode()),
        lambda text: text.replace("ServiceName", "BilledCost").replace("storage", "1").encode(),
    ],
    ids=["utf-16", "short rows", "one short row", "gzip without its suffix", "a name twice"],
)
def test_large_files_that_are_not_clean_are_checked_row_by_row(read, bill, data):
    assert not read(data(bill("1", "1"))).plan.fast


@pytest.mark.usefixtures("small_limit")
def test_usage_that_is_priced_row_by_row_is_never_fast(read):
    text = "run,start,end,gpus,usd_per_gpu_hour\nr,2026-09-01T00:00:00Z,2026-09-01T01:00:00Z,1,1\n"
    assert not read(text).plan.fast


@pytest.mark.usefixtures("small_limit")
def test_a_bad_byte_in_a_large_file_is_found_when_it_is_read_again(tmp_path, bill):
    path = tmp_path / "bill"
    path.write_bytes(bill(*["1"] * 9000).encode() + b"\xff\n")
    assert readers.read(path, ReadOptions(), workdir=tmp_path).fast, "the first look does not get that far"
    with pytest.raises(BadFile, match="0xff"):
        readers.read(path, ReadOptions(), workdir=tmp_path, careful=True)


def test_progress_is_told_in_bytes_and_never_goes_back(tmp_path, bill):
    path = tmp_path / "bill"
    path.write_text(bill(*["1"] * 60_000))
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    readers.read(path, ReadOptions(), workdir=tmp_path, progress=tell, careful=True)
    assert told
    assert told == sorted(told)
    assert {total for _, total in told} == {path.stat().st_size}
    assert told[-1][0] <= path.stat().st_size


def test_a_long_line_is_not_held_in_memory(tmp_path, bill):
    path = tmp_path / "bill"
    with path.open("w") as stream:
        stream.write(bill("1"))
        for _ in range(64):
            stream.write("9" * 1024 * 1024)
        stream.write("\n" + bill("2").splitlines()[1] + "\n")
    tracemalloc.start()
    try:
        plan = readers.read(path, ReadOptions(), workdir=tmp_path)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [reject.row for reject in plan.rejects] == [2]
    assert "longer than 16 MiB" in plan.rejects[0].reason
    assert len(plan.rejects[0].raw) < 100_000
    assert peak_bytes < 100 * 1024 * 1024
