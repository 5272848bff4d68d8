"""What a cold start of a replica is made of, where nobody measured it."""

from __future__ import annotations

from dataclasses import dataclass

from unitcost.errors import UnknownName
from unitcost.machine.steps import Served
from unitcost.measure.labels import known_model
from unitcost.measure.step_times import decoder
from unitcost.serving.fleet import ColdStart
from unitcost.units import GB


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdAsk:
    """What is said of cold starts; as shipped a minute for the machine, the image and the warm-up each.

    Parameters
    ----------
    total_s
        From nothing to ready, [s]; None: the sum of the parts.
    provision_s, image_s, warm_up_s
        Until the machine is there; fetching the image; compiling and capturing graphs. [s]
    load_gb_per_s
        How fast weights are read, by each GPU of a replica. [GB / s]
    wake_s
        From the warm pool to ready. [s]
    """

    total_s: float | None = None
    provision_s: float = 60.0
    image_s: float = 60.0
    warm_up_s: float = 60.0
    load_gb_per_s: float = 2.0
    wake_s: float = 2.0


def cold_start(served: Served, said: ColdAsk | None = None) -> ColdStart:
    """Cold start of a replica: ``provision + image + weights / (GPUs * rate) + warm-up``, or what was said in all."""
    ask = said or ColdAsk()
    if ask.total_s is not None:
        return ColdStart(image_s=ask.total_s, wake_s=ask.wake_s)
    try:
        weights_bytes = decoder(known_model(served.model)).weights_bytes(served.precision)
    except UnknownName:
        weights_bytes = 0.0
    return ColdStart(
        provision_s=ask.provision_s, image_s=ask.image_s, weights_bytes=weights_bytes,
        bandwidth_bytes_per_s=ask.load_gb_per_s * GB * served.gpus, warm_up_s=ask.warm_up_s, wake_s=ask.wake_s,
    )  # fmt: skip


def cold_words(cold: ColdStart, said: ColdAsk) -> str:
    """A cold start for a reader."""
    if said.total_s is not None:
        return f"{cold.total_s:,.0f} s, as given"
    return (
        f"{cold.total_s:,.0f} s: machine {cold.provision_s:g} s, image {cold.image_s:g} s, {cold.weights_bytes / GB:,.0f} GB of "
        f"weights at {said.load_gb_per_s:g} GB/s and GPU {cold.weights_bytes / cold.bandwidth_bytes_per_s:,.0f} s, warm-up "
        f"{cold.warm_up_s:g} s"
    )
