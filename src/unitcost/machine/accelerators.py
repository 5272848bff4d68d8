"""What accelerators can do at most: dense operations a second and memory, as their vendors state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from unitcost.errors import UnknownName
from unitcost.units import TERA

Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "fp4"]
PRECISIONS: tuple[Precision, ...] = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An accelerator's limits.

    Parameters
    ----------
    name, family
        As the price book names them: `H100-80GB` of the family `H100`.
    memory_gib
        Memory of one device. [GiB]
    dense_tflop_per_s
        Dense peak by precision; a precision that the chip lacks is absent. [TFLOP / s]
    """

    name: str
    family: str
    memory_gib: float
    dense_tflop_per_s: dict[Precision, float]

    def peak_flop_per_s(self, precision: Precision) -> float:
        """Dense peak. [FLOP / s].

        Raises
        ------
        UnknownName
            When the chip has no such precision; the message names those it has.
        """
        if precision not in self.dense_tflop_per_s:
            raise UnknownName(f"precision of {self.name}", precision, self.dense_tflop_per_s)
        return self.dense_tflop_per_s[precision] * TERA


def _chip(name: str, memory_gib: float, family: str = "", **peaks: float) -> Chip:
    order = {precision: peaks[precision] for precision in PRECISIONS if precision in peaks}
    return Chip(name=name, family=family or name, memory_gib=memory_gib, dense_tflop_per_s=order)


#: Vendors' data sheets: dense peaks; where a sheet states them with sparsity, half of that.
CHIPS: tuple[Chip, ...] = (
    _chip("K80", 12, fp32=4.4),
    _chip("P100", 16, fp32=10.6, fp16=21.2),
    _chip("V100-16GB", 16, "V100", fp32=15.7, fp16=125),
    _chip("V100-32GB", 32, "V100", fp32=15.7, fp16=125),
    _chip("T4", 16, fp32=8.1, fp16=65),
    _chip("A100-40GB", 40, "A100", fp32=19.5, tf32=156, fp16=312, bf16=312),
    _chip("A100-80GB", 80, "A100", fp32=19.5, tf32=156, fp16=312, bf16=312),
    _chip("A10", 24, fp32=31.2, tf32=62.5, fp16=125, bf16=125),
    _chip("A10G", 24, fp32=31.5, tf32=35, fp16=70, bf16=70),
    _chip("A30", 24, fp32=10.3, tf32=82, fp16=165, bf16=165),
    _chip("A40", 48, fp32=37.4, tf32=74.8, fp16=149.7, bf16=149.7),
    _chip("A6000", 48, fp32=38.7, tf32=77.4, fp16=154.8, bf16=154.8),
    _chip("L4", 24, fp32=30.3, tf32=60, fp16=121, bf16=121, fp8=242),
    _chip("L40", 48, fp32=90.5, tf32=90.5, fp16=181, bf16=181, fp8=362),
    _chip("L40S", 48, fp32=91.6, tf32=183, fp16=362, bf16=362, fp8=733),
    _chip("RTX3090", 24, fp32=35.6, tf32=35.6, fp16=71, bf16=71),
    _chip("RTX4090", 24, fp32=82.6, tf32=82.6, fp16=165.2, bf16=165.2, fp8=330.3),
    _chip("H100-80GB", 80, "H100", fp32=67, tf32=494.5, fp16=989.4, bf16=989.4, fp8=1978.9),
    _chip("H100-NVL", 94, "H100", fp32=60, tf32=417.5, fp16=835.5, bf16=835.5, fp8=1670.5),
    _chip("H200", 141, fp32=67, tf32=494.5, fp16=989.4, bf16=989.4, fp8=1978.9),
    _chip("GH200", 96, fp32=67, tf32=494.5, fp16=989.4, bf16=989.4, fp8=1978.9),
    _chip("B200", 180, fp32=75, tf32=1125, fp16=2250, bf16=2250, fp8=4500, fp4=9000),
    _chip("B300", 270, fp32=75, tf32=1125, fp16=2250, bf16=2250, fp8=4500, fp4=13500),
    _chip("GB200", 186, fp32=80, tf32=1250, fp16=2500, bf16=2500, fp8=5000, fp4=10000),
    _chip("GB300", 278, fp32=80, tf32=1250, fp16=2500, bf16=2500, fp8=5000, fp4=15000),
    _chip("MI250X", 128, fp32=47.9, fp16=383, bf16=383),
    _chip("MI300X", 192, fp32=163.4, tf32=653.7, fp16=1307.4, bf16=1307.4, fp8=2614.9),
    _chip("MI325X", 256, fp32=163.4, tf32=653.7, fp16=1307.4, bf16=1307.4, fp8=2614.9),
    _chip("TPU-v4", 32, bf16=275),
    _chip("TPU-v5e", 16, bf16=197),
    _chip("TPU-v5p", 95, bf16=459),
    _chip("TPU-v6e", 32, bf16=918),
)
_BY_NAME = {chip.name.casefold(): chip for chip in CHIPS}


def chip(name: str) -> Chip:
    """Limits of an accelerator; of a family, those of its largest memory in common use.

    Raises
    ------
    UnknownName
        When nothing is known of it; the message names the near ones.
    """
    folded = name.strip().casefold().replace("_", "-").replace(" ", "-")
    if folded in _BY_NAME:
        return _BY_NAME[folded]
    family = [chip for chip in CHIPS if chip.family.casefold() == folded]
    if family:
        return next((c for c in family if c.name.endswith("80GB")), family[-1])
    raise UnknownName("accelerator with a known peak", name, [chip.name for chip in CHIPS])


def chip_like(spelling: str) -> Chip | None:
    """Accelerator that a source means by a spelling such as `a100_40gb` or `DGX-H100`; None when it is not known."""
    words = re.split(r"[\s_\-()]+", spelling.strip().casefold())
    families = [chip for chip in CHIPS if chip.family.casefold() in words]
    if not families:
        return None
    sizes = {float(found[1]) for word in words if (found := re.fullmatch(r"(\d+)gb?", word))}
    exact = [chip for chip in families if chip.memory_gib in sizes]
    return exact[0] if exact else chip(families[0].family)
