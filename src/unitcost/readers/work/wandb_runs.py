"""Runs of Weights & Biases, from rows of its exported table and from objects of its public API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from unitcost.money import parse_amount
from unitcost.readers.json_rows import written
from unitcost.readers.moments import utc_moment
from unitcost.readers.work.tracked_run import TrackedRun
from unitcost.readers.work.tracker_names import KIND_TAG

SOURCE = "wandb"
#: State -> ours. A run that crashed stopped sending; one that was killed was stopped by somebody.
STATES = {
    "finished": "completed", "failed": "failed", "crashed": "crashed", "killed": "cancelled", "running": "running",
    "preempted": "preempted", "preempting": "preempted", "pending": "never started", "queued": "never started",
}  # fmt: skip
#: Columns of the exported table that are neither parameters nor metrics.
TABLE = (
    "Name",
    "State",
    "Created",
    "Runtime",
    "ID",
    "User",
    "Tags",
    "Notes",
    "Sweep",
    "Group",
    "Job Type",
    "Project",
    "End Time",
)
_JOB_TYPES = {
    "eval": "evaluation", "evaluate": "evaluation", "evaluation": "evaluation", "test": "evaluation",
    "preprocess": "preprocessing", "preprocessing": "preprocessing", "sweep-controller": "sweep",
}  # fmt: skip
_OWN = "_wandb"


def of_cells(cells: Mapping[str, str]) -> TrackedRun:
    """Run of a row; parameters and metrics stand side by side there, so that no configuration is known.

    Raises
    ------
    ValueError
        When the row is none, with the reason.
    """
    started = _moment(cells.get("Created", ""))
    name, run_id = cells.get("Name", ""), cells.get("ID", "")
    others = {key: text for key, text in cells.items() if key not in TABLE}
    state = cells.get("State", "").casefold()
    ended = _moment(cells.get("End Time", "")) or _end(started, cells.get("Runtime", ""), state)
    return TrackedRun(
        source=SOURCE, run_id=run_id or (f"{name}@{cells.get('Created')}" if name else ""), name=name,
        status=STATES.get(state, "unknown"), started_at=started, ended_at=None if state == "running" else ended,
        parent=cells.get("Sweep", ""), experiment=cells.get("Group", ""),
        metrics={key: text for key, text in others.items() if _is_number(text)},
        tags=_tags({**others, "user": cells.get("User", ""), "project": cells.get("Project", "")}, cells.get("Tags", ""),
                   cells.get("Job Type", "")),
    )  # fmt: skip


def of_object(found: object) -> TrackedRun:
    """Run of an object of the public API.

    Raises
    ------
    ValueError
        When it is none, with the reason.
    """
    if not isinstance(found, dict):
        raise ValueError("the run is no object")
    started, state = _moment(_first(found, "created_at", "createdAt")), _first(found, "state").casefold()
    summary = _object(found, "summary", "summaryMetrics", "summary_metrics")
    runtime = _first(found, "runtime", "duration") or _text(summary.get("_runtime"))
    sweep = found.get("sweep") or found.get("sweepName") or found.get("sweep_id")
    config = {k: _unwrapped(v) for k, v in _object(found, "config").items() if k != _OWN and v is not None}
    said = {name: _first(found, name) for name in ("user", "project", "entity", "host")}
    listed = found.get("tags")
    return TrackedRun(
        source=SOURCE, run_id=_first(found, "id"), name=_first(found, "display_name", "displayName", "name"),
        status=STATES.get(state, "unknown"), started_at=started,
        ended_at=None if state == "running" else _end(started, runtime, state),
        parent=_first(sweep, "id", "name") if isinstance(sweep, dict) else _text(sweep), experiment=_first(found, "group"),
        params={key: _text(value) for key, value in config.items()},
        metrics={k: _text(v) for k, v in summary.items() if k != _OWN and not isinstance(v, dict | list)},
        tags=_tags(said, ", ".join(map(_text, listed)) if isinstance(listed, list) else _text(listed),
                   _first(found, "job_type", "jobType")),
    )  # fmt: skip


def _tags(said: Mapping[str, str], listed: str, job_type: str) -> dict[str, str]:
    """Tags: `name:value` and `name=value` of the list are tags of that name, others are yes."""
    tags = {name: text for name, text in said.items() if text}
    for word in (word.strip() for word in listed.split(",")):
        sign = next((sign for sign in "=:" if sign in word), "")
        name, _, value = word.partition(sign) if sign else (word, "", "yes")
        if name:
            tags[name.strip()] = value.strip()
    if job_type:
        tags["job_type"] = job_type
        if job_type.casefold() in _JOB_TYPES:
            tags.setdefault(KIND_TAG, _JOB_TYPES[job_type.casefold()])
    return tags


def _end(started: datetime | None, runtime: str, state: str) -> datetime | None:
    """End of a run that lasted so many seconds; None when they are not known."""
    if not runtime or started is None or state == "running":
        return None
    try:
        return started + timedelta(seconds=float(parse_amount(runtime)))
    except OverflowError:
        raise ValueError(f"the run lasts {runtime} s, longer than there is time") from None


def _moment(text: str) -> datetime | None:
    return utc_moment(text, UTC) if text else None


def _object(found: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    name = next((name for name in names if found.get(name) is not None), names[0])
    value = found.get(name)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name} is {written(value)[:60]}, no object")
    return value or {}


def _unwrapped(value: Any) -> Any:
    """Value of a parameter, which the API may wrap as `{"value": ...}`."""
    return (
        value["value"] if isinstance(value, dict) and "value" in value and value.keys() <= {"value", "desc"} else value
    )


def _first(found: Mapping[str, Any], *names: str) -> str:
    return next((_text(found[name]) for name in names if found.get(name) is not None), "")


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else written(value)


def _is_number(text: str) -> bool:
    try:
        parse_amount(text)
    except ValueError:
        return text.casefold() in ("nan", "infinity", "-infinity")
    return True
