"""A live source is asked before the ledger is opened, and what it answered is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from unitcost.errors import BadFile
from unitcost.jobs.ingest import load
from unitcost.jobs.workspace import open_workspace
from unitcost.readers import live
from unitcost.readers.live import Progress, Window, window_of

WINDOW = window_of("2031-09-01", "2031-09-02", "60s")


class Counted:
    """A source that says how many useful units there were, or that it is down."""

    SUFFIX = ".csv"

    def __init__(self, quantity: int, *, up: bool = True) -> None:
        self.quantity, self.up = quantity, up

    def fetch(self, url: str, window: Window, target: Path, progress: Progress | None = None) -> None:
        assert window == WINDOW
        target.write_text(f"service,day,unit,quantity\nchat,2031-09-01,predictions,{self.quantity}\n")
        if not self.up:
            raise BadFile("nobody answers", where=url, mend="start it")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def ask(quantity: int, *, up: bool = True):
        monkeypatch.setitem(live.LIVE, "counted", Counted(quantity, up=up))
        return load(open_workspace(tmp_path), ["counted+http://me:hush@localhost:1/x"], window=WINDOW)

    return ask


def test_answers_are_kept_and_loaded(asked, tmp_path: Path) -> None:
    [record] = asked(7).records
    assert (record.reader, record.rows_accepted) == ("outputs-csv", 1)
    assert (tmp_path / record.file).is_file()
    assert record.file.startswith(".unitcost/fetched/counted-localhost-1-x-")
    assert "hush" not in record.file


def test_the_same_question_is_not_counted_twice(asked, tmp_path: Path) -> None:
    assert asked(7).records[0].outcome == "loaded"
    assert asked(7).records[0].outcome == "unchanged"
    assert asked(8).records[0].outcome == "replaced"
    assert len(list((tmp_path / ".unitcost/fetched").iterdir())) == 1


def test_a_source_that_is_down_leaves_nothing(asked, tmp_path: Path) -> None:
    outcome = asked(7, up=False)
    assert outcome.exit_code() == 1
    [(name, error)] = outcome.failures
    assert (name, error.what) == ("counted+http://localhost:1/x", "nobody answers")
    assert not list((tmp_path / ".unitcost/fetched").iterdir())


def test_an_entry_of_the_settings_may_be_live(asked, tmp_path: Path) -> None:
    (tmp_path / "unitcost.toml").write_text('[[load]]\npath = "counted+http://localhost:1/x"\n')
    asked(7)
    outcome = load(open_workspace(tmp_path), window=WINDOW)
    assert outcome.records[0].outcome == "unchanged"
