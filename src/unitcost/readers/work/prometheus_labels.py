"""What labels of a series say: which card, which node, which pod."""

from __future__ import annotations

from collections.abc import Mapping

#: Put by the one who asks, not by the one who is measured: replicas of a Prometheus that see the same thing.
REPLICA_LABELS = frozenset({"prometheus_replica", "__replica__", "__name__"})
#: Container and pod names of the exporter itself, which an idle card carries where nothing else does.
_EXPORTERS = ("dcgm-exporter", "nvidia-dcgm-exporter")
_EXPORTER_CONTAINERS = frozenset({*_EXPORTERS, "exporter"})
_NODES = ("node", "kubernetes_node", "Hostname", "hostname", "nodename")
#: Old spelling of the kubelet -> now.
_OLDER = {"pod": "pod_name", "container": "container_name", "namespace": "pod_namespace"}


def said(labels: Mapping[str, str], name: str) -> str:
    """Value of a label; one that the scraper has moved aside as `exported_...` wins, as it is the measured one's."""
    return labels.get(f"exported_{name}") or labels.get(name) or labels.get(_OLDER.get(name, "")) or ""


def pod_of(labels: Mapping[str, str]) -> str:
    """Pod as `namespace/pod`, or its name alone; empty when there is none or it is the exporter's own."""
    pod = said(labels, "pod")
    if not pod:
        return ""
    if said(labels, "container") in _EXPORTER_CONTAINERS or any(name in pod for name in _EXPORTERS):
        return ""
    namespace = said(labels, "namespace")
    return f"{namespace}/{pod}" if namespace else pod


def node_of(labels: Mapping[str, str]) -> str:
    """Name of the node."""
    return next((value for name in _NODES if (value := said(labels, name))), "")


def card_of(labels: Mapping[str, str]) -> str:
    """UUID of the card; for an instance of a card that MIG cuts, followed by `/` and the id of the instance."""
    uuid = labels.get("UUID") or labels.get("uuid") or labels.get("gpu_uuid") or ""
    instance = labels.get("GPU_I_ID") or ""
    return f"{uuid}/{instance}" if uuid and instance else uuid


def identity(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that a series is known by, sorted, so that the same series is the same in every file."""
    return {name: labels[name] for name in sorted(labels) if name not in REPLICA_LABELS and labels[name] != ""}
