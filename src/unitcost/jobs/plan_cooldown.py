"""How long a replica should wait before it stops: every cooldown over the real gaps between requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.jobs.serve_requests import requests_of_files
from unitcost.readers.traces import gaps
from unitcost.serving.idle_gaps import ColdStartPrice, Cooldown, break_even_gap_s, cooldowns
from unitcost.serving.traces import Trace
from unitcost.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

#: Cooldowns that are tried where none are named, besides the break-even gap. [s]; None: it never stops.
USUAL_S: tuple[Decimal | None, ...] = (
    Decimal(0), Decimal(SECONDS_PER_MINUTE), Decimal(10 * SECONDS_PER_MINUTE), Decimal(SECONDS_PER_HOUR), None,
)  # fmt: skip
_PLACES = 6
_UNITS = ((SECONDS_PER_DAY, "d"), (SECONDS_PER_HOUR, "h"), (SECONDS_PER_MINUTE, "m"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownAsk:
    """What is asked of one replica.

    Parameters
    ----------
    price
        Of waiting and of a cold start.
    cooldowns_s
        That are tried, None among them: it never stops. Empty: usual ones, and the break-even gap. [s]
    gaps_s, traces
        Gaps between requests, [s], or files that state them or the requests.
    """

    price: ColdStartPrice
    cooldowns_s: tuple[Decimal | None, ...] = ()
    gaps_s: tuple[Decimal, ...] = ()
    traces: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownRow:
    """A cooldown and what it costs over all gaps.

    Parameters
    ----------
    name
        As people write it: `10m`, `never`.
    cooldown_s
        None: it never stops. [s]
    starts
        Cold starts, each with an answer that waits for it.
    waiting_usd, starts_usd, usd
        Being ready and idle; cold starts and slow answers; both. [USD]
    """

    name: str
    cooldown_s: Decimal | None
    waiting_s: Decimal
    starts: int
    waiting_usd: Decimal
    starts_usd: Decimal
    usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownPlan:
    """Answer.

    Parameters
    ----------
    best
        Name of the cheapest cooldown; the shorter among equals.
    tied
        Others that cost the same.
    usd_per_start
        A cold start with its slow answer. [USD]
    break_even_gap_s
        Beyond which a cold start is cheaper than waiting; None: waiting is free. [s]
    least_usd
        What it would cost to know each gap beforehand; no cooldown can be cheaper. [USD]
    """

    gaps: int
    longest_gap_s: Decimal
    price: ColdStartPrice
    usd_per_start: Decimal
    rows: tuple[CooldownRow, ...]
    best: str
    tied: tuple[str, ...]
    break_even_gap_s: Decimal | None
    break_even_gap_minutes: Decimal | None
    least_usd: Decimal
    findings: tuple[str, ...] = ()


def plan_cooldown(ask: CooldownAsk) -> CooldownPlan:
    """Cheapest cooldown of one replica over the gaps between requests.

    Raises
    ------
    BadSetting
        When there are no gaps.
    BadFile
        When a file states none.
    """
    found, findings = (list(ask.gaps_s), ()) if ask.gaps_s else _gaps_of(ask.traces)
    if not found:
        raise BadSetting(
            "there is no gap between requests", mend="give --gaps, or --trace with gaps or with two requests or more"
        )
    break_even_s = break_even_gap_s(ask.price)
    tried = ask.cooldowns_s or _usual(break_even_s)
    rows = tuple(_row(one, ask.price) for one in cooldowns(found, tried, ask.price))
    best = min(rows, key=lambda row: (row.usd, row.cooldown_s is None, row.cooldown_s or money.ZERO))
    return CooldownPlan(
        gaps=len(found), longest_gap_s=max(found), price=ask.price, usd_per_start=ask.price.usd_per_start, rows=rows,
        best=best.name, tied=tuple(row.name for row in rows if row.usd == best.usd and row is not best),
        break_even_gap_s=break_even_s,
        break_even_gap_minutes=None if break_even_s is None else money.divide(break_even_s, Decimal(SECONDS_PER_MINUTE)),
        least_usd=_least(found, ask.price), findings=tuple(findings),
    )  # fmt: skip


def duration(seconds: Decimal | None) -> str:
    """A time as people write it, in the largest unit that leaves a whole number."""
    if seconds is None:
        return "never"
    for size, unit in _UNITS:
        if seconds and seconds % size == 0:
            return f"{money.text(money.divide(seconds, Decimal(size)))}{unit}"
    return f"{money.text(seconds)}s" if seconds else "0"


def _gaps_of(files: Sequence[Path]) -> tuple[list[Decimal], Sequence[str]]:
    if len(files) == 1 and gaps.sniff(files[0]):
        return gaps.read(files[0]), ()
    if not files:
        return [], ()
    trace, findings = requests_of_files(files)
    return gaps_between(trace), findings


def gaps_between(trace: Trace) -> list[Decimal]:
    """Gaps between the arrivals of a trace, to the microsecond. [s]."""
    at = [money.round_places(Decimal(repr(float(moment))), _PLACES) for moment in trace.arrival_s]
    return [money.subtract(later, sooner) for sooner, later in pairwise(at)]


def _usual(break_even_s: Decimal | None) -> tuple[Decimal | None, ...]:
    known = {one for one in USUAL_S if one is not None} | ({break_even_s} if break_even_s is not None else set())
    return (*sorted(known), None)


def _row(one: Cooldown, price: ColdStartPrice) -> CooldownRow:
    starts_usd = money.multiply(Decimal(one.starts), price.usd_per_start)
    return CooldownRow(
        name=duration(one.cooldown_s), cooldown_s=one.cooldown_s, waiting_s=one.waiting_s, starts=one.starts,
        waiting_usd=money.subtract(one.usd, starts_usd), starts_usd=starts_usd, usd=one.usd,
    )  # fmt: skip


def _least(found: Sequence[Decimal], price: ColdStartPrice) -> Decimal:
    """Each gap waited out or slept through, whichever is cheaper. [USD]."""
    per_gap = (
        min(money.divide(money.multiply(price.usd_per_hour, gap), Decimal(SECONDS_PER_HOUR)), price.usd_per_start)
        for gap in found
    )
    return money.add(per_gap)
