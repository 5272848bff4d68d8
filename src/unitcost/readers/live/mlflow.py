"""Ask an MLflow tracking store, by `mlflow-skinny`: a server over HTTP, an SQLite file, or a folder of runs.

What comes back is written as the REST API writes it, one page a line, which the reader `mlflow` knows. The store itself
is only read: of an SQLite file a copy is asked, because MLflow may bring the schema of what it opens up to date.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

from unitcost.errors import BadFile, UnitcostError
from unitcost.readers.live import Progress, Window, without_login

SUFFIX = ".jsonl"
_PAGE_SIZE = 1_000
_SQLITE = "sqlite:///"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The client sends nothing about its use, and gives up on a server that does not answer after a few seconds.
_MANNERS = {
    "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",
}  # fmt: skip
#: Answers of a store that has no registry, or not for this user.
_NO_REGISTRY = frozenset({"ENDPOINT_NOT_FOUND", "FEATURE_DISABLED", "NOT_IMPLEMENTED", "PERMISSION_DENIED"})


def fetch(url: str, window: Window, target: Path, progress: Progress | None = None) -> None:
    """Write the experiments, the runs that touch the window and the versions of models; see `LiveSource`.

    Raises
    ------
    UnitcostError
        When `mlflow-skinny` is not installed.
    BadFile
        When the store is not there, is no store of MLflow, or does not answer.
    """
    client_of, ask_for, failure = _library()
    with _asked(url, target.parent) as place, target.open("w", encoding="utf-8") as stream:
        try:
            client = client_of(tracking_uri=place, registry_uri=place)
            _write(client, ask_for, window, stream, progress)
        except failure as error:
            raise BadFile(
                f"the tracking store does not answer as expected ({_reason(error, url)})",
                where=f"mlflow+{without_login(url)}",
                mend="check the address; a store of an older MLflow needs `mlflow db upgrade` or that version",
            ) from error  # fmt: skip


def _reason(error: Exception, url: str) -> str:
    """First line of an error; it may quote the address, whose user and password stay out."""
    return str(error).replace(url, without_login(url)).splitlines()[0][:200]


def _library() -> tuple[Callable[..., Any], Any, type[Exception]]:
    """Class of the client, what deleted and active things are called, and its error."""
    for name, value in _MANNERS.items():
        os.environ.setdefault(name, value)
    try:
        from mlflow import MlflowClient
        from mlflow.entities import ViewType
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise UnitcostError(
            f"asking a tracking store needs mlflow-skinny ({error})", mend="pip install 'unitcost[mlflow]'"
        ) from error
    return MlflowClient, ViewType.ALL, MlflowException


@contextmanager
def _asked(url: str, folder: Path) -> Iterator[str]:
    """Address to ask; that of a copy when it is an SQLite file."""
    if not url.startswith(_SQLITE):
        yield url
        return
    path = Path(url.removeprefix(_SQLITE).partition("?")[0])
    if not path.is_file():
        raise BadFile("there is no such file", where=f"mlflow+{url}", mend="four slashes begin a path from the root")
    with tempfile.TemporaryDirectory(prefix="mlflow-", dir=folder) as scratch:
        copy = Path(scratch) / "store.db"
        _copy(path, copy)
        yield f"{_SQLITE}{copy.resolve()}"


def _copy(path: Path, copy: Path) -> None:
    """Copy a database that others may be writing to.

    Raises
    ------
    BadFile
        When it is none of MLflow.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source:
            tables = {name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not {"experiments", "runs", "alembic_version"} <= tables:
                raise BadFile("the database is no tracking store of MLflow", where=str(path), mend="name its mlflow.db")
            with closing(sqlite3.connect(copy)) as target:
                source.backup(target)
    except sqlite3.Error as error:
        raise BadFile(f"the database cannot be read ({error})", where=str(path), mend="check the path") from error


def _write(client: Any, all_of: Any, window: Window, stream: TextIO, progress: Progress | None) -> None:
    experiments = list(_pages(lambda **page: client.search_experiments(view_type=all_of, **page)))
    found = [
        {"experiment_id": e.experiment_id, "name": e.name, "lifecycle_stage": e.lifecycle_stage}
        for page in experiments
        for e in page
    ]
    _line(stream, experiments=found)
    asked = {"run_view_type": all_of, "filter_string": _begun_before(window), "order_by": ["attributes.start_time"]}
    for count, experiment in enumerate(found, 1):
        ids = [experiment["experiment_id"]]
        for runs in _pages(lambda ids=ids, **page: client.search_runs(ids, **asked, **page)):
            _line(stream, runs=[_run(run) for run in runs if _touches(run.info.end_time, window)])
        if progress:
            progress(count, len(found))
    _registry(client, stream)


def _pages(ask: Callable[..., Any]) -> Iterator[Any]:
    token = None
    while True:
        page = ask(max_results=_PAGE_SIZE, page_token=token)
        yield page
        token = page.token
        if not token:
            return


def _registry(client: Any, stream: TextIO) -> None:
    from mlflow.exceptions import MlflowException

    try:
        for page in _pages(client.search_model_versions):
            versions = [
                {"name": v.name, "version": v.version, "run_id": v.run_id, "tags": v.tags, "source": v.source}
                for v in page
            ]
            _line(stream, model_versions=versions)
    except MlflowException as error:
        if error.error_code not in _NO_REGISTRY:
            raise
        _line(stream, registry_error=str(error).splitlines()[0])


def _run(run: Any) -> Any:
    """A run as the REST API writes it."""
    from mlflow.utils.proto_json_utils import message_to_json

    return json.loads(message_to_json(run.to_proto()))


def _line(stream: TextIO, **page: Any) -> None:
    stream.write(json.dumps(page, ensure_ascii=False) + "\n")


def _begun_before(window: Window) -> str:
    return f"attributes.start_time < {_ms(window.end)}" if window.end else ""


def _touches(end_ms: int | None, window: Window) -> bool:
    """Whether a run that ended then, or has no end, reaches into the window."""
    return window.start is None or not end_ms or end_ms > _ms(window.start)


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)
