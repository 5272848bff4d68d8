"""What the labels of a counter of useful units say: which service it is about, and whether anybody got something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Labels that name what serves, before the pod's owner and the model.
_SERVICES = ("inferenceservice", "isvc", "inference_service", "serving_kserve_io_inferenceservice")
_MODELS = ("model_name", "model", "model_id")
_PLACES = ("service", "job", "instance")
#: Label -> ends of a request after which nobody got anything.
_BROKEN_OFF = {"finished_reason": frozenset({"abort", "error"})}
#: Values of a label `status` after which somebody did.
_WELL = frozenset({"ok", "success", "200"})


def service_of(labels: Mapping[str, str], workload_id: str, owners: Mapping[str, str]) -> tuple[str, str]:
    """Name of what serves, and what names it.

    In this order: a label of an inference service, the owner of the pod, the model, the pod, where it was scraped.

    Parameters
    ----------
    labels
        Of the series.
    workload_id
        Pod that the series is about; empty when there is none.
    owners
        Pod -> deployment, job or the like that made it, where that is known.
    """
    if found := _first(labels, _SERVICES):
        return labels[found], f"label {found}"
    if workload_id in owners:
        return owners[workload_id], "owner of the pod"
    if found := _first(labels, _MODELS):
        return labels[found], f"label {found}"
    if workload_id:
        return workload_id, "pod"
    found = _first(labels, _PLACES)
    return (labels[found], f"label {found}") if found else ("unknown", "nothing")


def is_useless(labels: Mapping[str, str]) -> bool:
    """Whether a count of requests is one of those that were broken off or failed: attempts, but no useful units."""
    if any(labels.get(label) in ends for label, ends in _BROKEN_OFF.items()):
        return True
    return labels.get("status", "ok").casefold() not in _WELL


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str:
    return next((name for name in names if labels.get(name)), "")
