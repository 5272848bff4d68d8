"""Ask a live source for a window and keep its answers as a file, the evidence of what was loaded."""

from __future__ import annotations

from pathlib import Path

from unitcost.jobs.workspace import Workspace
from unitcost.readers.live import Address, Progress, Window, check_window, source_of

FOLDER = "fetched"
_UNFINISHED = ".part"


def fetch(workspace: Workspace, address: Address, window: Window, progress: Progress | None = None) -> Path:
    """File with what a live source answered, below the folder of the ledger.

    The same question makes the same file name, so that a later answer takes the place of the earlier one. A file is
    there only when all of it was answered.

    Raises
    ------
    UnknownName
        When nothing knows this kind of source.
    BadFile
        When it cannot be reached, or its answers cannot be used.
    BadSetting, NeedsAnswer
        When the window is wrong, or lacks an end that the source needs.
    """
    source = source_of(address)
    folder = workspace.ledger_path.parent / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / address.file_name(check_window(window), source.SUFFIX)
    unfinished = target.with_name(target.name + _UNFINISHED)
    try:
        source.fetch(address.url, window, unfinished, progress)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target
