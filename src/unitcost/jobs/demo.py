"""The sample workspace and its report."""

from __future__ import annotations

from pathlib import Path

from unitcost import samples
from unitcost.errors import BadSetting
from unitcost.jobs.ingest import LoadOutcome, Progress, load
from unitcost.jobs.review import review
from unitcost.jobs.selecting import select
from unitcost.jobs.workspace import Workspace, open_workspace
from unitcost.report.model import Report

#: What counts as now in the sample.
AS_OF = "2026-11-05"
_MARK = "truth.json"


def demo(
    folder: Path, *, force: bool = False, progress: Progress | None = None
) -> tuple[Workspace, LoadOutcome, Report]:
    """Write the sample company's exports into a folder, load them and make the report.

    Raises
    ------
    BadSetting
        When the folder holds something else and `force` is not said.
    """
    if folder.exists() and not folder.is_dir():
        raise BadSetting(f"`{folder}` is no folder", mend="give another name with --folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists() and not force:
        raise BadSetting("the folder is not empty", where=str(folder), mend="give another folder, or say --force")
    samples.write(folder)
    workspace = open_workspace(folder, as_of=AS_OF)
    with workspace.open_ledger(to_write=True) as ledger:
        outcome = load(workspace, progress=progress, ledger=ledger)
        return workspace, outcome, review(workspace, select(workspace.settings), ledger=ledger)
