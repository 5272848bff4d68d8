"""A quoted price against what was billed: per accelerator or per machine."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unitcost import money

#: A ratio this near to a whole story is that story: list prices and rounding differ by less. [share]
_NEAR = Decimal("0.02")

QuoteFinding = Literal["agrees", "per_gpu_price", "per_machine_price", "differs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCheck:
    """What the comparison of a quote with a bill shows.

    Parameters
    ----------
    ratio
        Billed rate over quoted rate.
    finding
        `per_gpu_price`: the quote is per accelerator though it was taken as per machine; `per_machine_price`: the
        other way round.
    sentence
        The same for a reader.
    """

    ratio: Decimal
    finding: QuoteFinding
    sentence: str


def check_quote(quoted_usd_per_hour: Decimal, billed_usd_per_hour: Decimal, accelerators: Decimal) -> QuoteCheck:
    """Compare a quoted hourly price with another of the same machine, and name their ratio.

    Parameters
    ----------
    quoted_usd_per_hour, billed_usd_per_hour
        Both above zero [USD/h].
    accelerators
        Accelerators of the machine.
    """
    ratio = money.divide(billed_usd_per_hour, quoted_usd_per_hour)
    shown = money.round_places(ratio, 2)
    devices = money.text(accelerators)
    if _is_near(ratio, Decimal(1)):
        return QuoteCheck(ratio=ratio, finding="agrees", sentence=f"quote agrees (ratio {shown})")
    if accelerators > 1 and _is_near(ratio, accelerators):
        sentence = f"quote looks like a per-GPU price (ratio {shown} for {devices} GPUs)"
        return QuoteCheck(ratio=ratio, finding="per_gpu_price", sentence=sentence)
    if accelerators > 1 and _is_near(money.multiply(ratio, accelerators), Decimal(1)):
        sentence = f"quote looks like the price of the whole machine (ratio {shown} for {devices} GPUs)"
        return QuoteCheck(ratio=ratio, finding="per_machine_price", sentence=sentence)
    return QuoteCheck(ratio=ratio, finding="differs", sentence=f"quote differs from the bill (ratio {shown})")


def _is_near(value: Decimal, target: Decimal) -> bool:
    return money.subtract(value, target).copy_abs() <= money.multiply(target, _NEAR)
