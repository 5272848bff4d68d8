"""A tracking store that MLflow itself has written, asked and loaded."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from unitcost.errors import BadFile
from unitcost.jobs.ingest import load
from unitcost.jobs.workspace import open_workspace
from unitcost.readers.live import Window, mlflow, window_of

START_MS = 1932768000000  # 2031-04-01T00:00:00Z
HOUR_MS = 3_600_000
OPEN = Window()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SQLite store with a sweep, its trials, a run that was deleted, and a registered model."""
    pytest.importorskip("mlflow", reason="needs mlflow-skinny")
    pytest.importorskip("sqlalchemy", reason="a store in a database needs sqlalchemy")
    pytest.importorskip("alembic", reason="a store in a database needs alembic")
    mlflow._library()  # sets the manners before the first import
    from mlflow import MlflowClient

    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    client = MlflowClient(tracking_uri=f"sqlite:///{path}")
    experiment = client.create_experiment("fraud model")

    def made(hour: int, status: str, *, params: dict[str, str] | None = None, **tags: str) -> str:
        run = client.create_run(experiment, start_time=START_MS + hour * HOUR_MS, tags=tags)
        for name, value in (params or {}).items():
            client.log_param(run.info.run_id, name, value)
        if status:
            client.set_terminated(run.info.run_id, status, end_time=START_MS + (hour + 2) * HOUR_MS)
        return str(run.info.run_id)

    sweep = made(0, "FINISHED", part="sweep")
    good = made(0, "FINISHED", params={"lr": "0.1"}, **{"mlflow.parentRunId": sweep, "gpus": "2", "part": "good"})
    client.log_metric(good, "auc", 0.5, timestamp=START_MS)
    client.log_metric(good, "auc", 0.75, timestamp=START_MS + HOUR_MS)
    client.log_metric(good, "loss", float("nan"), timestamp=START_MS)
    client.delete_run(made(4, "FAILED", **{"mlflow.parentRunId": sweep, "gpus": "2", "part": "deleted"}))
    made(8, "", part="open")
    client.create_registered_model("fraud")
    for _ in range(2):
        client.create_model_version("fraud", f"runs:/{good}/model", good)
    return path


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Empty current folder, and what is in it afterwards is looked at."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert {path.name for path in tmp_path.iterdir()} <= {".unitcost", "answers.jsonl"}


def answered(store: Path, folder: Path, window: Window = OPEN) -> list[dict[str, Any]]:
    mlflow.fetch(f"sqlite:///{store}", window, folder / "answers.jsonl")
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()]


def parts(pages: list[dict[str, Any]]) -> set[str]:
    runs = [run for page in pages for run in page.get("runs", ())]
    tags = [{tag["key"]: tag["value"] for tag in run["data"]["tags"]} for run in runs]
    return {tag["part"] for tag in tags}


def test_a_store_is_loaded_as_if_its_answers_were_files(store: Path, quiet: Path) -> None:
    outcome = load(open_workspace(quiet), [f"mlflow+sqlite:///{store}"], window=window_of("", "", "60s"))
    assert not outcome.failures
    [record] = outcome.records
    assert (record.reader, record.rows_read, record.rows_rejected) == ("mlflow", 6, 0)
    with closing(duckdb.connect(str(quiet / ".unitcost/ledger.duckdb"), read_only=True)) as con:
        found = con.execute(
            "SELECT tags['part'], kind, status, experiment, metrics['auc'], metrics['loss'], ended_at - started_at "
            "FROM workloads ORDER BY 1"
        ).fetchall()
        held = con.execute("SELECT count(*), sum(quantity) FROM holdings").fetchall()
        versions = con.execute("SELECT model_version, predecessor FROM model_versions ORDER BY 1").fetchall()
    assert [row[:4] for row in found] == [
        ("deleted", "trial", "failed", "fraud model"), ("good", "trial", "completed", "fraud model"),
        ("open", "training", "running", "fraud model"), ("sweep", "sweep", "completed", "fraud model"),
    ]  # fmt: skip
    assert found[1][4:6] == ("0.75", "NaN")
    assert found[2][6] is None
    assert held == [(2, 4)]
    assert versions == [("fraud/1", None), ("fraud/2", "fraud/1")]


def test_the_same_question_changes_nothing(store: Path, quiet: Path) -> None:
    for outcome in ("loaded", "unchanged"):
        [record] = load(open_workspace(quiet), [f"mlflow+sqlite:///{store}"]).records
        assert record.outcome == outcome


def test_a_window_keeps_the_runs_that_touch_it(store: Path, quiet: Path) -> None:
    assert parts(answered(store, quiet)) == {"sweep", "good", "deleted", "open"}
    assert parts(answered(store, quiet, window_of("2031-04-01T02:00", "2031-04-01T06:00", "1m"))) == {"deleted"}
    assert parts(answered(store, quiet, window_of("2031-04-01T01:00", "2031-04-01T04:00", "1m"))) == {"sweep", "good"}
    assert parts(answered(store, quiet, window_of("2031-05-01", "", "1m"))) == {"open"}


def test_the_store_itself_stays_as_it_is(store: Path, quiet: Path) -> None:
    before = store.read_bytes()
    answered(store, quiet)
    assert store.read_bytes() == before


def test_what_is_no_store_is_refused_and_not_made_one(quiet: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("mlflow", reason="needs mlflow-skinny")
    folder = tmp_path_factory.mktemp("other")
    with pytest.raises(BadFile, match="no such file"):
        mlflow.fetch(f"sqlite:///{folder}/none.db", OPEN, quiet / "answers.jsonl")
    with closing(sqlite3.connect(folder / "other.db")) as con:
        con.execute("CREATE TABLE t (a)")
        con.commit()
    before = (folder / "other.db").read_bytes()
    with pytest.raises(BadFile, match="no tracking store"):
        mlflow.fetch(f"sqlite:///{folder}/other.db", OPEN, quiet / "answers.jsonl")
    assert (folder / "other.db").read_bytes() == before
    (folder / "text.db").write_text("no database at all")
    with pytest.raises(BadFile, match="cannot be read"):
        mlflow.fetch(f"sqlite:///{folder}/text.db", OPEN, quiet / "answers.jsonl")


def test_a_server_that_is_not_there_is_named(quiet: Path) -> None:
    pytest.importorskip("mlflow", reason="needs mlflow-skinny")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BadFile, match="does not answer") as caught:
        mlflow.fetch(f"http://me:hush@127.0.0.1:{port}", OPEN, quiet / "answers.jsonl")
    assert "hush" not in str(caught.value)
