"""Pods and nodes from kube-state-metrics: workloads, what they hold, and what there is to hold.

A pod holds accelerators from the first sample that lists its request to one step after the last; where the file has
the phases of pods, only while it is running, as requests are listed before a pod is placed and after it has ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from unitcost import money
from unitcost.readers.work.accelerators import Asked, asked, resource_name
from unitcost.readers.work.prometheus_cards import FIRST_S, LAST_S, Point, moment
from unitcost.readers.work.prometheus_labels import node_of, said
from unitcost.readers.work.prometheus_nodes import Nodes
from unitcost.readers.work.prometheus_owners import Owners
from unitcost.readers.work.prometheus_spans import Span, Spans, common
from unitcost.readers.work.sink import Sink

SOURCE = "kubernetes"
_RUNNING = "Running"
#: Phase of a pod -> status of its workload.
_STATUSES = {"Running": "running", "Succeeded": "completed", "Failed": "failed"}
_REQUESTS, _LIMITS = "kube_pod_container_resource_requests", "kube_pod_container_resource_limits"
_NO_PHASES = (
    "The file has no `kube_pod_status_phase`: pods count as holding as long as their requests are listed, the time "
    "before they are placed and after they have ended included."
)
_NO_STEP = (
    "Some pods are seen at one moment only, which does not tell for how long they held anything; ask for a range."
)


@dataclass(slots=True)
class _Pod:
    """What is known of one life of a pod."""

    row: int
    node: str = ""
    asked: dict[str, dict[str, dict[str, tuple[Decimal, Spans]]]] = field(default_factory=dict)
    phases: dict[str, Spans] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    started_s: float | None = None
    ended_s: float | None = None


class Kube:
    """Takes series of kube-state-metrics; writes what they say at the end of the file."""

    def __init__(self) -> None:
        self.step_s: float | None = None
        self._pods: dict[tuple[str, str], _Pod] = {}
        self._nodes = Nodes()
        self._owners = Owners()
        self._notes: dict[str, int] = defaultdict(int)
        self._has_phases = False

    def take(self, name: str, labels: Mapping[str, str], points: Sequence[Point], row: int) -> None:
        """Take one series of a metric of `KUBE`."""
        if not points:
            return
        if name.startswith("kube_node_"):
            self._nodes.take(name, labels, points, row)
        elif name == "kube_replicaset_owner":
            self._owners.take_replica_set(labels)
        else:
            pod = self._pod(labels, row)
            self._take_pod(name, pod, labels, points)

    def _pod(self, labels: Mapping[str, str], row: int) -> _Pod:
        key = (f"{said(labels, 'namespace')}/{said(labels, 'pod')}", labels.get("uid", ""))
        return self._pods.setdefault(key, _Pod(row))

    def _take_pod(self, name: str, pod: _Pod, labels: Mapping[str, str], points: Sequence[Point]) -> None:
        if name in (_REQUESTS, _LIMITS):
            self._ask(name, pod, labels, points)
        elif name == "kube_pod_status_phase":
            self._has_phases = True
            phase = pod.phases.setdefault(labels.get("phase", ""), Spans())
            phase.see([float(at) for at, value in points if value == 1])
        elif name == "kube_pod_owner":
            self._owners.take_pod(f"{said(labels, 'namespace')}/{said(labels, 'pod')}", labels)
        elif name == "kube_pod_labels":
            pod.tags.update(
                {key.removeprefix("label_"): value for key, value in labels.items() if key.startswith("label_")}
            )
        elif name == "kube_pod_start_time":
            pod.started_s = _plausible(points[-1][1])
        elif name == "kube_pod_completion_time":
            pod.ended_s = _plausible(points[-1][1])

    def _ask(self, name: str, pod: _Pod, labels: Mapping[str, str], points: Sequence[Point]) -> None:
        resource = resource_name(labels.get("resource", ""))
        if not resource:
            return
        pod.node = node_of(labels) or pod.node
        container = pod.asked.setdefault(name, {}).setdefault(said(labels, "container"), {})
        _, spans = container.get(resource, (Decimal(0), Spans()))
        spans.see([float(at) for at, value in points if value > 0])
        most = max((value for _, value in points if value > 0), default=0.0)
        container[resource] = (Decimal(repr(most)), spans)

    # --- the end --------------------------------------------------------------------------------------------

    def write(self, sink: Sink) -> list[str]:
        """Write workloads, holdings and nodes; returns what is to be said."""
        self._nodes.write(sink, SOURCE)
        step_s = self.step_s or min((s for s in self._steps() if s), default=None)
        for (pod_id, _), pod in sorted(self._pods.items()):
            self._write_workload(sink, pod_id, pod)
            self._write_holdings(sink, pod_id, pod, step_s)
        if any(pod.asked for pod in self._pods.values()) and not self._has_phases:
            self._notes[_NO_PHASES] += 1
        return list(self._notes)

    def _steps(self) -> Iterable[float | None]:
        for pod in self._pods.values():
            yield from (spans.step_s for spans in pod.phases.values())
            yield from (spans.step_s for _, spans in _leaves(pod))

    def _write_workload(self, sink: Sink, pod_id: str, pod: _Pod) -> None:
        namespace, _, name = pod_id.partition("/")
        owner = self._owners.of(pod_id)
        sink.add(
            "workloads", pod.row, source=SOURCE, workload_id=pod_id, kind=owner.kind_of_work(pod.tags), name=name,
            parent=owner.parent, account=namespace, status=_status(pod), started_at=moment(pod.started_s),
            ended_at=moment(pod.ended_s), tags=pod.tags | ({"owner_kind": owner.kind} if owner.kind else {}),
        )  # fmt: skip

    def _write_holdings(self, sink: Sink, pod_id: str, pod: _Pod, step_s: float | None) -> None:
        quantity, spans = self._held(pod, step_s)
        if not quantity:
            return
        for start, end in spans:
            if start == end and pod.started_s is not None and pod.started_s < start:
                start = pod.started_s
            elif start == end:
                self._notes[_NO_STEP] += 1
            sink.add(
                "holdings", pod.row, source=SOURCE, workload_id=pod_id, status=_status(pod), node=pod.node,
                accelerator=self._nodes.model(pod.node), quantity=quantity, started_at=moment(start),
                ended_at=moment(end),
            )  # fmt: skip

    def _held(self, pod: _Pod, step_s: float | None) -> tuple[Decimal | None, list[Span]]:
        """Accelerators that a pod holds, and when."""
        found: list[Asked] = []
        for container in {name for containers in pod.asked.values() for name in containers}:
            said_by = next(c[container] for n in (_REQUESTS, _LIMITS) if container in (c := pod.asked.get(n, {})))
            part = asked({resource: amount for resource, (amount, _) in said_by.items()})
            if part:
                found.append(part)
        if not found:
            return None, []
        self._notes.update({f"{part.note[:1].upper()}{part.note[1:]}.": 1 for part in found if part.note})
        share = self._nodes.share(pod.node)
        quantity = money.add(money.multiply(part.quantity, share) if part.whole else part.quantity for part in found)
        listed = Spans.union([spans for _, spans in _leaves(pod)]).spans(step_s)
        if not self._has_phases or not pod.phases:
            return quantity, listed
        running = pod.phases.get(_RUNNING, Spans()).spans(step_s)
        return quantity, common(listed, running)


def _leaves(pod: _Pod) -> Iterable[tuple[Decimal, Spans]]:
    for containers in pod.asked.values():
        for resources in containers.values():
            yield from resources.values()


def _plausible(at_s: float) -> float | None:
    return at_s if FIRST_S <= at_s < LAST_S else None


def _status(pod: _Pod) -> str:
    """Status of the phase that was seen last."""
    seen = {phase: spans.last_s for phase, spans in pod.phases.items() if spans.last_s is not None}
    last = max(seen, key=lambda phase: (seen[phase], phase), default="")
    return _STATUSES.get(last, "unknown")
