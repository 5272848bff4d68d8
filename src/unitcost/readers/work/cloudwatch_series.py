"""Series of CloudWatch: which metric of which endpoint they are, and their points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from unitcost.money import parse_amount
from unitcost.readers.json_rows import written
from unitcost.readers.work.aws_json import moment_of

#: Native name -> what it counts of the requests: all of them, or those that failed.
COUNTS = {
    "Invocations": "all", "Invocation4XXErrors": "failed", "Invocation5XXErrors": "failed", "RequestCount": "all",
    "HTTPCode_Target_4XX_Count": "failed", "HTTPCode_Target_5XX_Count": "failed",
}  # fmt: skip
#: Native name -> (our name, unit). Utilisation of a GPU or core adds up over all of the machine: 800 percent for eight.
GAUGES = {
    "ModelLatency": ("model_latency", "us"), "OverheadLatency": ("overhead_latency", "us"),
    "GPUUtilization": ("gpu_utilisation_sum", "percent"), "GPUMemoryUtilization": ("gpu_memory_utilisation_sum", "percent"),
    "CPUUtilization": ("cpu_utilisation_sum", "percent"), "MemoryUtilization": ("memory_utilisation", "percent"),
    "TargetResponseTime": ("response_time", "s"),
}  # fmt: skip
_STATISTICS = frozenset({"Sum", "Average", "Minimum", "Maximum", "SampleCount"})
_COUNTED_BY = frozenset({"", "Sum", "SampleCount"})
#: Dimensions that name what is called, the first that is there; then the part of it.
_SERVICES = ("EndpointName", "TargetGroup", "LoadBalancer", "FunctionName")
_PARTS = ("VariantName", "InferenceComponentName", "AvailabilityZone")
ASK_FOR = (
    "ask with the label ${PROP('Dim.EndpointName')} ${PROP('Dim.VariantName')} ${PROP('MetricName')} ${PROP('Stat')} "
    "${PROP('Period')}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a series is: a metric of a part (a variant) of a service, by a statistic over periods [s]."""

    service: str
    part: str
    metric: str
    statistic: str = ""
    period_s: int | None = None

    @property
    def is_sagemaker(self) -> bool:
        """Whether the service is an endpoint of SageMaker."""
        return not (self.metric.startswith("HTTPCode_") or self.metric in ("RequestCount", "TargetResponseTime"))


@dataclass(slots=True)
class Series:
    """One series, put together from all pages: moment -> value."""

    row: int
    about: About
    points: dict[datetime, Decimal] = field(default_factory=dict)

    @property
    def period(self) -> timedelta | None:
        """Length of its periods; where nothing states it, the smallest distance of two points."""
        if self.about.period_s:
            return timedelta(seconds=self.about.period_s)
        return min((later - earlier for earlier, later in pairwise(sorted(self.points))), default=None)


def about_of(found: Mapping[str, Any], queries: Mapping[str, About]) -> About:
    """What a result is: as the query of its id says, where the file has the queries, else as its label says.

    Raises
    ------
    ValueError
        When neither tells, with what to ask for.
    """
    known = queries.get(str(found.get("Id")))
    if known:
        return known
    label = str(found.get("Label") or "")
    words = label.split()
    metric = next((word for word in words if word in COUNTS or word in GAUGES), "")
    if not metric:
        raise ValueError(f"the label {label[:80]!r} names no metric that is known here; {ASK_FOR}")
    rest = [word for word in words if word != metric]
    statistic = next((word for word in rest if word in _STATISTICS), "")
    names = [word for word in rest if word != statistic]
    period = next((word for word in names[1:] if word.isdigit()), "")
    names = [word for word in names if word != period]
    if not names:
        raise ValueError(f"the label {label[:80]!r} names no endpoint; {ASK_FOR}")
    return About(
        service=names[0], part=" ".join(names[1:]), metric=metric, statistic=statistic,
        period_s=int(period) if period else None,
    )  # fmt: skip


def queries_of(found: object) -> Iterator[tuple[str, About]]:
    """Id and meaning of a query, where it asks for one metric of one endpoint."""
    stated = found.get("MetricStat") if isinstance(found, dict) else None
    metric = stated.get("Metric") if isinstance(stated, dict) else None
    if not (isinstance(found, dict) and isinstance(stated, dict) and isinstance(metric, dict)):
        return
    dimensions = metric.get("Dimensions")
    named = {str(d.get("Name")): str(d.get("Value")) for d in dimensions or () if isinstance(d, dict)}
    service = next((named[name] for name in _SERVICES if named.get(name)), "")
    period = str(stated.get("Period", ""))
    if service:
        yield str(found.get("Id")), About(
            service=service, part=next((named[name] for name in _PARTS if named.get(name)), ""),
            metric=str(metric.get("MetricName")), statistic=str(stated.get("Stat") or ""),
            period_s=int(period) if period.isdigit() and int(period) else None,
        )  # fmt: skip


def points_of(found: Mapping[str, Any], about: About) -> dict[datetime, Decimal]:
    """Points of a result; a missing one is missing, a zero is a zero.

    Raises
    ------
    ValueError
        When they are none, or counts that cannot be.
    """
    moments, values = found.get("Timestamps") or [], found.get("Values") or []
    if not isinstance(moments, list) or not isinstance(values, list) or len(moments) != len(values):
        raise ValueError("Timestamps and Values are not two lists of one length")
    counts = about.metric in COUNTS
    if counts and about.statistic not in _COUNTED_BY:
        raise ValueError(f"{about.metric} is asked for as {about.statistic}; only the statistic Sum counts requests")
    points = {_moment(at): _value(value) for at, value in zip(moments, values, strict=True)}
    if counts:
        odd = next((v for v in points.values() if v < 0 or v != v.to_integral_value()), None)
        if odd is not None:
            raise ValueError(f"{about.metric} is {odd}, no count; ask for the statistic Sum")
    return points


def _moment(found: object) -> datetime:
    moment = moment_of(found)
    if moment is None:
        raise ValueError("a timestamp is empty")
    return moment


def _value(found: object) -> Decimal:
    return parse_amount(found if isinstance(found, str) else written(found))
