"""How many accelerators a Kubernetes pod asks for, from its resource requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.units import PERCENT

#: Resources that are whole cards, or time slices of one.
_CARDS = frozenset({
    "nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe",
    "habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuron", "aws.amazon.com/neurondevice",
})  # fmt: skip
_CORES, _MEMORY_SHARE, _MEMORY = "nvidia.com/gpucores", "nvidia.com/gpumem-percentage", "nvidia.com/gpumem"
_FRACTIONS = frozenset({_CORES, _MEMORY_SHARE, _MEMORY})
_MIG = re.compile(r"nvidia\.com/mig-(?P<slices>\d)g\.(?P<memory>\d+)gb.*")
_PROFILE = re.compile(r"(?P<slices>\d)g\.(?P<memory>\d+)gb.*")
#: Compute slices of a card that MIG cuts; an A30 has four, known by the 6 GB that each of its slices has.
_SLICES, _SLICES_A30, _SLICE_A30_GB = 7, 4, 6
#: Spelling of kube-state-metrics, in which every sign but letters and digits is `_` -> the resource.
_SANITISED = {re.sub(r"[^a-z0-9]", "_", name): name for name in (*_CARDS, *_FRACTIONS)}
_SANITISED_MIG = re.compile(r"nvidia_com_mig_(\d)g_(\d+)gb(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Accelerators that a pod asks for.

    Parameters
    ----------
    quantity
        Cards; a fraction counts as such. [accelerators]
    whole
        Whether it is counted in whole cards or time slices, so that the slices of the node have still to be applied.
    note
        What is to be said about it; empty when nothing.
    """

    quantity: Decimal
    whole: bool
    note: str = ""


def resource_name(name: str) -> str:
    """Name of an accelerator resource as Kubernetes writes it, from either spelling; empty when it is none."""
    if name in _CARDS or name in _FRACTIONS or _MIG.fullmatch(name):
        return name
    if match := _SANITISED_MIG.fullmatch(name):
        return f"nvidia.com/mig-{match[1]}g.{match[2]}gb{match[3].replace('_', '.')}"
    return _SANITISED.get(name, "")


def mig_share(profile: str) -> Decimal | None:
    """Share of the card that an instance of a MIG profile such as `2g.20gb` is, by compute slices; None if unknown."""
    match = _PROFILE.fullmatch(profile.strip().lower().removeprefix("mig-"))
    if not match:
        return None
    small = int(match["memory"]) == _SLICE_A30_GB * int(match["slices"])
    return money.divide(Decimal(match["slices"]), Decimal(_SLICES_A30 if small else _SLICES))


def asked(requests: Mapping[str, Decimal]) -> Asked | None:
    """Accelerators of one container, from the quantities of its resources; None when it asks for none.

    Notes
    -----
    `gpu: 1` beside `gpucores: 25` is a quarter of a card (HAMi); without cores the share of memory counts. An amount
    of memory alone says no share, as the size of the card is not known here; it counts as the whole card.
    """
    cards = money.add(amount for name, amount in requests.items() if name in _CARDS)
    slices = [
        money.multiply(share, amount)
        for name, amount in requests.items()
        if name.startswith("nvidia.com/mig-") and (share := mig_share(name.partition("/")[2])) is not None
    ]
    fraction = next((requests[name] for name in (_CORES, _MEMORY_SHARE) if requests.get(name)), None)
    if not cards and not slices:
        cards = Decimal(1) if fraction is not None or requests.get(_MEMORY) else Decimal(0)
    if not cards and not slices:
        return None
    note = ""
    if fraction is not None:
        cards = money.divide(money.multiply(cards, min(fraction, PERCENT)), PERCENT)
    elif requests.get(_MEMORY):
        note = "a share that is stated as an amount of memory counts as the whole card"
    return Asked(quantity=money.add([cards, *slices]), whole=fraction is None and not slices, note=note)
