"""What objects of MLflow's REST answers mean: runs, the qualities that they measured, versions of models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from unitcost.readers.json_rows import written
from unitcost.readers.moments import utc_moment
from unitcost.readers.work.tracked_run import TrackedRun

#: Status of MLflow -> ours. A run is scheduled before it starts, and killed by somebody.
RUN_STATUSES = {
    "FINISHED": "completed", "FAILED": "failed", "KILLED": "cancelled", "RUNNING": "running",
    "SCHEDULED": "never started",
}  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PARENT_TAG = "mlflow.parentRunId"
_NAME_TAG, _USER_TAG = "mlflow.runName", "mlflow.user"
#: Tags of an input that say what its data are for; metrics of a run are measured on such data.
_CONTEXT_TAG = "mlflow.data.context"
_MEASURED_ON = frozenset({"eval", "evaluation", "validation", "test", "testing"})
ENDPOINT_TAGS = ("endpoint", "serving_endpoint", "deployment")


def run_of(found: object, experiments: Mapping[str, str]) -> TrackedRun:
    """Run that an object of `runs` is.

    Parameters
    ----------
    experiments
        Id -> name of those that the file tells of.

    Raises
    ------
    ValueError
        When it is none, with the reason.
    """
    record = _object(found, "the run")
    info, data = _object(record.get("info"), "info"), _object(record.get("data", {}), "data")
    tags = pairs_of(data.get("tags", ()), "tags")
    user = _text(info.get("user_id"))
    if user and _USER_TAG not in tags:
        tags[_USER_TAG] = user
    experiment = _text(info.get("experiment_id"))
    return TrackedRun(
        source="mlflow", run_id=_text(info.get("run_id") or info.get("run_uuid")),
        name=_text(info.get("run_name")) or tags.get(_NAME_TAG, ""), parent=tags.get(PARENT_TAG, ""),
        experiment=experiments.get(experiment, experiment),
        status=RUN_STATUSES.get(_text(info.get("status")).upper(), "unknown"),
        started_at=moment_of(info.get("start_time"), "start_time"),
        ended_at=moment_of(info.get("end_time"), "end_time"), params=pairs_of(data.get("params", ()), "params"),
        metrics=pairs_of(data.get("metrics", ()), "metrics"), tags=tags,
    )  # fmt: skip


def qualities_of(found: object, run: TrackedRun) -> Iterator[dict[str, Any]]:
    """Metrics that were measured on a data set, as rows of `qualities`; NaN and infinity measure nothing.

    A metric names its data set itself; where none does, the only data set of the run is meant if it is one to measure
    on.
    """
    record = _object(found, "the run")
    sets = dict(_data_sets(record))
    only = next(iter(sets)) if len(sets) == 1 and next(iter(sets.values()))[0] in _MEASURED_ON else None
    for metric in _object(record.get("data", {}), "data").get("metrics", ()):
        if not isinstance(metric, dict) or not _is_finite(_text(metric.get("value"))):
            continue
        stated = (_text(metric.get("dataset_name")), _text(metric.get("dataset_digest")))
        data_set = stated if stated[0] else only
        if data_set:
            yield {
                "subject": run.run_id, "metric": _text(metric.get("key")), "value": _text(metric.get("value")),
                "n": sets.get(data_set, ("", None))[1], "data_set": "@".join(part for part in data_set if part),
                "measured_at": moment_of(metric.get("timestamp"), "timestamp"), "basis": "measured",
            }  # fmt: skip


def _data_sets(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], tuple[str, int | None]]]:
    """(name, digest) of each data set that went in -> (what it is for, how many rows it has)."""
    for item in _object(record.get("inputs") or {}, "inputs").get("dataset_inputs", ()):
        if isinstance(item, dict) and isinstance(found := item.get("dataset"), dict):
            context = pairs_of(item.get("tags", ()), "tags").get(_CONTEXT_TAG, "").casefold()
            yield (_text(found.get("name")), _text(found.get("digest"))), (context, _row_count(found.get("profile")))


def _row_count(profile: object) -> int | None:
    try:
        count = json.loads(profile)["num_rows"] if isinstance(profile, str) else None
    except (ValueError, KeyError, TypeError):
        return None
    return count if isinstance(count, int) and count >= 0 else None


def version_of(found: object) -> tuple[str, str, Mapping[str, str], str]:
    """Name, version, tags and run of a version of a model.

    Raises
    ------
    ValueError
        When it names no model or no version.
    """
    record = _object(found, "the model version")
    name, version = _text(record.get("name")), _text(record.get("version"))
    if not name or not version:
        raise ValueError("the model version has no name or no version")
    return name, version, pairs_of(record.get("tags", ()), "tags"), _text(record.get("run_id"))


def pairs_of(found: object, what: str) -> dict[str, str]:
    """Texts by key: from a list of objects with `key` and `value`, or from one object.

    Raises
    ------
    ValueError
        When it is neither, or a value is no single one.
    """
    if isinstance(found, dict):
        return {key: _single(value, f"{what} {key}") for key, value in found.items() if value is not None}
    if not isinstance(found, list | tuple):
        raise ValueError(f"{what} is {written(found)[:60]}, neither a list nor an object")
    pairs: dict[str, str] = {}
    for item in found:
        if not isinstance(item, dict) or not isinstance(item.get("key"), str):
            raise ValueError(f"{what} holds {written(item)[:60]}, which has no key")
        pairs[item["key"]] = _single(item.get("value"), f"{what} {item['key']}")
    return pairs


def moment_of(found: object, what: str) -> datetime | None:
    """Moment of milliseconds since 1970-01-01 UTC, or of an ISO text; None for nothing and for zero.

    Raises
    ------
    ValueError
        When it is neither.
    """
    text = _text(found).strip()
    if text in ("", "0", "NaT"):
        return None
    digits = text.removesuffix(".0")
    if not digits.isdigit():
        return utc_moment(text, UTC)
    try:
        return _EPOCH + timedelta(milliseconds=int(digits))
    except (OverflowError, ValueError):
        raise ValueError(f"{what} is {text}, no time in milliseconds") from None


def _single(value: object, what: str) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"{what} is {written(value)[:60]}, no single value")
    return _text(value)


def _object(found: object, what: str) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{what} is {'missing' if found is None else written(found)[:60]}, no object")
    return found


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else written(value)


def _is_finite(text: str) -> bool:
    try:
        return isfinite(float(text)) and Decimal(text).is_finite()
    except (ValueError, ArithmeticError):
        return False
