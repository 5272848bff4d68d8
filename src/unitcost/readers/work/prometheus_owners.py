"""Whose a pod is, as kube-state-metrics tells it: the deployment, job or inference service behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from unitcost.readers.work.prometheus_labels import said

_TEMPLATE_HASH = re.compile(r"(?P<name>.+)-[a-z0-9]{6,10}")
#: Kind of an owner -> kind of workload; others do not tell.
_KINDS = {
    "PyTorchJob": "training", "TFJob": "training", "MPIJob": "training", "XGBoostJob": "training", "TrainJob": "training",
    "JAXJob": "training", "PaddleJob": "training", "Experiment": "sweep", "Trial": "trial",
    "InferenceService": "endpoint", "SeldonDeployment": "endpoint", "LeaderWorkerSet": "endpoint",
    "Notebook": "notebook",
}  # fmt: skip
#: Label of a pod, as kube-state-metrics spells it -> kind of workload.
_LABELS = {
    "serving_kserve_io_inferenceservice": "endpoint", "seldon_deployment_id": "endpoint", "notebook_name": "notebook",
    "training_kubeflow_org_job_name": "training", "katib_kubeflow_org_trial": "trial",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What made a pod."""

    kind: str = ""
    parent: str = ""

    def kind_of_work(self, tags: Mapping[str, str]) -> str | None:
        """Kind of workload, from the owner or the labels of the pod; None when they do not tell."""
        return _KINDS.get(self.kind) or next((kind for label, kind in _LABELS.items() if tags.get(label)), None)


class Owners:
    """Owners of pods, and the deployments behind replica sets."""

    def __init__(self) -> None:
        self._pods: dict[str, tuple[str, str, str]] = {}
        self._replica_sets: dict[tuple[str, str], tuple[str, str]] = {}

    def take_pod(self, pod_id: str, labels: Mapping[str, str]) -> None:
        """Take a series of kube_pod_owner."""
        kind, name = labels.get("owner_kind", ""), labels.get("owner_name", "")
        if kind and name and kind != "<none>":
            self._pods[pod_id] = (said(labels, "namespace"), kind, name)

    def take_replica_set(self, labels: Mapping[str, str]) -> None:
        """Take a series of kube_replicaset_owner."""
        kind, name = labels.get("owner_kind", ""), labels.get("owner_name", "")
        if kind and name and kind != "<none>":
            self._replica_sets[said(labels, "namespace"), labels.get("replicaset", "")] = (kind, name)

    def of(self, pod_id: str) -> Owner:
        """Owner of a pod as `namespace/name`; a replica set stands for the deployment that made it.

        Where the file does not list owners of replica sets, the name without its template hash is the deployment's.
        """
        if pod_id not in self._pods:
            return Owner()
        namespace, kind, name = self._pods[pod_id]
        if kind == "ReplicaSet":
            match = _TEMPLATE_HASH.fullmatch(name)
            guessed = ("Deployment", match["name"]) if match else (kind, name)
            kind, name = self._replica_sets.get((namespace, name), guessed)
        return Owner(kind=kind, parent=f"{namespace}/{name}")
