"""Reading files ahead: while the ledger stores one, those after it are made ready in a thread of their own."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Condition
from types import TracebackType

from unitcost import readers
from unitcost.errors import UnitcostError
from unitcost.facts.source import Plan
from unitcost.facts.work import WorkPlan
from unitcost.jobs.finding import Found, check_file
from unitcost.units import MIB

#: How many files beyond the one at work are read; of large ones, which may need a copy each, the next alone.
_AHEAD, _AHEAD_IF_LARGE = 8, 1
_LARGE_BYTES = 16 * MIB


class Arriving:
    """A file to load, read or about to be read.

    Parameters
    ----------
    found
        The file and what is said about it.
    name
        How messages call it.
    """

    def __init__(self, found: Found, name: str, folder: Path, prefix: str, tell: Callable[[int, int], None]) -> None:
        self.found, self.name = found, name
        self._folder, self._prefix, self._tell = folder, prefix, tell
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self.digest: Future[str] = Future()
        self.planned: Future[Plan | WorkPlan | None] = Future()

    def sha256(self) -> str:
        """SHA-256 of its content; waits for it.

        Raises
        ------
        UnitcostError, OSError
            When it is no file to load, or cannot be opened.
        """
        return self.digest.result()

    def plan(self) -> Plan | WorkPlan:
        """How to load it; waits for it. What that needs on the disk is there until `done`.

        Raises
        ------
        UnitcostError, OSError
            When it cannot be read; see `unitcost.readers.read`.
        """
        return self.planned.result() or self.read()

    def read(self, *, careful: bool = False) -> Plan | WorkPlan:
        """Read it now, row by row when the engine has refused it as it is."""
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix=self._prefix, dir=self._folder)
        workdir = Path(self._scratch.name)
        return readers.read(self.found.file, self.found.options, workdir=workdir, progress=self._tell, careful=careful)

    def done(self) -> None:
        """Remove what it needed on the disk."""
        if self._scratch is not None:
            self._scratch.cleanup()


class Ahead:
    """Files in the order in which they are to be stored; leaving the context ends the reading and removes all copies.

    Parameters
    ----------
    files
        What to read, each with the name that messages call it by.
    known
        SHA-256 of contents that need not be read.
    folder, prefix
        Where copies may be written, and how the names of their folders begin.
    progress
        Told about the file at work: its name, what is done and how much there is to do.
    """

    def __init__(
        self, files: Sequence[tuple[Found, str]], *, known: Collection[str], folder: Path, prefix: str,
        progress: Callable[[str, int, int], None] | None,
    ) -> None:  # fmt: skip
        self._known, self._progress = known, progress
        self._turn = Condition()
        self._at, self._ended = 0, False
        self._files = [
            Arriving(found, name, folder, prefix, self._teller(place, name))
            for place, (found, name) in enumerate(files)
        ]
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="unitcost-reader")
        for place, file in enumerate(self._files):
            file.digest = self._pool.submit(self._digest, place, file)
            file.planned = self._pool.submit(self._read, file)

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._turn:
            self._ended = True
            self._turn.notify_all()
        self._pool.shutdown(cancel_futures=True)
        for file in self._files:
            file.done()

    def __iter__(self) -> Iterator[Arriving]:
        for place, file in enumerate(self._files):
            with self._turn:
                self._at = place
                self._turn.notify_all()
            yield file
            file.done()

    def _digest(self, place: int, file: Arriving) -> str:
        check_file(file.found.file, file.name)
        ahead = _AHEAD_IF_LARGE if file.found.file.stat().st_size > _LARGE_BYTES else _AHEAD
        with self._turn:
            self._turn.wait_for(lambda: self._ended or place <= self._at + ahead)
        self._check_wanted(file.name)
        return sha256_of(file.found.file)

    def _read(self, file: Arriving) -> Plan | WorkPlan | None:
        return None if file.digest.result() in self._known else file.read()

    def _teller(self, place: int, name: str) -> Callable[[int, int], None]:
        def tell(done: int, total: int) -> None:
            self._check_wanted(name)
            if self._progress and place == self._at:
                self._progress(name, done, total)

        return tell

    def _check_wanted(self, name: str) -> None:
        if self._ended:
            raise UnitcostError("the load has ended before this file was read", where=name)


def sha256_of(file: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(4 * MIB):
            digest.update(block)
    return digest.hexdigest()
