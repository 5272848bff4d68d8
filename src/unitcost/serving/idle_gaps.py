"""How long a replica should wait for the next request before it stops: each gap is replayed, not averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """Cost of one cooldown over some gaps.

    Parameters
    ----------
    cooldown_s
        How long the replica waits; None: it never stops. [s]
    waiting_s
        Time it was ready and idle. [s]
    starts
        Cold starts.
    """

    cooldown_s: Decimal | None
    waiting_s: Decimal
    starts: int
    usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStartPrice:
    """What waiting and starting cost.

    Parameters
    ----------
    usd_per_hour
        Of a ready replica. [USD / hour]
    start_s, start_billed
        Length of a cold start, [s], and whether it is paid like ready time.
    usd_per_slow_answer
        What the request that waits for it costs besides. [USD]
    """

    usd_per_hour: Decimal
    start_s: Decimal
    start_billed: bool = True
    usd_per_slow_answer: Decimal = money.ZERO

    @property
    def usd_per_start(self) -> Decimal:
        """A cold start with its slow answer. [USD]."""
        paid = _ready_usd(self.usd_per_hour, self.start_s) if self.start_billed else money.ZERO
        return money.add([paid, self.usd_per_slow_answer])


def break_even_gap_s(price: ColdStartPrice) -> Decimal | None:
    """Gap beyond which a cold start is cheaper than waiting; None when waiting is free. [s].

    Notes
    -----
    ``(price of a start) / (price of a ready second)``. Waiting just that long costs at most twice what knowing each gap beforehand
    would (the ski-rental bound).
    """
    if price.usd_per_hour == 0:
        return None
    return money.divide(money.multiply(price.usd_per_start, Decimal(SECONDS_PER_HOUR)), price.usd_per_hour)


def cooldowns(gaps_s: Sequence[Decimal], tried_s: Sequence[Decimal | None], price: ColdStartPrice) -> list[Cooldown]:
    """Cost of each cooldown over the gaps between requests, in the order of `tried_s`.

    A gap no longer than the cooldown is waited out; a longer one costs the cooldown, and the next request a cold start.
    """
    if any(gap < 0 for gap in gaps_s) or any(tried is not None and tried < 0 for tried in tried_s):
        raise BadSetting("a gap or a cooldown below zero", mend="sort the requests by time")
    return [_cooldown(gaps_s, tried, price) for tried in tried_s]


def _cooldown(gaps_s: Sequence[Decimal], cooldown_s: Decimal | None, price: ColdStartPrice) -> Cooldown:
    outlast = [] if cooldown_s is None else [gap for gap in gaps_s if gap > cooldown_s]
    waits = [gap if cooldown_s is None else min(gap, cooldown_s) for gap in gaps_s]
    waiting_s = money.add(waits)
    starts_usd = money.multiply(Decimal(len(outlast)), price.usd_per_start)
    return Cooldown(
        cooldown_s=cooldown_s, waiting_s=waiting_s, starts=len(outlast),
        usd=money.add([_ready_usd(price.usd_per_hour, waiting_s), starts_usd]),
    )  # fmt: skip


def _ready_usd(usd_per_hour: Decimal, span_s: Decimal) -> Decimal:
    return money.divide(money.multiply(usd_per_hour, span_s), Decimal(SECONDS_PER_HOUR))
