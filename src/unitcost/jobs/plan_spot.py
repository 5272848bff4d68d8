"""Plan a job with a deadline on spot capacity: what each policy would have paid on recorded capacity, and how often to save."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unitcost.errors import BadSetting
from unitcost.facts.estimates import Estimate, exactly
from unitcost.facts.spot import SpotTrace
from unitcost.jobs.plan_saving import assumed_saving, measured_saving
from unitcost.jobs.spot_answers import SavingPlan, SpotAsk, SpotOption, SpotPlan
from unitcost.readers.spot_traces import read
from unitcost.training.bound import least_usd
from unitcost.training.checkpoints import Saving, growing_s
from unitcost.training.lookahead import Ask, look_ahead, step_for
from unitcost.training.market import ASSUMED_SPOT_SHARE, FloatArray, Market, market_of
from unitcost.training.outlook import AGES_S, Outlook
from unitcost.training.planning import planner
from unitcost.training.policies import greedy, late_line, on_demand, uniform_progress
from unitcost.training.replay import Jobs, Outcome, Policy, replay
from unitcost.training.spot_run import Capacity, run_on_spot
from unitcost.training.uptimes import mean_s, up_times_s
from unitcost.units import HOURS_PER_MONTH, PERCENT, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

PLANNED, ON_DEMAND, BOUND, ELASTIC = "planner", "on-demand", "bound (future known)", "elastic, spot only"
#: Copies of the checkpoint that are kept.
_COPIES = 2
_STARTS = 40
#: Up-time that saves and repeated work leave is not taken for less than this. [share]
_LEAST_KEPT = 1e-9
#: Steps of the two-state model.
_STEPS = 240
_CHANGEOVERS_A_PART = 20
_POLICIES: Mapping[str, Callable[[Market, Jobs], Policy]] = {
    ON_DEMAND: lambda market, jobs: on_demand,
    "greedy": lambda market, jobs: greedy,
    "uniform progress": lambda market, jobs: uniform_progress,
    "late line": lambda market, jobs: late_line(len(jobs)),
    PLANNED: planner,
}


def plan_spot(ask: SpotAsk) -> SpotPlan:
    """Plan of a job on spot capacity.

    Raises
    ------
    BadSetting
        When a recording is too short for the deadline, or nothing says how long capacity lasts.
    NeedsAnswer
        When a recording does not say what its numbers mean.
    """
    traces = [read(path, means=ask.means, gap_s=ask.gap_s) for path in ask.traces]
    return _on_recordings(ask, traces) if traces else _on_assumptions(ask)


def market_for(ask: SpotAsk, traces: Sequence[SpotTrace]) -> Market:
    """Market of the recordings, with the prices that were given where they have none."""
    price = None if ask.on_demand_usd_per_hour is None else float(ask.on_demand_usd_per_hour)
    egress = {trace.region: ask.checkpoint_gb * float(ask.egress_usd_per_gb) for trace in traces}
    market = market_of(traces, nodes=ask.nodes, on_demand_usd_per_hour=price, egress_usd_by_region=egress)
    if ask.spot_usd_per_hour is None or market.priced:
        return market
    flat = np.full_like(market.spot_usd_per_hour, float(ask.spot_usd_per_hour) * ask.nodes)
    return replace(market, spot_usd_per_hour=flat)


def _on_recordings(ask: SpotAsk, traces: Sequence[SpotTrace]) -> SpotPlan:
    market = market_for(ask, traces)
    ups_s = np.concatenate([up_times_s(zone, market.gap_s) for zone in market.available])
    saving = measured_saving(ask.saving, ups_s) if ask.saving is not None and len(ups_s) else None
    alone = _jobs(ask, market, 0.0)
    jobs = _jobs(ask, market, saving.growing_lost_share if saving else 0.0)
    hours_usd = ask.hours * market.on_demand_usd_per_hour
    storage_usd = _storage_usd(ask)
    refusal = _refusal(ask, float(ups_s.mean()) / SECONDS_PER_HOUR if len(ups_s) else math.inf)
    options = [_option(ON_DEMAND, replay(market, alone, on_demand), hours_usd, 0.0)]
    bound = None
    if refusal:
        options += [SpotOption(name=name, ruled_out=(refusal,)) for name in _POLICIES if name != ON_DEMAND]
    else:
        for name, make in _POLICIES.items():
            if name != ON_DEMAND:
                options.append(_option(name, replay(market, jobs, make(market, jobs)), hours_usd, storage_usd))
        bound = _bound(market, jobs, hours_usd, storage_usd)
        options += [_elastic(ask, traces[0], market)] if ask.elastic and ask.nodes > 1 else []
    return _plan(
        ask, options, bound, zones=market.zones, starts=len(jobs), saving=saving, on_demand_usd=hours_usd,
        storage_usd=storage_usd, messages=_messages(market),
    )  # fmt: skip


def _plan(
    ask: SpotAsk, options: list[SpotOption], bound: SpotOption | None, *, zones: tuple[str, ...], starts: int,
    saving: SavingPlan | None, on_demand_usd: float, storage_usd: float, messages: list[str],
) -> SpotPlan:  # fmt: skip
    base = next(option for option in options if option.name == ON_DEMAND)
    judged = [_judged(option, base) for option in options]
    ranked = sorted(judged, key=lambda o: (bool(o.ruled_out), o.usd.value if o.usd else math.inf, o.name))
    best = ranked[0]
    left = None
    if bound and bound.on_demand_share and best.on_demand_share:
        left = max(0.0, best.on_demand_share.value - bound.on_demand_share.value) * float(PERCENT)
    if best.name == ON_DEMAND and len(options) > 1:
        messages = [*messages, "Spot would cost more than on-demand here, or is ruled out: take on-demand."]
    return SpotPlan(
        ask=ask, zones=zones, starts=starts, options=tuple(ranked), best=best.name, bound=bound,
        could_still_save_points=left, saving=saving, on_demand_usd=on_demand_usd, storage_usd=storage_usd,
        messages=tuple(messages),
    )  # fmt: skip


def _judged(option: SpotOption, base: SpotOption) -> SpotOption:
    dearer = option.usd and base.usd and option.name != ON_DEMAND and option.usd.value > base.usd.value
    return replace(option, ruled_out=("costs more than on-demand",)) if dearer and not option.ruled_out else option


def _jobs(ask: SpotAsk, market: Market, lost_share: float) -> Jobs:
    """Evenly spaced starts; saves and repeated work make the job longer, as far as its deadline allows."""
    ticks = int(ask.deadline_hours * SECONDS_PER_HOUR / market.gap_s + 1e-9)
    if ticks > market.ticks:
        raise BadSetting(
            f"the recording of {market.ticks * market.gap_s / SECONDS_PER_HOUR:.0f} h is shorter than the deadline of"
            f" {ask.deadline_hours:g} h", where=", ".join(market.zones), mend="give a longer trace, or plan without one",
        )  # fmt: skip
    starts = np.unique(np.linspace(0, market.ticks - ticks, _STARTS).astype(int))
    longer_s = ask.hours * SECONDS_PER_HOUR / max(_LEAST_KEPT, 1 - lost_share)
    if lost_share:  # whole minutes keep the lattice of the bound coarse
        longer_s = float(math.ceil(longer_s / SECONDS_PER_MINUTE) * SECONDS_PER_MINUTE)
    most_s = ticks * market.gap_s - ask.changeover_s
    again = np.ones(len(starts))
    return Jobs(
        start=starts, ticks=np.full(len(starts), ticks), work_s=min(longer_s, most_s) * again,
        changeover_s=ask.changeover_s * again,
    )  # fmt: skip


def _option(name: str, outcome: Outcome, hours_usd: float, storage_usd: float) -> SpotOption:
    paid_s = outcome.spot_s + outcome.on_demand_s
    late = (f"late in {outcome.late} of {len(outcome.cost_usd)} starts",) if outcome.late else ()
    usd = _spread(outcome.cost_usd + storage_usd, f"replayed from {len(outcome.cost_usd)} starts")
    return SpotOption(
        name=name, usd=usd, on_demand_share=usd.times(1 / hours_usd),
        spot_share=float(outcome.spot_s.sum() / max(paid_s.sum(), 1e-9)),
        changeovers=float(outcome.changeovers.mean()), ruled_out=late,
    )  # fmt: skip


def _spread(usd: FloatArray, because: str) -> Estimate:
    value = float(usd.mean())
    low, high = (float(np.quantile(usd, share)) for share in (0.1, 0.9))
    return Estimate(value=value, low=min(low, value), high=max(high, value), basis="measured", because=because)


def _bound(market: Market, jobs: Jobs, hours_usd: float, storage_usd: float) -> SpotOption:
    usd = _spread(least_usd(market, jobs) + storage_usd, "exact least cost of each start, its future known")
    return SpotOption(name=BOUND, usd=usd, on_demand_share=usd.times(1 / hours_usd))


def _elastic(ask: SpotAsk, trace: SpotTrace, market: Market) -> SpotOption:
    """The job on as many nodes as there are, without any on-demand capacity; ruled out where it is late."""
    saving = ask.saving or Saving(write_s=0.0)
    ups_s = up_times_s(np.asarray(trace.counts) >= 1, trace.gap_s)
    intervals: FloatArray = growing_s(saving, mean_s(ups_s)) if ask.saving and len(ups_s) else np.array([])
    counts, usd_per_hour = np.asarray(trace.counts), market.spot_usd_per_hour[0] / ask.nodes
    ticks = int(ask.deadline_hours * SECONDS_PER_HOUR / market.gap_s)
    runs = [
        run_on_spot(
            Capacity(
                gap_s=market.gap_s, counts=counts[start : start + ticks], usd_per_hour=usd_per_hour[start : start + ticks],
                on_demand_usd_per_hour=market.on_demand_usd_per_hour / ask.nodes,
            ),
            nodes=ask.nodes, work_s=ask.hours * SECONDS_PER_HOUR, intervals=intervals,
            saving=replace(saving, restart_s=ask.changeover_s), elastic=True,
        )
        for start in np.unique(np.linspace(0, market.ticks - ticks, _STARTS).astype(int)).tolist()
    ]  # fmt: skip
    late = sum(not run.finished for run in runs)
    usd = _spread(np.array([run.cost_usd for run in runs]), f"replayed from {len(runs)} starts")
    return SpotOption(
        name=ELASTIC, usd=usd, on_demand_share=usd.times(1 / (ask.hours * market.on_demand_usd_per_hour)), spot_share=1.0,
        changeovers=float(np.mean([run.interruptions for run in runs])),
        ruled_out=(f"late in {late} of {len(runs)} starts",) if late else (),
    )  # fmt: skip


def _refusal(ask: SpotAsk, mean_up_hours: float) -> str:
    """Why spot is refused; empty when it is not."""
    if ask.saving is None and ask.hours > mean_up_hours:
        return (
            f"without checkpoints {ask.hours:g} h of work outlast the mean up-time of {mean_up_hours:.1f} h: it may"
            " never finish"
        )
    return ""


def _storage_usd(ask: SpotAsk) -> float:
    months = ask.deadline_hours / HOURS_PER_MONTH
    return _COPIES * ask.checkpoint_gb * float(ask.storage_usd_per_gb_month) * months


def _messages(market: Market) -> list[str]:
    found = []
    if not market.priced:
        found.append(
            f"The recording has no spot prices: spot is taken at {ASSUMED_SPOT_SHARE:.0%} of on-demand, assumed."
        )
    if np.any(market.spot_usd_per_hour >= market.on_demand_usd_per_hour):
        found.append("At times spot cost more than on-demand; it is not taken then.")
    if not market.available.any():
        found.append("The recording has no capacity at all for a job of this size.")
    return found


def _on_assumptions(ask: SpotAsk) -> SpotPlan:
    """Plan by a two-state model: capacity comes and goes at constant rates."""
    if ask.mean_up_hours is None or ask.on_demand_usd_per_hour is None:
        raise BadSetting(
            "nothing says how long spot capacity lasts, or what on-demand costs",
            mend="give a recording with --trace, or --mean-up and --on-demand-usd",
        )
    on_demand_usd = float(ask.on_demand_usd_per_hour) * ask.nodes
    saving = assumed_saving(ask.saving, ask.mean_up_hours * SECONDS_PER_HOUR) if ask.saving else None
    refusal = _refusal(ask, ask.mean_up_hours)
    hours_usd, storage_usd = ask.hours * on_demand_usd, _storage_usd(ask)
    base = exactly(
        (ask.hours + ask.changeover_s / SECONDS_PER_HOUR) * on_demand_usd, "quoted",
        "hours and one change-over at the price on demand",
    )  # fmt: skip
    options = [
        SpotOption(
            name=ON_DEMAND, usd=base, on_demand_share=base.times(1 / hours_usd), spot_share=0.0, changeovers=1.0
        ),
        SpotOption(name=PLANNED, ruled_out=(refusal,))
        if refusal
        else _assumed_option(ask, on_demand_usd, saving.growing_lost_share if saving else 0.0),
    ]
    messages = [
        f"No recording: capacity is assumed to stay {ask.mean_up_hours:g} h and to stay away {ask.mean_down_hours:g} h on"
        " average, at constant rates."
    ]
    return _plan(
        ask, options, None, zones=(), starts=0, saving=saving, on_demand_usd=hours_usd, storage_usd=storage_usd,
        messages=messages,
    )  # fmt: skip


def _assumed_option(ask: SpotAsk, on_demand_usd: float, lost_share: float) -> SpotOption:
    """Planner under constant rates, checkpoints kept."""
    spot = ASSUMED_SPOT_SHARE
    if ask.spot_usd_per_hour is not None:
        spot = float(ask.spot_usd_per_hour) * ask.nodes / on_demand_usd
    usd = _expected_usd(ask, spot, lost_share).times(on_demand_usd)
    kept_usd = _storage_usd(ask)
    usd = replace(usd, value=usd.value + kept_usd, low=usd.low + kept_usd, high=usd.high + kept_usd)
    return SpotOption(name=PLANNED, usd=usd, on_demand_share=usd.times(1 / (ask.hours * on_demand_usd)))


def _expected_usd(ask: SpotAsk, spot_share: float, lost_share: float) -> Estimate:
    """Expected cost of the planner under constant rates. [hours on demand].

    A job that is long beside the times that capacity stays or stays away costs as many parts of it as there are in it.
    """
    up, down = ((ask.mean_up_hours or 1.0) * SECONDS_PER_HOUR, ask.mean_down_hours * SECONDS_PER_HOUR)
    parts = _parts(ask, min(up, down))
    deadline_s = ask.deadline_hours * SECONDS_PER_HOUR / parts
    most_s = deadline_s - ask.changeover_s
    work_s = min(ask.hours * SECONDS_PER_HOUR / parts / max(_LEAST_KEPT, 1 - lost_share), most_s)
    step_s = max(step_for(deadline_s, deadline_s, 1.0), deadline_s / _STEPS)
    outlook = Outlook(
        away_ends=(1 - math.exp(-step_s / down),) * len(AGES_S), there_ends=(1 - math.exp(-step_s / up),) * len(AGES_S),
        step_s=step_s,
    )  # fmt: skip
    slack_s = deadline_s - work_s
    table = look_ahead(
        Ask(
            outlook=outlook, spot_share=min(spot_share, 1.0), changeover_s=ask.changeover_s, longest_s=deadline_s,
            most_slack_s=slack_s,
        ),
        step_s=step_s,
    )  # fmt: skip
    place = min(int(slack_s / step_s), table.expected_hours.shape[2] - 1)
    there_share = up / (up + down)
    away, there = (float(table.expected_hours[state, 0, place]) for state in (0, 1))
    most = (work_s + ask.changeover_s) / SECONDS_PER_HOUR
    value = min((1 - there_share) * away + there_share * there, most)
    least = min(spot_share * most, value)
    return Estimate(
        value=value, low=least, high=most, basis="assumed",
        because="two-state model with the given mean times; low: always spot, high: always on-demand",
    ).times(parts)  # fmt: skip


def _parts(ask: SpotAsk, spell_s: float) -> float:
    """Parts that a long job is cut into, so that a step of the table is no longer than a spell of capacity; at least one.

    A part has at least `_CHANGEOVERS_A_PART` change-overs of slack.
    """
    deadline_s, slack_s = ask.deadline_hours * SECONDS_PER_HOUR, (ask.deadline_hours - ask.hours) * SECONDS_PER_HOUR
    most = slack_s / (_CHANGEOVERS_A_PART * ask.changeover_s) if ask.changeover_s else math.inf
    return max(1.0, min(deadline_s / (_STEPS * spell_s), most))
