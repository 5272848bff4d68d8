"""Nodes as kube-state-metrics tells them: how many accelerators of which model, cut into how many slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from unitcost import money
from unitcost.readers.work.accelerators import mig_share, resource_name
from unitcost.readers.work.prometheus_cards import Point, moment
from unitcost.readers.work.prometheus_labels import node_of
from unitcost.readers.work.sink import Sink
from unitcost.units import LEDGER_PLACES

_CAPACITY, _ALLOCATABLE = "kube_node_status_capacity", "kube_node_status_allocatable"
_TYPES = ("node_kubernetes_io_instance_type", "beta_kubernetes_io_instance_type")
_MODELS = ("nvidia_com_gpu_product", "cloud_google_com_gke_accelerator", "amd_com_gpu_product_name")
#: Suffix of the model where cards are shared, and what stands before the profile where all are cut alike by MIG.
_SHARED, _MIG = "-SHARED", "-MIG-"


@dataclass(slots=True)
class _Node:
    """One node."""

    row: int
    listed: dict[str, dict[str, float]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    provider_id: str = ""
    first_s: float | None = None
    last_s: float | None = None


class Nodes:
    """Nodes by name."""

    def __init__(self) -> None:
        self._known: dict[str, _Node] = {}

    def take(self, name: str, labels: Mapping[str, str], points: Sequence[Point], row: int) -> None:
        """Take one series about a node."""
        node = self._known.setdefault(node_of(labels), _Node(row))
        first_s, last_s = float(points[0][0]), float(points[-1][0])
        node.first_s = first_s if node.first_s is None else min(first_s, node.first_s)
        node.last_s = last_s if node.last_s is None else max(last_s, node.last_s)
        if name in (_CAPACITY, _ALLOCATABLE):
            resource = resource_name(labels.get("resource", ""))
            if resource:
                node.listed.setdefault(name, {})[resource] = max(value for _, value in points)
        elif name == "kube_node_labels":
            node.tags.update({k.removeprefix("label_"): v for k, v in labels.items() if k.startswith("label_")})
        elif name == "kube_node_info":
            node.provider_id = labels.get("provider_id", "")

    def model(self, name: str) -> str | None:
        """Model of the cards of a node; None when it is not told."""
        node = self._known.get(name)
        return _product(node).removesuffix(_SHARED).partition(_MIG)[0] or None if node else None

    def share(self, name: str) -> Decimal:
        """Share of a card that one of the listed accelerators of a node is: a time slice, a MIG instance, or all."""
        node = self._known.get(name)
        if node is None:
            return Decimal(1)
        share = mig_share(_product(node).removesuffix(_SHARED).partition(_MIG)[2]) or Decimal(1)
        return money.divide(share, _slices(node) or Decimal(1))

    def write(self, sink: Sink, source: str) -> None:
        """One resource for each node."""
        for name, node in sorted(self._known.items()):
            sink.add(
                "resources", node.row, source=source, resource_id=name, node=name,
                instance_id=node.provider_id.rpartition("/")[2], instance_type=_first(node.tags, _TYPES),
                accelerator=self.model(name), quantity=self._cards(name), replicas=_slices(node),
                started_at=moment(node.first_s), ended_at=moment(node.last_s), tags=node.tags,
            )  # fmt: skip

    def _cards(self, name: str) -> Decimal | None:
        """Cards of a node: as listed, slices and instances folded back into cards; else as its labels count them."""
        node = self._known[name]
        listed = node.listed.get(_CAPACITY) or node.listed.get(_ALLOCATABLE)
        if listed is None:
            counted = _count(node.tags.get("nvidia_com_gpu_count", ""))
            return (
                money.multiply(counted, self.share(name) if _MIG in _product(node) else Decimal(1)) if counted else None
            )
        counts = {resource: Decimal(repr(number)) for resource, number in listed.items()}
        parts = [
            money.multiply(mig_share(resource.partition("/")[2]) or self.share(name), count)
            for resource, count in counts.items()
        ]
        return money.round_places(money.add(parts), LEDGER_PLACES - 1)


def _product(node: _Node) -> str:
    return _first(node.tags, _MODELS)


def _slices(node: _Node) -> Decimal | None:
    return _count(node.tags.get("nvidia_com_gpu_replicas", ""))


def _first(tags: Mapping[str, str], names: Sequence[str]) -> str:
    return next((tags[name] for name in names if tags.get(name)), "")


def _count(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and number > 0 else None
