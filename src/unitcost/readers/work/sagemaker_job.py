"""One training job of SageMaker: its lives, what it held in each, and what it was billed for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from unitcost.facts.pricing import spot_or_not
from unitcost.facts.work import ANY_GPU, WorkTable
from unitcost.money import divide, multiply, parse_amount
from unitcost.readers.json_rows import written
from unitcost.readers.work.aws_json import accelerators_of, moment_of
from unitcost.readers.work.tracked_run import config_key_of

SOURCE = "sagemaker"
#: Secondary statuses in which a job has its instances.
_HOLDING = frozenset({"Downloading", "DownloadingTrainingImage", "Training", "Uploading", "Stopping"})
_STATUSES = {
    "Completed": "completed",
    "Failed": "failed",
    "Stopped": "cancelled",
    "InProgress": "running",
    "Stopping": "running",
}
_OUT_OF_TIME = frozenset({"MaxRuntimeExceeded", "MaxWaitTimeExceeded"})
#: What came after a life -> how that life ended.
_CUT_BY = {"Interrupted": "preempted", "Restarting": "failed"}
_KEPT = (
    "TrainingTimeInSeconds", "BillableTimeInSeconds", "MaxRuntimeInSeconds", "MaxWaitTimeInSeconds", "VolumeSizeInGB",
    "KeepAlivePeriodInSeconds", "ResourceRetainedBillableTimeInSeconds",
)  # fmt: skip
_ALLOWED_GAP = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One life: from its first to its last status with instances, and how it ended."""

    started_at: datetime
    ended_at: datetime | None
    trained_at: datetime | None
    status: str

    @property
    def startup_s(self) -> float | None:
        """Time before the training began. [s]."""
        return (self.trained_at - self.started_at).total_seconds() if self.trained_at else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A training job as `describe-training-job` tells of it."""

    name: str
    said: Mapping[str, Any]
    status: str
    lives: tuple[Stretch, ...]
    instances: tuple[tuple[str, Decimal], ...]

    @classmethod
    def of(cls, found: object) -> Job:
        """Job that an answer describes.

        Raises
        ------
        ValueError
            When it describes none, or contradicts itself.
        """
        if not isinstance(found, dict) or not isinstance(found.get("TrainingJobName"), str):
            raise ValueError("the answer names no training job")
        status = _STATUSES.get(str(found.get("TrainingJobStatus")), "unknown")
        if str(found.get("SecondaryStatus")) in _OUT_OF_TIME or _passed_a_limit(found):
            status = "timeout"
        lives = tuple(_lives(found, status))
        if not lives and status != "running":
            status = "never started"
        return cls(
            name=found["TrainingJobName"], said=found, status=status, lives=lives,
            instances=tuple(_instances(_object(found, "ResourceConfig"))),
        )  # fmt: skip

    @property
    def has_unknown_type(self) -> bool:
        """Whether an instance type is not known."""
        return any(accelerators_of(name) is None for name, _ in self.instances)

    @property
    def adds_up(self) -> bool:
        """Whether the lives last as long as the answer says that the training did, or it does not say."""
        stated = _amount(self.said.get("TrainingTimeInSeconds"), "TrainingTimeInSeconds")
        if stated is None or not self.lives or any(life.ended_at is None for life in self.lives):
            return True
        lasted = sum((life.ended_at - life.started_at for life in self.lives if life.ended_at), timedelta())
        return abs(lasted - timedelta(seconds=int(stated))) <= _ALLOWED_GAP

    def rows(self) -> list[tuple[WorkTable, dict[str, Any]]]:
        """The workload, and of each life what it held."""
        rows: list[tuple[WorkTable, dict[str, Any]]] = [("workloads", self._workload())]
        for number, life in enumerate(self.lives, 1):
            for instance_type, count in self.instances:
                rows += self._held(number, life, instance_type, count)
        return rows

    def _workload(self) -> dict[str, Any]:
        said = self.said
        parent = str(said.get("TuningJobArn") or said.get("AutoMLJobArn") or "").rpartition("/")[2]
        params = {str(k): _text(v) for k, v in _object(said, "HyperParameters").items()}
        tags = _tags(said)
        return {
            "source": SOURCE, "workload_id": self.name, "name": self.name, "kind": "trial" if parent else "training",
            "parent": parent, "team": tags.get("team"), "project": tags.get("project"),
            "experiment": _text(_object(said, "ExperimentConfig").get("ExperimentName")), "status": self.status,
            "started_at": self.lives[0].started_at if self.lives else None,
            "ended_at": self.lives[-1].ended_at if self.lives else None, "config_key": config_key_of(params),
            "metrics": self._metrics(),
            "tags": {**{f"params.{name}": value for name, value in params.items()}, **tags, **self._own_tags()},
        }  # fmt: skip

    def _own_tags(self) -> dict[str, str]:
        own = {
            "arn": _text(self.said.get("TrainingJobArn")), "failure": _text(self.said.get("FailureReason")),
            "instance_type": " ".join(name for name, _ in self.instances),
        }  # fmt: skip
        return {name: value for name, value in own.items() if value}

    def _metrics(self) -> dict[str, str]:
        finals = self.said.get("FinalMetricDataList") or []
        metrics = {_text(item.get("MetricName")): _text(item.get("Value")) for item in finals if isinstance(item, dict)}
        places = (
            self.said,
            *(_object(self.said, name) for name in ("StoppingCondition", "ResourceConfig", "WarmPoolStatus")),
        )
        return metrics | {name: _text(place[name]) for place in places for name in _KEPT if place.get(name) is not None}

    def _held(
        self, number: int, life: Stretch, instance_type: str, count: Decimal
    ) -> Iterator[tuple[WorkTable, dict[str, Any]]]:
        known = accelerators_of(instance_type)
        accelerator, each = known if known else (ANY_GPU, None)
        quantity = None if each is None else multiply(each, count)
        arn = _text(self.said.get("TrainingJobArn")) or self.name
        spot = str(self.said.get("EnableManagedSpotTraining")).casefold() == "true"
        when = {"started_at": life.started_at, "ended_at": life.ended_at}
        yield "holdings", {
            "source": SOURCE, "workload_id": self.name, "attempt": number, "status": life.status, "resource_id": arn,
            "accelerator": accelerator, "quantity": quantity, "billing_weight": self._billing_weight(quantity),
            "pricing_category": spot_or_not(spot), "startup_s": life.startup_s, **when,
        }  # fmt: skip
        yield "resources", {
            "source": SOURCE, "resource_id": arn, "instance_type": instance_type, "accelerator": accelerator,
            "quantity": quantity, "tags": {"instances": _text(count)}, **when,
        }  # fmt: skip

    def _billing_weight(self, quantity: Decimal | None) -> Decimal | None:
        trained = _amount(self.said.get("TrainingTimeInSeconds"), "TrainingTimeInSeconds")
        billed = _amount(self.said.get("BillableTimeInSeconds"), "BillableTimeInSeconds")
        if quantity is None or not trained or billed is None:
            return None
        return divide(multiply(quantity, billed), trained)


def _lives(said: Mapping[str, Any], status: str) -> Iterator[Stretch]:
    """Stretches with instances; of a job that tells no transitions the one from start to end."""
    begun, ended = moment_of(said.get("TrainingStartTime")), moment_of(said.get("TrainingEndTime"))
    _in_order(begun, ended)
    steps = sorted(_transitions(said), key=lambda step: step[1])
    groups = list(_groups(steps))
    if not groups and begun:
        yield Stretch(started_at=begun, ended_at=ended, trained_at=None, status=status)
    for number, (group, after) in enumerate(groups):
        is_last = number == len(groups) - 1
        last_end = group[-1][2] or (ended if is_last else None)
        first = (
            max(begun, group[0][1]) if begun and not number and (last_end is None or begun <= last_end) else group[0][1]
        )
        yield Stretch(
            started_at=first, ended_at=last_end, status=_CUT_BY.get(after, status if is_last else "unknown"),
            trained_at=next((max(first, start) for name, start, _ in group if name == "Training"), None),
        )  # fmt: skip


_Step = tuple[str, datetime, datetime | None]


def _transitions(said: Mapping[str, Any]) -> Iterator[_Step]:
    found = said.get("SecondaryStatusTransitions") or []
    if not isinstance(found, list):
        raise ValueError("SecondaryStatusTransitions is no list")
    for item in found:
        start = moment_of(item.get("StartTime")) if isinstance(item, dict) else None
        if start is None:
            raise ValueError(f"{written(item)[:60]} is no transition with a start")
        end = moment_of(item.get("EndTime"))
        _in_order(start, end)
        yield str(item.get("Status")), start, end


def _groups(steps: Sequence[_Step]) -> Iterator[tuple[list[_Step], str]]:
    """Neighbouring steps with instances, and the status that came after them."""
    group: list[_Step] = []
    for step in steps:
        if step[0] in _HOLDING:
            group.append(step)
        elif group:
            yield group, step[0]
            group = []
    if group:
        yield group, ""


def _passed_a_limit(said: Mapping[str, Any]) -> bool:
    found = said.get("SecondaryStatusTransitions") or []
    return any(isinstance(item, dict) and item.get("Status") in _OUT_OF_TIME for item in found)


def _instances(config: Mapping[str, Any]) -> Iterator[tuple[str, Decimal]]:
    """Instance types and how many there are of each."""
    groups = config.get("InstanceGroups") or [config]
    for group in groups if isinstance(groups, list) else [groups]:
        if isinstance(group, dict) and group.get("InstanceType"):
            count = _amount(group.get("InstanceCount"), "InstanceCount")
            yield str(group["InstanceType"]), Decimal(1) if count is None else count


def _tags(said: Mapping[str, Any]) -> dict[str, str]:
    """Tags, where somebody has put the answer of `list-tags` beside the job's."""
    found = said.get("Tags") or []
    return {str(tag.get("Key")): _text(tag.get("Value")) for tag in found if isinstance(tag, dict) and tag.get("Key")}


def _object(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = said.get(name)
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"{name} is {written(found)[:60]}, no object")
    return found or {}


def _in_order(start: datetime | None, end: datetime | None) -> None:
    if start and end and end < start:
        raise ValueError(f"it ends at {end.isoformat()}, before its start")


def _amount(found: object, name: str) -> Decimal | None:
    text = _text(found)
    if not text:
        return None
    amount = parse_amount(text)
    if amount < 0:
        raise ValueError(f"{name} is {text}, which is negative")
    return amount


def _text(found: object) -> str:
    return (
        ""
        if found is None
        else found
        if isinstance(found, str)
        else str(found)
        if isinstance(found, Decimal)
        else written(found)
    )
