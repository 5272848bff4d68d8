"""A small sample, loaded and reported once for all tests that hold its report against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from unitcost import samples
from unitcost.jobs.ingest import load
from unitcost.jobs.review import review
from unitcost.jobs.selecting import select
from unitcost.jobs.workspace import Workspace, open_workspace
from unitcost.report.json_form import as_data
from unitcost.samples.truth import Truth


class Told(NamedTuple):
    """A small sample, its report as data, and the truth about it."""

    workspace: Workspace
    report: dict[str, Any]
    truth: Truth


def told_of(folder: Path) -> Told:
    """Write the sample into a folder, load it and report."""
    truth = samples.write(folder, rows=8_000)
    workspace = open_workspace(folder, as_of="2026-11-05")
    assert load(workspace).exit_code() == 0
    return Told(workspace, as_data(review(workspace, select(workspace.settings))), truth)
