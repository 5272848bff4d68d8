"""How far a long statement is, told to whoever shows a bar."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb

_POLL_S = 0.2
_STEPS = 1000


@contextmanager
def watched(con: duckdb.DuckDBPyConnection, progress: Callable[[int, int], None] | None) -> Iterator[None]:
    """Tell `progress` how far the statement inside the block is, in thousandths."""
    if progress is None:
        yield
        return
    done = threading.Event()

    def poll() -> None:
        while not done.wait(_POLL_S):
            percent = con.query_progress()
            if percent > 0:
                progress(int(percent / 100 * _STEPS), _STEPS)

    watcher = threading.Thread(target=poll, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        progress(_STEPS, _STEPS)
