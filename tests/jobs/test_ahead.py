"""Files are read in a thread of their own, in their order, and not further than is wanted."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from unitcost import readers
from unitcost.errors import BadFile, UnitcostError
from unitcost.facts.source import ReadOptions
from unitcost.jobs import ahead
from unitcost.jobs.ahead import Ahead, sha256_of
from unitcost.jobs.finding import Found

HEADER = "BilledCost,EffectiveCost,BillingCurrency,ServiceName,BillingPeriodStart,BillingPeriodEnd\n"
WAIT_S = 30


def files(folder: Path, count: int) -> list[tuple[Found, str]]:
    found = []
    for number in range(count):
        path = folder / f"{number}.csv"
        path.write_text(f"{HEADER}{number},{number},USD,Compute,2031-06-01T00:00:00Z,2031-07-01T00:00:00Z\n")
        found.append((Found(file=path, source="bills", options=ReadOptions()), path.name))
    return found


def reading(found: list[tuple[Found, str]], folder: Path, **changes: Any) -> Ahead:
    said: dict[str, Any] = {"known": (), "folder": folder, "prefix": "copy-", "progress": None} | changes
    return Ahead(found, **said)


def test_each_file_comes_in_its_order_with_its_plan(tmp_path: Path) -> None:
    found = files(tmp_path, 3)
    with reading(found, tmp_path) as arriving:
        for (job, name), file in zip(found, arriving, strict=True):
            assert (file.name, file.sha256()) == (name, sha256_of(job.file))
            assert file.plan().reader == "focus"
            assert list(tmp_path.glob("copy-*"))
    assert not list(tmp_path.glob("copy-*"))


def test_no_more_is_read_than_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_AHEAD", 1)
    found = files(tmp_path, 4)
    with reading(found, tmp_path) as arriving:
        coming = iter(arriving)
        file = next(coming)
        arriving._files[1].planned.result(WAIT_S)
        assert not arriving._files[2].digest.done()
        file = next(coming)
        arriving._files[2].planned.result(WAIT_S)
        assert file.name == "1.csv"
        assert not arriving._files[3].digest.done()


def test_a_file_that_cannot_be_read_says_so_when_its_turn_comes(tmp_path: Path) -> None:
    found = files(tmp_path, 3)
    found[0][0].file.unlink()
    found[1][0].file.write_text("no bill\n")
    with reading(found, tmp_path) as arriving:
        missing, odd, sound = arriving
        with pytest.raises(BadFile, match=r"0\.csv"):
            missing.sha256()
        with pytest.raises(UnitcostError, match=r"1\.csv"):
            odd.plan()
        assert sound.plan().reader == "focus"


def test_known_content_is_read_only_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = files(tmp_path, 1)
    by: list[str] = []
    read = readers.read

    def watched(*args: Any, **said: Any) -> Any:
        by.append(threading.current_thread().name)
        return read(*args, **said)

    monkeypatch.setattr(readers, "read", watched)
    with reading(found, tmp_path, known={sha256_of(found[0][0].file)}) as arriving:
        (file,) = arriving
        assert file.sha256()
        assert file.planned.result(WAIT_S) is None
        assert by == []
        assert file.plan().reader == "focus"
    assert by == [threading.current_thread().name]


def test_only_the_file_at_work_is_told_of(tmp_path: Path) -> None:
    told: list[str] = []
    found = files(tmp_path, 3)
    with reading(found, tmp_path, progress=lambda name, done, total: told.append(name)) as arriving:
        coming = iter(arriving)
        next(coming)
        for file in arriving._files:
            file.planned.result(WAIT_S)
        assert set(told) <= {"0.csv"}
        arriving._files[1]._tell(1, 1)
        assert set(told) <= {"0.csv"}
        next(coming)
        arriving._files[1]._tell(1, 1)
    assert told[-1] == "1.csv"


def test_reading_ends_with_the_load(tmp_path: Path) -> None:
    found = files(tmp_path, 2)
    with reading(found, tmp_path) as arriving:
        second = arriving._files[1]
    with pytest.raises(UnitcostError, match="has ended before"):
        second._tell(1, 1)
