"""A pod: what it asks for, when it ran, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from unitcost.facts.pricing import spot_or_not
from unitcost.facts.work import CPU
from unitcost.readers.work.cells import BadCellError
from unitcost.readers.work.kubernetes_cards import Cards, Doubts, Node, cards_of, decimal

SOURCE = "kubernetes"
#: Kind of the owner -> kind of workload, where the kind says what the work is.
_KIND_OF_OWNER = {
    **dict.fromkeys(("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "TrainJob"), "training"),
    **dict.fromkeys(("InferenceService", "RayService", "SeldonDeployment", "LLMInferenceService"), "endpoint"),
    "Notebook": "notebook", "Trial": "trial",
}  # fmt: skip
#: Label -> kind of workload.
_KIND_OF_LABEL = {
    "training.kubeflow.org/job-name": "training", "serving.kserve.io/inferenceservice": "endpoint",
    "notebook-name": "notebook", "katib.kubeflow.org/trial": "trial",
}  # fmt: skip
_TEMPLATE_HASH = "pod-template-hash"
#: Reasons of a pod that was ended from outside.
_CUT_SHORT = frozenset(
    {"Evicted", "Preempting", "Preempted", "NodeShutdown", "NodeLost", "Shutdown", "Terminated", "NodeAffinity"}
)
_STATUS_OF = {"": "unknown", "Succeeded": "completed", "Failed": "failed", "Running": "running", "Unknown": "unknown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod, however it was written down.

    Parameters
    ----------
    containers, first
        What the containers that run side by side ask for, and those that run before them, one after the other.
    disrupted
        Whether a condition says that it was ended from outside.
    claims
        Whether it claims devices that its containers do not name.
    """

    namespace: str
    name: str
    node: str = ""
    owner_kind: str = ""
    owner: str = ""
    phase: str = ""
    reason: str = ""
    disrupted: bool = False
    start: datetime | None = None
    end: datetime | None = None
    containers: tuple[Mapping[str, Fraction], ...] = ()
    first: tuple[Mapping[str, Fraction], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    claims: bool = False

    @property
    def workload_id(self) -> str:
        """Name of its workload."""
        return f"{self.namespace}/{self.name}"


def status_of(pod: Pod) -> str:
    """How its life ended, one of `STATUSES`.

    Raises
    ------
    BadCellError
        When Kubernetes has no such phase.
    """
    if pod.disrupted or (pod.phase == "Failed" and pod.reason in _CUT_SHORT):
        return "preempted"
    if pod.phase == "Failed" and pod.reason == "DeadlineExceeded":
        return "timeout"
    if pod.phase == "Pending":
        return "running" if pod.node and pod.start else "never started"
    if pod.phase not in _STATUS_OF:
        raise BadCellError("phase", pod.phase, f"{pod.phase!r} is not Pending, Running, Succeeded, Failed or Unknown")
    return _STATUS_OF[pod.phase]


def workload_of(pod: Pod, status: str) -> dict[str, Any]:
    """Values of its workload."""
    kind = _KIND_OF_OWNER.get(pod.owner_kind, "") or next(
        (kind for label, kind in _KIND_OF_LABEL.items() if label in pod.labels), ""
    )
    owner_kind, owner = _template_of(pod)
    memory = sum((asked.get("memory", Fraction(0)) for asked in pod.containers), Fraction(0))
    told = {"namespace": pod.namespace, "node": pod.node, "owner_kind": owner_kind, "owner": owner, "phase": pod.phase,
            "reason": pod.reason}  # fmt: skip
    return {
        "source": SOURCE, "workload_id": pod.workload_id, "kind": kind, "name": pod.name, "account": pod.namespace,
        "parent": f"{pod.namespace}/{owner}" if owner else "", "status": status, "started_at": pod.start,
        "ended_at": pod.end, "metrics": {"memory_bytes": int(memory) or None},
        "tags": {**pod.labels, **pod.tags, **{name: text for name, text in told.items() if text}},
    }  # fmt: skip


def _template_of(pod: Pod) -> tuple[str, str]:
    """Owner of the pod; of a replica set that a deployment made, the deployment."""
    ending = f"-{pod.labels.get(_TEMPLATE_HASH, '')}"
    if pod.owner_kind == "ReplicaSet" and len(ending) > 1 and pod.owner.endswith(ending):
        return "Deployment", pod.owner.removesuffix(ending)
    return pod.owner_kind, pod.owner


def holdings_of(pod: Pod, status: str, node: Node, doubts: Doubts) -> list[dict[str, Any]]:
    """What it held: cards of each accelerator, and processor cores; nothing when it never started."""
    if pod.start is None:
        return []
    cards = _largest([_total([cards_of(asked, node, doubts) for asked in pod.containers]),
                      *(cards_of(asked, node, doubts) for asked in pod.first)])  # fmt: skip
    cores = _largest([_total([_cores(asked) for asked in pod.containers]), *(_cores(asked) for asked in pod.first)])
    life = {
        "source": SOURCE, "workload_id": pod.workload_id, "status": status, "node": pod.node, "started_at": pod.start,
        "ended_at": pod.end, "pricing_category": spot_or_not(node.spot),
    }  # fmt: skip
    return [
        {**life, "accelerator": name, "quantity": None if number is None else decimal(number)}
        for name, number in {**cards, **cores}.items()
        if number != 0
    ]


def _cores(asked: Mapping[str, Fraction]) -> Cards:
    return {CPU: asked["cpu"]} if "cpu" in asked else {}


def _total(parts: Iterable[Cards]) -> Cards:
    total: Cards = {}
    for part in parts:
        for name, number in part.items():
            known = total.get(name, Fraction(0))
            total[name] = None if known is None or number is None else known + number
    return total


def _largest(ways: Iterable[Cards]) -> Cards:
    """For each accelerator the most that is needed at one time; unknown as soon as one is."""
    most: Cards = {}
    for way in ways:
        for name, number in way.items():
            known = most.get(name, Fraction(0))
            most[name] = None if known is None or number is None else max(known, number)
    return most
