"""How many cards the resources of a pod or of a node are, in the ways in which Kubernetes shares cards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil

from unitcost.facts.slices import profile_in, slice_share
from unitcost.facts.work import ANY_GPU
from unitcost.money import parse_amount
from unitcost.units import KB, KIB, LEDGER_PLACES, PERCENT

GPU = "nvidia.com/gpu"
_MIG = "nvidia.com/mig-"
_SHARED = ".shared"
#: Resource -> accelerator, for those that are handed out whole.
_WHOLE = {
    GPU: ANY_GPU, "amd.com/gpu": ANY_GPU, "gpu.intel.com/i915": ANY_GPU, "gpu.intel.com/xe": ANY_GPU,
    "google.com/tpu": "tpu", "aws.amazon.com/neuron": "neuron", "aws.amazon.com/neurondevice": "neuron",
    "aws.amazon.com/neuroncore": "neuroncore", "habana.ai/gaudi": "gaudi",
}  # fmt: skip
#: Resources of plug-ins that cut cards: how many parts, and of each part its cores [percent of a card], its memory
#: [MiB] and its memory [percent of a card].
_PARTS = (
    (GPU, "nvidia.com/gpucores", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage"),
    ("volcano.sh/vgpu-number", "volcano.sh/vgpu-cores", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage"),
)
#: Labels of a node that name its accelerator.
_PRODUCTS = (
    "nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator", "karpenter.k8s.aws/instance-gpu-name", "k8s.amazonaws.com/accelerator",
)  # fmt: skip
_REPLICAS = ("nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu")
_PARTITION = "cloud.google.com/gke-gpu-partition-size"
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?\d{1,2})?)(n|u|m|k|Ki|[MGTPE]i?)?", re.ASCII)
_SUFFIXES = {
    "n": Fraction(1, KB**3), "u": Fraction(1, KB**2), "m": Fraction(1, KB), "k": Fraction(KB), "Ki": Fraction(KIB),
    **{letter: Fraction(KB**power) for letter, power in zip("MGTPE", range(2, 7), strict=True)},
    **{f"{letter}i": Fraction(KIB**power) for letter, power in zip("MGTPE", range(2, 7), strict=True)},
}  # fmt: skip


def quantity(text: str) -> Fraction:
    """Quantity as Kubernetes writes it: `500m` is a half, `64Gi` are 64 times 2 to the 30th.

    Raises
    ------
    ValueError
        When it is none, or is negative.
    """
    found = _QUANTITY.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text.strip()!r} is not a quantity such as 1, 500m or 64Gi")
    value = Fraction(parse_amount(found[1])) * _SUFFIXES.get(found[2] or "", Fraction(1))
    if value < 0:
        raise ValueError(f"{text.strip()!r} is negative")
    return value


def decimal(value: Fraction) -> Decimal:
    """Number with the places that the ledger keeps."""
    return Decimal(round(value * 10**LEDGER_PLACES)).scaleb(-LEDGER_PLACES)


@dataclass(slots=True)
class Doubts:
    """What could not be told about cards, counted."""

    seen: Counter[str] = field(default_factory=Counter)

    def flags(self) -> tuple[str, ...]:
        """One sentence for each."""
        return tuple(sentence.format(n=f"{self.seen[key]:,}") for key, sentence in _SENTENCES.items() if self.seen[key])


_SENTENCES = {
    "replicas": "Requests for time slices of a card of which nothing says how many it has, so that how much they hold is "
    "unknown: {n}. Load the nodes in the same file.",
    "memory": "Requests for memory (gpumem) of a card of unknown size, without cores or a percentage, so that how much they "
    "hold is unknown: {n}. Load the nodes in the same file.",
    "profile": "Requests for instances of a card of an unknown size, each of which counts as a whole card: {n}.",
    "claims": "Pods that claim devices through resourceClaims, which do not say in the pod what they hold: {n}.",
    "split": "Nodes whose cards a plug-in cuts and whose labels lack nvidia.com/gpu.count, so that how many cards they have "
    "is unknown: {n}.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What the labels of a node say about its cards.

    Parameters
    ----------
    product
        Name of the accelerator; empty when not known.
    profile
        Instance that each GPU of the node is, when it hands out instances under the name of whole GPUs.
    replicas
        Time slices of each card; None when the node does not say.
    renamed
        Whether only resources called `.shared` are time slices.
    memory_mib
        Of one card.
    cards
        How many cards it has.
    spot
        Whether it is spot capacity; None when no label says.
    """

    product: str = ""
    profile: str = ""
    replicas: int | None = None
    renamed: bool = True
    memory_mib: int | None = None
    cards: int | None = None
    spot: bool | None = None


UNKNOWN_NODE = Node()


def node_of(labels: Mapping[str, str]) -> Node:
    """What labels say."""
    product = next((labels[name] for name in _PRODUCTS if labels.get(name)), "")
    profile = profile_in(labels.get(_PARTITION, "")) or profile_in(product)
    shared = product.endswith("-SHARED") or any(name in labels for name in _REPLICAS[1:])
    replicas = next((_whole(labels[name]) for name in _REPLICAS if name in labels), None)
    return Node(
        product=re.sub(r"-(SHARED|MIG-.*)$", "", product), profile=profile, replicas=replicas, renamed=not shared,
        memory_mib=None if profile else _whole(labels.get("nvidia.com/gpu.memory", "")),
        cards=None if profile else _whole(labels.get("nvidia.com/gpu.count", "")), spot=_is_spot(labels),
    )  # fmt: skip


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) else None


def _is_spot(labels: Mapping[str, str]) -> bool | None:
    words = [
        labels[name].casefold()
        for name in (
            "karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType", "cloud.google.com/gke-spot",
            "cloud.google.com/gke-preemptible", "cloud.google.com/gke-provisioning", "kubernetes.azure.com/scalesetpriority",
        )
        if name in labels
    ]  # fmt: skip
    if not words:
        return None
    return any(word in ("spot", "preemptible", "true") for word in words)


#: Accelerator -> how many, None when it cannot be told.
Cards = dict[str, Fraction | None]


def cards_of(resources: Mapping[str, Fraction], node: Node, doubts: Doubts) -> Cards:
    """Cards that the resources of a container are, by accelerator."""
    found: Cards = {}
    for count, cores, memory, percent in _PARTS:
        asked = {name: resources[name] for name in (cores, memory, percent) if resources.get(name)}
        if asked:
            share = _part(asked.get(cores), asked.get(memory), asked.get(percent), node, doubts)
            _add(found, node.product or ANY_GPU, _times(resources.get(count, Fraction(1)) or Fraction(1), share))
            resources = {name: number for name, number in resources.items() if name != count}
    for name, number in resources.items():
        plain = name.removesuffix(_SHARED)
        if number and (plain in _WHOLE or plain.startswith(_MIG)):
            share = _shared(name, node, doubts) if name != plain or (plain == GPU and not node.renamed) else Fraction(1)
            share = _times(_instance(plain, node, doubts), share)
            _add(found, _accelerator(plain, node), _times(number, share))
    return found


def _part(
    cores: Fraction | None, memory_mib: Fraction | None, percent: Fraction | None, node: Node, doubts: Doubts
) -> Fraction | None:
    """Part of a card that a plug-in reserves: the larger of the parts of its cores and of its memory."""
    whole = Fraction(PERCENT)
    shares = [number / whole for number in (cores, percent) if number]
    if memory_mib and node.memory_mib:
        shares.append(memory_mib / node.memory_mib)
    if not shares:
        doubts.seen["memory"] += 1
        return None
    return min(max(shares), Fraction(1))


def _shared(name: str, node: Node, doubts: Doubts) -> Fraction | None:
    if node.replicas is None:
        doubts.seen["replicas"] += 1
        return None
    return Fraction(1, node.replicas)


def _instance(name: str, node: Node, doubts: Doubts) -> Fraction:
    """Part of a card that one unit of a resource is."""
    profile = name.removeprefix(_MIG) if name.startswith(_MIG) else node.profile if name == GPU else ""
    if not profile:
        return Fraction(1)
    share = slice_share(profile, node.product)
    doubts.seen["profile"] += share is None
    return Fraction(1) if share is None else share


def _accelerator(name: str, node: Node) -> str:
    plain = _WHOLE.get(name, ANY_GPU)
    return node.product or plain if plain in (ANY_GPU, "tpu") else plain


def _times(number: Fraction | None, share: Fraction | None) -> Fraction | None:
    return None if number is None or share is None else number * share


def _add(cards: Cards, accelerator: str, number: Fraction | None) -> None:
    known = cards.get(accelerator, Fraction(0))
    cards[accelerator] = None if known is None or number is None else known + number


def capacity_of(resources: Mapping[str, Fraction], node: Node, doubts: Doubts, *, cut: bool) -> Cards:
    """Whole cards of a node, by accelerator; `cut` tells whether a plug-in cuts them and counts the parts as cards."""
    if node.cards is not None and any(name.startswith("nvidia.com/") for name in resources):
        return {node.product or ANY_GPU: Fraction(node.cards)}
    if cut:
        doubts.seen["split"] += 1
        return {node.product or ANY_GPU: None}
    found = cards_of(resources, node, doubts)
    return {name: None if number is None else Fraction(ceil(number)) for name, number in found.items() if number != 0}
