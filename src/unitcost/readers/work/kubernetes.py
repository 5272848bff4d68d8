"""Kubernetes: pods and nodes of `kubectl get -o json`, or an own table of pods."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import CPU, WorkTable
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.tables import Broken
from unitcost.readers.work import json_stream
from unitcost.readers.work.cells import BadCellError, read_cell
from unitcost.readers.work.kubernetes_cards import UNKNOWN_NODE, Doubts, Node, capacity_of, decimal, node_of, quantity
from unitcost.readers.work.kubernetes_pods import SOURCE, Pod, holdings_of, status_of, workload_of
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.own_tables import TIMES, json_labels, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, add_record, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "kubernetes"
CONVENTIONS = (
    "Pods and nodes come from `kubectl get nodes,pods -A -o json`, or pods from a table with the columns namespace, pod, "
    "node, owner_kind, owner, started_at, ended_at, phase, reason, and requests: a JSON object of resources, or a column "
    "per resource such as nvidia.com/gpu, cpu and memory. labels and node_labels are JSON objects.",
    "A pod is a workload named namespace/pod; its owner is the parent, for a replica set of a deployment the deployment. "
    "It holds what it asks for, used or not, from status.startTime until its last container has ended.",
    "Asked for is the larger of what the containers need together and what the largest init container needs; a limit "
    "without a request is a request.",
    "nvidia.com/mig-1g.5gb is one seventh of a card: of compute and memory slices in NVIDIA's MIG User Guide the larger "
    "part counts. Where the node hands out instances as nvidia.com/gpu, its label gpu.product says which.",
    "nvidia.com/gpu.shared is a time slice: one part in nvidia.com/gpu.replicas of a card, a label of the node.",
    "With nvidia.com/gpucores (percent), gpumem (MiB) or gpumem-percentage, nvidia.com/gpu counts parts of cards, each as "
    "large as the largest of the three.",
    "amd.com/gpu, google.com/tpu, aws.amazon.com/neuron, habana.ai/gaudi are whole devices; neuroncores are counted apart.",
    "The kind of a workload is told only by owners and labels that mean it: jobs of the Kubeflow training operator, KServe "
    "and Ray services, notebooks, Katib trials.",
    "Other objects of a list, such as services, are left out.",
    "Rows of one pod in the own table are its lives, in their order; its workload is told by the first.",
    "A pod that was evicted, preempted or lost its node counts as preempted. A pod without an end still runs.",
    TIMES,
)
DEFINING = ("namespace", "pod", "started_at")
_KIND = re.compile(rb'"kind"\s*:\s*"(Pod|Node)(List)?"')
#: Annotation by which a plug-in that cuts cards registers those of a node.
_CUTTER = "hami.io/node-"
_MOST_NAMED = 5
_OWN = ("namespace", "pod", "node", "owner_kind", "owner", "phase", "reason")


def sniff(head: Head) -> int:
    """How sure: a document whose objects are pods or nodes, or how many columns of the own table are there."""
    if head.format == "document":
        start = head.data.lstrip(b"\xef\xbb\xbf \t\r\n")
        return 10 if start.startswith(b"{") and b'"apiVersion"' in start and _KIND.search(start) else 0
    return head.count(*_OWN, "started_at", "ended_at", "requests", "labels") if head.has(*DEFINING) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read pods and nodes; see `WorkReader`."""
    reading = _Reading(sink=sink, times=times_of(options, source.name))
    if source.format != "document":
        fill_rows(source, sink, progress, reading.of_row, _folded)
        return Told(dialect="pods, own table", conventions=CONVENTIONS, flags=reading.flags())
    for item in _items(source, None):
        if isinstance(item, dict) and item.get("kind") == "Node":
            reading.nodes[_text(item, "metadata", "name")] = node_of(_labels(item))
    for item in _items(source, progress):
        reading.take(item)
    return Told(dialect="kubectl JSON", conventions=CONVENTIONS, flags=reading.flags())


def _folded(column: str) -> str:
    return column.casefold() if "/" not in column and "." not in column else column


def _items(source: Source, progress: Progress | None) -> Iterator[Any]:
    """Objects of a list, or objects that stand one after the other; in a list of one kind they have that of the list."""
    of_list = _KIND.search(source.data)
    found = False
    for item in json_stream.values(source, "items.item", progress):
        if isinstance(item, Broken) and not found:
            break
        found = True
        if isinstance(item, dict) and "kind" not in item and of_list and of_list[2]:
            item["kind"] = of_list[1].decode()
        yield item
    if not found:
        for item in json_stream.values(source, "", progress):
            if not (isinstance(item, dict) and item.get("items") == []):
                yield item


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What has been read of one file."""

    sink: Sink
    times: LocalTimes
    nodes: dict[str, Node] = field(default_factory=dict)
    lives: dict[str, int] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    doubts: Doubts = field(default_factory=Doubts)

    def take(self, item: Any) -> None:
        """Read one object of a document."""
        number = self.sink.read()
        if isinstance(item, Broken):
            self.sink.reject(number, item.reason, item.raw)
            return

        def make() -> Rows:
            kind = item.get("kind") if isinstance(item, dict) else None
            if kind == "Pod":
                return self._rows(
                    _pod_of(item, self.times), self.nodes.get(_text(item, "spec", "nodeName"), UNKNOWN_NODE)
                )
            if kind == "Node":
                return self._resources(item)
            if not isinstance(kind, str):
                raise ValueError("this is JSON, but neither a pod nor a node")
            self.others[kind] += 1
            return []

        add_record(self.sink, number, make, lambda: json.dumps(item, default=str, ensure_ascii=False))

    def of_row(self, cells: dict[str, str]) -> Rows:
        """Rows of the ledger for a row of the own table."""
        for name in ("namespace", "pod"):
            if name not in cells:
                raise BadCellError(name, "", f"{name} is missing")
        start, end = self.times.period(
            cells.get("started_at", ""), cells.get("ended_at", ""), None, columns=("started_at", "ended_at")
        )
        labels = {
            name: read_cell(name, cells.get(name, "{}"), json_labels) for name in ("labels", "node_labels", "requests")
        }
        asked = {name: read_cell("requests", text, quantity) for name, text in labels["requests"].items()}
        asked |= {name: read_cell(name, text, quantity) for name, text in cells.items() if _is_resource(name)}
        known = (*_OWN, "started_at", "ended_at", *labels)
        pod = Pod(
            namespace=cells["namespace"], name=cells["pod"], node=cells.get("node", ""),
            owner_kind=cells.get("owner_kind", ""), owner=cells.get("owner", ""), phase=cells.get("phase", ""),
            reason=cells.get("reason", ""), start=start, end=end, containers=(asked,), labels=labels["labels"],
            tags={name: text for name, text in cells.items() if name not in known and not _is_resource(name)},
        )  # fmt: skip
        return self._rows(pod, node_of(labels["node_labels"]))

    def _rows(self, pod: Pod, node: Node) -> Rows:
        if not pod.name:
            raise ValueError("the pod has no name")
        status = status_of(pod)
        attempt = self.lives.get(pod.workload_id, 0) + 1
        held = holdings_of(pod, status, node, self.doubts)
        rows: list[tuple[WorkTable, dict[str, Any]]] = [("holdings", {**each, "attempt": attempt}) for each in held]
        if attempt == 1:
            rows.append(("workloads", workload_of(pod, status)))
        self.lives[pod.workload_id] = attempt
        self.doubts.seen["claims"] += pod.claims
        return rows

    def _resources(self, item: dict[str, Any]) -> Rows:
        name = _text(item, "metadata", "name")
        labels, node = _labels(item), self.nodes.get(name, UNKNOWN_NODE)
        stated = {key: read_cell(key, str(text), quantity) for key, text in _object(item, "status", "capacity").items()}
        cut = any(key.startswith(_CUTTER) for key in _object(item, "metadata", "annotations"))
        cards = capacity_of(stated, node, self.doubts, cut=cut)
        if "cpu" in stated:
            cards[CPU] = stated["cpu"]
        provider_id = _text(item, "spec", "providerID")
        about = {
            "source": SOURCE, "resource_id": name, "node": name, "instance_id": provider_id.rpartition("/")[2],
            "instance_type": labels.get("node.kubernetes.io/instance-type"), "tags": labels,
            "started_at": self.times.period(_text(item, "metadata", "creationTimestamp"), "", None)[0],
        }  # fmt: skip
        rows: list[tuple[WorkTable, dict[str, Any]]] = []
        for key, number in cards.items():
            replicas = None if key == CPU else node.replicas
            count = None if number is None else decimal(number)
            rows.append(("resources", {**about, "accelerator": key, "quantity": count, "replicas": replicas}))
        return rows

    def flags(self) -> tuple[str, ...]:
        """What the file made necessary."""
        left = ", ".join(f"{kind[:60]} {count:,}" for kind, count in self.others.most_common(_MOST_NAMED))
        said = (f"Objects that are neither pods nor nodes are left out: {left}.",) if left else ()
        return (*said, *self.doubts.flags(), *self.times.flags())


def _is_resource(name: str) -> bool:
    return "/" in name or name in ("cpu", "memory")


def _at(item: Any, *path: str) -> Any:
    """Value at a path of an object, None where there is none."""
    for name in path:
        item = item.get(name) if isinstance(item, dict) else None
    return item


def _text(item: Any, *path: str) -> str:
    found = _at(item, *path)
    return found if isinstance(found, str) else ""


def _object(item: Any, *path: str) -> dict[str, Any]:
    found = _at(item, *path)
    return found if isinstance(found, dict) else {}


def _objects(item: Any, *path: str) -> list[dict[str, Any]]:
    found = _at(item, *path)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _labels(item: Any) -> dict[str, str]:
    return {name: str(text) for name, text in _object(item, "metadata", "labels").items() if text is not None}


def _pod_of(item: dict[str, Any], times: LocalTimes) -> Pod:
    """Pod of its JSON."""
    owner: dict[str, Any] = next((o for o in _objects(item, "metadata", "ownerReferences") if o.get("controller")), {})
    phase = _text(item, "status", "phase")
    ended = max(_ends(item), default="") if phase in ("Succeeded", "Failed") else ""
    start, end = times.period(
        _text(item, "status", "startTime"), ended, None, columns=("status.startTime", "finishedAt")
    )
    before = _objects(item, "spec", "initContainers")
    beside = [*_objects(item, "spec", "containers"), *(c for c in before if c.get("restartPolicy") == "Always")]
    return Pod(
        namespace=_text(item, "metadata", "namespace") or "default", name=_text(item, "metadata", "name"),
        node=_text(item, "spec", "nodeName"), owner_kind=_text(owner, "kind"), owner=_text(owner, "name"), phase=phase,
        reason=_text(item, "status", "reason"), disrupted=_disrupted(item), start=start, end=end, labels=_labels(item),
        containers=tuple(_asked(c) for c in beside), first=tuple(_asked(c) for c in before if c not in beside),
        claims=bool(_objects(item, "spec", "resourceClaims")),
    )  # fmt: skip


def _asked(container: dict[str, Any]) -> dict[str, Fraction]:
    """What a container asks for; what it states as a limit only, it asks for too."""
    stated = {**_object(container, "resources", "limits"), **_object(container, "resources", "requests")}
    return {name: read_cell(name, str(text), quantity) for name, text in stated.items()}


def _disrupted(item: dict[str, Any]) -> bool:
    conditions = _objects(item, "status", "conditions")
    return any(c.get("type") == "DisruptionTarget" and c.get("status") == "True" for c in conditions)


def _ends(item: dict[str, Any]) -> Iterator[str]:
    """When the containers of a pod have ended, as they are written: all in UTC and in one form, so they sort as text."""
    for name in ("containerStatuses", "initContainerStatuses"):
        for container in _objects(item, "status", name):
            ended = _text(container, "state", "terminated", "finishedAt")
            if ended:
                yield ended
