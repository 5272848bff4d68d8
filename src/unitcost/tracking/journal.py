"""The file of runs of one machine: lines are appended whole, whoever else is writing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks; appending one short line is whole there too
    fcntl = None  # type: ignore[assignment]

#: Version of the lines, and the member by which the reader knows them.
VERSION = 1
MARK = "unitcost_track"
FOLDER_VARIABLE = "UNITCOST_TRACK_FOLDER"
_FOLDER = "unitcost-runs"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def journal_of(host: str, folder: str | os.PathLike[str] | None) -> Path:
    """File of a machine in a folder, by default `unitcost-runs` here, or where UNITCOST_TRACK_FOLDER says."""
    chosen = Path(folder if folder is not None else os.environ.get(FOLDER_VARIABLE) or _FOLDER)
    return (chosen / f"{_UNSAFE.sub('-', host) or 'machine'}.jsonl").absolute()


def append(path: Path, line: dict[str, Any]) -> None:
    """Append one line, and make sure that it begins one even if a writer before was killed half-way.

    Raises
    ------
    OSError
        When the file cannot be written.
    TypeError, ValueError
        When the line cannot be written as JSON.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({MARK: VERSION, **line}, ensure_ascii=True, default=_plain) + "\n"
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        with _locked(descriptor):
            size = os.fstat(descriptor).st_size
            os.lseek(descriptor, max(0, size - 1), os.SEEK_SET)
            torn = size > 0 and os.read(descriptor, 1) != b"\n"
            os.write(descriptor, (("\n" if torn else "") + text).encode())
    finally:
        os.close(descriptor)


def _plain(value: Any) -> Any:
    """Number of an array or a tensor that holds one, else the text of anything."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return str(value)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:  # a file system without locks; O_APPEND alone must do
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
