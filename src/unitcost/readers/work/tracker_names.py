"""Names by which runs of a tracker say what they held, what they were for, and which job of a scheduler they are."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from unitcost.facts.pricing import category_named, spot_or_not
from unitcost.facts.work import STATUSES, WORKLOAD_DRIVERS
from unitcost.money import multiply, parse_amount
from unitcost.readers.work.cells import truth_or_none

#: Tags, then parameters, that count the accelerators of the whole run. The first that is there counts.
GPU_TAGS = ("unitcost.gpus", "gpus", "gpu_count", "num_gpus", "n_gpus", "accelerators", "accelerator_count")
GPU_PARAMS = ("num_gpus", "n_gpus", "ngpus", "gpu_count", "gpus", "accelerator_count")
#: Parameters that count the accelerators of one node where one of `NODE_PARAMS` counts the nodes.
PER_NODE_PARAMS = ("gpus_per_node", "devices_per_node", "nproc_per_node", "devices", "gpus")
NODE_PARAMS = ("num_nodes", "nnodes", "nodes")
MODEL_TAGS = ("unitcost.accelerator", "accelerator", "gpu_type", "gpu_model", "accelerator_type")
NODE_TAGS = ("node", "host", "hostname")
TEAM_TAGS = ("team",)
PROJECT_TAGS = ("project",)
KIND_TAG = "unitcost.kind"
STATUS_TAG = "unitcost.status"
#: Tags that hold the state of a trial, as sweepers write it.
TRIAL_STATE_TAGS = ("state", "trial_state", "optuna.state")
SPOT_TAGS = ("spot", "preemptible", "pricing_category", "capacity_type")
#: Tag or parameter, letter case ignored -> scheduler whose job it names.
JOB_NAMES = {
    "slurm_job_id": "slurm", "slurm_jobid": "slurm", "slurm.job_id": "slurm", "kubernetes.pod": "kubernetes",
    "k8s_pod_name": "kubernetes", "pod_name": "kubernetes", "sagemaker_job_name": "sagemaker",
    "training_job_name": "sagemaker",
}  # fmt: skip
#: Job and task of an array, by which its accounting names it.
ARRAY_NAMES = ("slurm_array_job_id", "slurm_array_task_id")


def gpus_of(tags: Mapping[str, str], params: Mapping[str, str]) -> Decimal | None:
    """Accelerators that a run says it held; None when it does not say, or says no number. [accelerators].

    What the tracker saw of the node (`system/gpu.0...`) is no such statement.
    """
    for found in (_first(tags, GPU_TAGS), _per_node(params), _first(params, GPU_PARAMS)):
        if found is not None:
            return _count(found)
    return None


def job_of(tags: Mapping[str, str], params: Mapping[str, str]) -> str:
    """`SCHEDULER:JOB` of the job that a run is part of; empty when it names none. A task of an array is `slurm:8_3`."""
    said = {name.casefold(): value.strip() for name, value in (*params.items(), *tags.items()) if value.strip()}
    if all(name in said for name in ARRAY_NAMES):
        return "slurm:" + "_".join(said[name] for name in ARRAY_NAMES)
    return next((f"{scheduler}:{said[name]}" for name, scheduler in JOB_NAMES.items() if name in said), "")


def pricing_of(tags: Mapping[str, str]) -> str:
    """Pricing category that the tags state; empty when they do not."""
    said = _first(tags, SPOT_TAGS) or ""
    return category_named(said) or spot_or_not(truth_or_none(said)) or ""


def status_of(status: str, tags: Mapping[str, str]) -> str:
    """Status that the tags state or that a pruned trial has, else the given one."""
    said = tags.get(STATUS_TAG, "").strip().casefold()
    if said in STATUSES:
        return said
    state = (_first(tags, TRIAL_STATE_TAGS) or "").casefold().rpartition(".")[2]
    return "pruned" if state == "pruned" or tags.get("pruned", "").casefold() in ("true", "yes", "1") else status


def kind_of(tags: Mapping[str, str], *, is_parent: bool, has_parent: bool) -> str:
    """Kind of workload: as the tags state it, else a sweep, one of its trials, or training."""
    said = tags.get(KIND_TAG, "").strip().casefold()
    if said in WORKLOAD_DRIVERS:
        return said
    return "sweep" if is_parent else "trial" if has_parent else "training"


def named(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Value of the first of these tags that is there; empty when none is."""
    return _first(tags, names) or ""


def _first(values: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((values[name].strip() for name in names if values.get(name, "").strip()), None)


def _per_node(params: Mapping[str, str]) -> str | None:
    nodes, each = _first(params, NODE_PARAMS), _first(params, PER_NODE_PARAMS)
    if nodes is None or each is None:
        return None
    node_count, each_count = _count(nodes), _count(each)
    return None if node_count is None or each_count is None else str(multiply(node_count, each_count))


def _count(text: str) -> Decimal | None:
    try:
        count = parse_amount(text)
    except ValueError:
        return None
    return count if count >= 0 else None
