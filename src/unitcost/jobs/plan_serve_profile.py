"""Plan how to serve a model that answers in one step, from its measured latency by batch size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import numpy as np

from unitcost import money
from unitcost.errors import BadSetting, NoPrice
from unitcost.jobs.plan_cooldown import CooldownAsk, CooldownPlan, gaps_between, plan_cooldown
from unitcost.jobs.plan_serve import Watch
from unitcost.jobs.serve_cache import CacheTerms, cache_remark, why_no_cache
from unitcost.jobs.serve_quality import at_fixed_quality
from unitcost.jobs.serve_requests import need_time, requests_of_files
from unitcost.machine.steps import Served
from unitcost.measure.latency_profiles import LatencyProfile, read_profiles
from unitcost.serving.answer_cache import with_answer_cache
from unitcost.serving.fleet import ColdStart
from unitcost.serving.idle_gaps import ColdStartPrice, break_even_gap_s
from unitcost.serving.latency_table import grid_of_latencies, predictions
from unitcost.serving.levers import spot_with_redundancy
from unitcost.serving.one_step_plan import Way, asleep, batch_options, cheapest_way
from unitcost.serving.search import Found, Limits, Option, Refused, Search, Tried, search
from unitcost.serving.synthetic import constant
from unitcost.serving.traces import Trace
from unitcost.units import (
    HOURS_PER_DAY,
    HOURS_PER_MONTH,
    MICROSECONDS_PER_SECOND,
    PER_THOUSAND,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
)

#: Requests that are drawn for a stated volume: an hour of it, or less.
_DRAWN = 50_000
#: Ways whose costs are this close are called the same: a run ends some seconds later than another.
_TIED = Decimal("1.001")
#: Timeouts beside the break-even gap that are tried. [s]
_IDLE_S = (0.0, 60.0, 600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileAsk:
    """What is asked.

    Parameters
    ----------
    profile
        File of latencies by batch size.
    e2e_p95_s
        Limit of the 95th percentile from request to answer; None: no limit. [s]
    per_day, trace, more_traces
        Predictions a day at a constant rate, or a file of requests and further ones.
    usd_per_hour, standby_usd_per_hour, spot_usd_per_hour
        Of a replica: where the profile states none; in the warm pool, None: the same; on spot, None: not asked. [USD / hour]
    max_delay_s
        How long a batch waits to fill. [s]
    cold_start_s, wake_s
        From nothing to ready; from the warm pool to ready. [s]
    start_billed, usd_per_slow_answer
        Whether a cold start is paid like ready time, and what the answer costs besides that waits for it. [USD]
    cooldowns_s
        Times without a request after which replicas stop; None among them: never. Empty: some usual ones. [s]
    cache
        Prediction cache that is tried in front.
    qualities, quality_bar
        Measured quality by option, where the profile has none or another; the least that will do, None: none is set.
    """

    profile: Path
    e2e_p95_s: float | None = None
    per_day: float = 0.0
    trace: Path | None = None
    more_traces: tuple[Path, ...] = ()
    usd_per_hour: Decimal | None = None
    standby_usd_per_hour: Decimal | None = None
    spot_usd_per_hour: Decimal | None = None
    max_delay_s: float = 0.0
    cold_start_s: float = 60.0
    wake_s: float = 1.0
    start_billed: bool = True
    usd_per_slow_answer: Decimal = money.ZERO
    cooldowns_s: tuple[Decimal | None, ...] = ()
    most_replicas: int = 64
    cache: CacheTerms = field(default_factory=CacheTerms)
    qualities: Mapping[str, Decimal] = field(default_factory=dict)
    quality_bar: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """A way to run it: [USD / day], [USD / 1,000 predictions], [s]."""

    name: str
    way: str
    replicas: int
    usd_per_replica_hour: Decimal
    usd_per_day: Decimal
    usd_per_1k: Decimal | None
    e2e_p95_s: float
    busy_share: float
    batch_mean: float
    misses: tuple[str, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilePlan:
    """Answer.

    Parameters
    ----------
    chosen
        Cheapest that keeps the limit; None: none does.
    rows
        Batch sizes with the fewest replicas, then fleets that stop when nobody asks, the cheapest of each.
    break_even_gap_s
        Gap between requests beyond which stopping is cheaper than waiting; None: waiting is free. [s]
    longest_gap_s
        Of the traffic. [s]
    spot
        Spot replicas with redundancy, or why not; None: no price was given.
    findings
        What was found in the file of requests.
    cooldowns
        Cost of each cooldown over the gaps of the trace, where one replica answers; None: not asked, or several do.
    ties
        Other ways that cost the same as the chosen one.
    cache, cache_remark
        With a prediction cache in front, or why not.
    """

    ask: ProfileAsk
    predictions_per_day: float
    requests: int
    chosen: ProfileRow | None
    rows: tuple[ProfileRow, ...]
    ruled_out: tuple[Refused, ...]
    break_even_gap_s: Decimal | None
    longest_gap_s: float
    spot: ProfileRow | None
    spot_remark: str
    runs: int
    findings: tuple[str, ...] = ()
    cooldowns: CooldownPlan | None = None
    ties: tuple[str, ...] = ()
    cache: ProfileRow | None = None
    cache_remark: str = ""


def plan_profile(ask: ProfileAsk, *, watch: Watch | None = None) -> ProfilePlan:
    """Cheapest batch size and fleet for a model that answers in one step.

    Raises
    ------
    BadFile, NoPrice, BadSetting
        When the profile cannot be read, a replica has no price, or there is no traffic.
    """
    told = watch or Watch()
    trace, per_day, findings = _traffic(ask)
    fit, too_poor = at_fixed_quality(read_profiles(ask.profile), ask.qualities, ask.quality_bar)
    options = [option for profile in fit for option in _options(profile, ask)]
    limits = Limits(e2e_p95_s=ask.e2e_p95_s)
    run = Search(
        trace, limits, most_replicas=ask.most_replicas, sample_requests=2 * _DRAWN, on_run=told.run,
        on_compile=told.compile,
    )  # fmt: skip
    found = search(options, run)
    plan = _answer(ask, run, found, per_day)
    return replace(plan, findings=findings, ruled_out=(*too_poor, *plan.ruled_out))


def _traffic(ask: ProfileAsk) -> tuple[Trace, float, tuple[str, ...]]:
    if ask.trace is not None:
        held, findings = requests_of_files((ask.trace, *ask.more_traces))
        need_time(held, findings)
        played = replace(predictions(held.arrival_s, duration_s=held.duration_s), keys=held.keys)
        return played, len(held) / held.duration_s * SECONDS_PER_DAY, tuple(findings)
    if not ask.per_day > 0:
        raise BadSetting("there is no traffic", mend="give --predictions-per-day or --trace FILE")
    per_s = ask.per_day / SECONDS_PER_DAY
    span_s = min(float(SECONDS_PER_DAY), _DRAWN / per_s)
    return constant(per_s=per_s, input_tokens=1, output_tokens=1, duration_s=span_s), ask.per_day, ()


def _options(profile: LatencyProfile, ask: ProfileAsk) -> list[Option]:
    usd = profile.usd_per_hour if profile.usd_per_hour is not None else ask.usd_per_hour
    if usd is None:
        raise NoPrice(
            "a replica has no price", where=profile.name, mend="give usd_per_hour in the file or --usd-per-hour"
        )
    served = Served(model=profile.name, gpu=profile.name, precision="as measured", backend="as measured")
    grid = grid_of_latencies(profile.latency_s, served=served, source=f"measured: {ask.profile.name}")
    return batch_options(profile.name, grid, usd, max_delay_s=ask.max_delay_s)


def _answer(ask: ProfileAsk, run: Search, found: Found, per_day: float) -> ProfilePlan:
    ways = [Way(name="always ready", tried=tried) for tried in found.fewest]
    price = None
    spot, spot_remark = None, "no spot price was given: --spot-usd-per-hour"
    base = found.fewest[0] if found.fewest else None
    if base is not None:
        cold = ColdStart(image_s=ask.cold_start_s, wake_s=ask.wake_s)
        price = _start_price(ask, base.option.usd_per_replica_hour)
        ways += _sleeping(ask, run, base, cold, price)
        if ask.spot_usd_per_hour is not None:
            spot, spot_remark = _spot(run, base, ask.spot_usd_per_hour, cold, per_day)
    best = cheapest_way(ways)
    gaps = np.diff(run.trace.arrival_s)
    return ProfilePlan(
        ask=ask, predictions_per_day=per_day, requests=len(run.trace), chosen=_row(best, per_day) if best else None,
        rows=tuple(_row(way, per_day) for way in ways), ruled_out=found.refused,
        break_even_gap_s=break_even_gap_s(price) if price else None,
        longest_gap_s=float(gaps.max()) if len(gaps) else 0.0, spot=spot, spot_remark=spot_remark, runs=run.runs,
        cooldowns=_cooldowns(ask, run, base, price), ties=_ties(best, ways), cache=_cached(ask, run, base, per_day),
        cache_remark=why_no_cache(run.trace) if base is not None else "",
    )  # fmt: skip


def _cached(ask: ProfileAsk, run: Search, base: Tried | None, per_day: float) -> ProfileRow | None:
    """The cheapest replicas that are always ready with a cache of answers in front; None without keys."""
    if base is None or why_no_cache(run.trace):
        return None
    found = with_answer_cache(run, base, ask.cache.cache)
    remark = cache_remark(found, ask.cache, base.replicas - found.tried.replicas)
    per_month = found.tried.units.per_month or money.ZERO
    usd_per_day = money.divide(money.multiply(per_month, Decimal(HOURS_PER_DAY)), Decimal(HOURS_PER_MONTH))
    row = _row(Way(name="prediction cache", tried=found.tried, remark=remark), per_day)
    thousands = money.divide(Decimal(repr(float(per_day))), PER_THOUSAND)
    return replace(row, usd_per_day=usd_per_day, usd_per_1k=money.divide(usd_per_day, thousands) if thousands else None)


def _start_price(ask: ProfileAsk, usd_per_hour: Decimal) -> ColdStartPrice:
    return ColdStartPrice(
        usd_per_hour=usd_per_hour, start_s=Decimal(repr(float(ask.cold_start_s))), start_billed=ask.start_billed,
        usd_per_slow_answer=ask.usd_per_slow_answer,
    )  # fmt: skip


def _sleeping(ask: ProfileAsk, run: Search, base: Tried, cold: ColdStart, price: ColdStartPrice) -> list[Way]:
    """Fleets that stop when nobody asks, the best of each kind."""
    usd, gap_s = price.usd_per_hour, break_even_gap_s(price)
    standby = usd if ask.standby_usd_per_hour is None else ask.standby_usd_per_hour
    usual = (*_IDLE_S, float(gap_s)) if gap_s is not None else _IDLE_S
    idle = tuple(float(one) for one in ask.cooldowns_s if one is not None) if ask.cooldowns_s else usual
    return _best_of_each(asleep(run, base, cold, idle_s=idle, standby_usd_per_hour=standby, price=price))


def _cooldowns(ask: ProfileAsk, run: Search, base: Tried | None, price: ColdStartPrice | None) -> CooldownPlan | None:
    """Cooldowns by hand, where one replica answers and its silences are known."""
    if ask.trace is None or base is None or price is None or base.replicas > 1 or len(run.trace) < 2:
        return None
    gaps = tuple(gaps_between(run.trace))
    return plan_cooldown(CooldownAsk(price=price, cooldowns_s=ask.cooldowns_s, gaps_s=gaps))


def _ties(best: Way | None, ways: Sequence[Way]) -> tuple[str, ...]:
    """Other ways that keep the limit at the cost of the best, but for less than a thousandth."""
    if best is None:
        return ()
    near = money.multiply(best.usd, _TIED)
    names = [way.name for way in ways if way.name != best.name and not way.tried.misses and way.usd <= near]
    return tuple(dict.fromkeys(names))


def _best_of_each(ways: list[Way]) -> list[Way]:
    """Of each kind the cheapest that keeps the limit, else the one with the most requests inside it."""
    chosen = []
    for name in dict.fromkeys(way.name for way in ways):
        mine = [way for way in ways if way.name == name]
        chosen.append(cheapest_way(mine) or max(mine, key=lambda way: way.tried.outcome.good_share))
    return chosen


def _spot(
    run: Search, base: Tried, usd_per_hour: Decimal, cold: ColdStart, per_day: float
) -> tuple[ProfileRow | None, str]:  # fmt: skip
    found = spot_with_redundancy(run, base, usd_per_hour, cold)
    if found is None:
        return None, "don't: even twice as many replicas miss the limit when one is lost at the peak"
    row = _row(Way(name="spot with redundancy", tried=found), per_day)
    if found.cost.usd >= base.cost.usd:
        return row, "don't: the replicas that losing one takes are not cheaper than on demand"
    return row, f"{found.replicas} replicas: any one may be lost at the peak without a missed limit"


def _row(way: Way, per_day: float) -> ProfileRow:
    tried = way.tried
    hours = money.divide(
        Decimal(round(tried.outcome.end_s * MICROSECONDS_PER_SECOND)),
        Decimal(SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND),
    )
    if way.name == "always ready":
        usd_per_day = money.multiply(tried.usd_per_hour, Decimal(HOURS_PER_DAY))
    else:
        usd_per_day = money.divide(money.multiply(tried.cost.usd, Decimal(HOURS_PER_DAY)), hours)
    other = money.divide(money.multiply(way.other_usd, Decimal(HOURS_PER_DAY)), hours)
    usd_per_day = money.add([usd_per_day, other])
    thousands = money.divide(Decimal(repr(float(per_day))), PER_THOUSAND)
    return ProfileRow(
        name=tried.option.name, way=way.name, replicas=tried.replicas,
        usd_per_replica_hour=tried.option.usd_per_replica_hour, usd_per_day=usd_per_day,
        usd_per_1k=money.divide(usd_per_day, thousands) if thousands else None,
        e2e_p95_s=tried.outcome.latencies["e2e_s"].p95, busy_share=tried.outcome.busy_share,
        batch_mean=tried.outcome.batch_mean, misses=tried.misses,
        remark=way.remark,
    )  # fmt: skip
