"""The chosen option kept in several ways over the whole traffic: fixed, by load, with a warm pool, on spot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import cast

import numpy as np

from unitcost import money
from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.rentals import Rental
from unitcost.jobs.fleet_answers import FleetAsk, FleetPlan, FleetRow
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import Searched
from unitcost.jobs.plan_serve_cold import cold_start, cold_words
from unitcost.jobs.serve_answers import ServeAsk
from unitcost.machine.accelerators import chip
from unitcost.readers import spot_traces
from unitcost.serving.fleet import LossRate
from unitcost.serving.fleet_ways import (
    LOOK_S,
    REMEMBER_S,
    SPOT,
    SPOT_SCALED,
    FleetWay,
    Market,
    Terms,
    Ways,
    cheapest,
    mean_usd,
    repriced,
)
from unitcost.serving.occupancy import OPEN, arrivals_per_s, mean_hours, mean_replicas, replica_hours
from unitcost.serving.traces import Floats
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

#: Slots of the chart over the whole traffic: ten minutes of a day.
_SLOTS = 144
#: Traffic shorter than this says little about fleets that scale. [s]
_SHORT_S = 6.0 * SECONDS_PER_HOUR


def plan_fleets(
    ask: ServeAsk,
    fleets: FleetAsk,
    searched: Searched,
    prices: Prices,
    *,
    on_way: Callable[[str], None] = lambda _: None,
) -> FleetPlan:
    """Play each way of keeping replicas of the chosen option.

    Raises
    ------
    UnitcostError
        When nothing keeps the targets, so there is no option to keep replicas of.
    BadSetting
        When a recording of spot capacity is shorter than the traffic.
    """
    base = searched.chosen
    if base is None:
        raise UnitcostError(
            "nothing keeps the targets, so there are no fleets to compare", mend="loosen a target, or add a --gpu"
        )
    run, served = searched.run, base.option.grid.served
    cold = cold_start(served, ask.cold)
    market = market_of(fleets, run.trace.duration_s)
    offer = _Offer.of(searched, prices, fleets, market)
    ways = Ways(
        run=run, base=base, cold=cold, terms=offer.terms, market=market, warm_pool=fleets.warm_pool, on_way=on_way
    )  # fmt: skip
    before, played = run.runs, list(ways.played())
    best = cheapest(played)
    edges_s = np.linspace(0.0, run.trace.duration_s, _SLOTS + 1)
    rows = tuple(_row(way, best, edges_s, base.cost.usd) for way in played)
    return FleetPlan(
        option=base.option.name, rows=rows, chosen=best.name if best else "", slot_s=float(edges_s[1]),
        requests_per_s=arrivals_per_s(run.trace, edges_s).tolist(), fixed_replicas=base.replicas,
        usd_per_replica_hour={str(name): usd for name, usd in offer.usd_per_replica_hour.items()}, cold_start_s=cold.total_s,
        runs=run.runs - before,
        notes=(*_too_short(run.trace.duration_s), *_notes(fleets, market, cold_words(cold, ask.cold), cold.wake_s), *offer.notes(played)),
    )  # fmt: skip


def market_of(ask: FleetAsk, duration_s: float) -> Market:
    """Losses of spot replicas: from a recording where one is given, else from the rate."""
    losses = LossRate(per_hour=ask.kills_per_hour, notice_s=ask.notice_s, return_s=ask.away_s)
    if ask.spot_trace is None:
        return Market(losses=losses)
    means = cast(spot_traces.Means | None, ask.trace_means)
    recorded = spot_traces.read(ask.spot_trace, means=means, gap_s=ask.gap_s)
    ticks = int(-(-duration_s // recorded.gap_s))
    if ticks > len(recorded.counts):
        lasts_h = len(recorded.counts) * recorded.gap_s / SECONDS_PER_HOUR
        raise BadSetting(
            f"the recording of {lasts_h:.1f} h is shorter than the traffic of {duration_s / SECONDS_PER_HOUR:.1f} h",
            where=ask.spot_trace.name, mend="give a longer recording, or a shorter --duration",
        )  # fmt: skip
    return Market(losses=losses, counts=recorded.counts[:ticks], gap_s=recorded.gap_s, nodes=recorded.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """Prices of a replica, and whose they are.

    Parameters
    ----------
    spot, fallback
        Of one machine in one region where such a pair is known.
    cheapest_spot
        Of any provider.
    """

    gpus: Decimal
    on_demand: Rental
    spot: Rental | None
    fallback: Rental
    cheapest_spot: Rental | None
    standby: Decimal | None

    @classmethod
    def of(cls, searched: Searched, prices: Prices, ask: FleetAsk, market: Market) -> _Offer:
        base = searched.chosen
        assert base is not None  # looked at before
        priced, served = searched.priced(base.option), base.option.grid.served
        pair = prices.spot_beside_on_demand(chip(served.gpu), served.gpus, market.there_share)
        spot, fallback = pair or (priced.spot, priced.rental)
        return cls(
            gpus=Decimal(served.gpus), on_demand=priced.rental, spot=spot, fallback=fallback, cheapest_spot=priced.spot,
            standby=ask.standby_usd_per_gpu_hour,
        )  # fmt: skip

    def _replica(self, each: Decimal) -> Decimal:
        return money.multiply(each, self.gpus)

    @property
    def terms(self) -> Terms:
        return Terms(
            on_demand=self._replica(self.on_demand.usd_per_accelerator_hour),
            spot=self._replica(self.spot.usd_per_accelerator_hour) if self.spot else None,
            fallback=self._replica(self.fallback.usd_per_accelerator_hour),
            standby=self._replica(self.standby) if self.standby is not None else None,
        )  # fmt: skip

    @property
    def usd_per_replica_hour(self) -> dict[str, Decimal]:
        terms = self.terms
        named = {"on-demand": terms.on_demand, "spot": terms.spot, "fallback": terms.fallback if terms.spot else None}
        return {name: usd for name, usd in named.items() if usd is not None}

    def notes(self, played: list[FleetWay]) -> Iterator[str]:
        """Whose prices these are, and what two providers would take."""
        yield f"On demand {_per_gpu(self.on_demand)}."
        if self.spot is None or self.cheapest_spot is None:
            return
        yield f"Spot {_per_gpu(self.spot)}."
        same = (self.fallback.machine, self.fallback.region) == (self.spot.machine, self.spot.region)
        yield f"Fallback on demand {_per_gpu(self.fallback)}{'' if same else ': not the machine of the spot price'}."
        if self.cheapest_spot == self.spot and self.fallback == self.on_demand:
            return
        across = replace(
            self.terms, spot=self._replica(self.cheapest_spot.usd_per_accelerator_hour), fallback=None
        ).spot_rates  # fmt: skip
        said = [
            f"{way.name} {_a_day(repriced(way, across), way.tried.outcome.end_s):,.2f} USD a day"
            for way in played
            if way.tried is not None and way.name in (SPOT, SPOT_SCALED)
        ]
        if said:
            where = f"spot {_per_gpu(self.cheapest_spot)}, and the fallback like the plan"
            yield f"Across providers, {where}: {'; '.join(said)}."


def _per_gpu(rental: Rental) -> str:
    shared = f" (machine of {rental.count})" if rental.count > 1 else ""
    return f"{rental.usd_per_accelerator_hour:,.3f} USD per GPU-hour, {rental.machine} {rental.region}{shared}"


def _too_short(duration_s: float) -> Iterator[str]:
    """What to say of traffic over which nothing rises and falls."""
    if duration_s < _SHORT_S:
        yield (
            f"The traffic lasts {duration_s / SECONDS_PER_HOUR:.1f} h. Fleets that scale and losses of spot show over hours: play a "
            "whole day."
        )


def _notes(ask: FleetAsk, market: Market, cold: str, wake_s: float) -> Iterator[str]:
    yield f"Cold start {cold}; from the warm pool {wake_s:g} s."
    yield (
        f"Autoscaler: looks each {LOOK_S:g} s at the requests not answered yet, stops what was not wanted for "
        f"{REMEMBER_S / SECONDS_PER_MINUTE:g} minutes. The most, the target in flight, the warm pool and the spare spot "
        "replicas are the smallest that keep the targets."
    )
    standby = "as --standby-usd-per-hour says" if ask.standby_usd_per_gpu_hour is not None else "like one that serves"
    yield f"A replica that loads is paid; one in the warm pool is paid {standby}."
    notice = f"{ask.notice_s:g} s of notice"
    if market.counts:
        yield f"Spot: capacity as recorded in {ask.spot_trace.name if ask.spot_trace else ''}, {notice}."
    else:
        yield (
            f"Spot: each replica is lost {ask.kills_per_hour:g} times an hour with {notice}, and its capacity stays away "
            f"{ask.away_s / SECONDS_PER_MINUTE:g} minutes in the mean. --kills-per-hour, --away, --notice or --spot-trace say otherwise."
        )


def _a_day(usd: Decimal, span_s: float) -> Decimal:
    span_us = Decimal(round(span_s * MICROSECONDS_PER_SECOND))
    return money.divide(money.multiply(usd, Decimal(SECONDS_PER_DAY * MICROSECONDS_PER_SECOND)), span_us)


def _row(way: FleetWay, best: FleetWay | None, edges_s: Floats, fixed_usd: Decimal) -> FleetRow:
    tried = way.tried
    if tried is None:
        return FleetRow(
            name=way.name, setting="", usd_per_day=None, usd_per_day_draws=(), usd_per_mtok_total=None, ttft_p95_s=None, tpot_p95_s=None,
            good_share=None, unanswered=0, thrown_back=0, hours=None, cold_usd_share=0.0, warm_usd_share=0.0,
            ready_replicas=(), spot_replicas=(), change_share=None,
            meets=False, verdict=f"not played: {way.why_not}",
        )  # fmt: skip
    outcome, latencies = tried.outcome, tried.outcome.latencies
    days = tuple(_a_day(one.cost.usd, one.outcome.end_s) for one in way.draws)
    units = [one.units.per_mtok_total for one in way.draws if one.units.per_mtok_total is not None]
    costs = [one.cost for one in way.draws]
    usd = mean_usd([cost.usd for cost in costs])
    return FleetRow(
        name=way.name, setting=way.setting, usd_per_day_draws=days, usd_per_day=mean_usd(days),
        usd_per_mtok_total=mean_usd(units) if units else None,
        ttft_p95_s=latencies["ttft_s"].p95 if "ttft_s" in latencies else None,
        tpot_p95_s=latencies["tpot_s"].p95 if "tpot_s" in latencies else None, good_share=outcome.good_share,
        unanswered=outcome.requests - outcome.answered, thrown_back=outcome.lost,
        hours=mean_hours([replica_hours(one.outcome) for one in way.draws]),
        cold_usd_share=_share(mean_usd([cost.cold_usd for cost in costs]), usd),
        warm_usd_share=_share(mean_usd([cost.warm_usd for cost in costs]), usd),
        ready_replicas=mean_replicas(outcome.intervals, edges_s, states=OPEN).tolist(),
        spot_replicas=mean_replicas(outcome.intervals, edges_s, states=OPEN, category="spot").tolist(),
        change_share=_share(usd, fixed_usd) - 1, meets=not tried.misses, verdict=_verdict(way, best),
    )  # fmt: skip


def _share(part: Decimal, whole: Decimal) -> float:
    return float(money.divide(part, whole)) if whole else 0.0


def _verdict(way: FleetWay, best: FleetWay | None) -> str:
    tried = way.tried
    assert tried is not None  # looked at before
    if tried.misses:
        return f"ruled out: {'; '.join(tried.misses)}"
    if best is None or best is way or best.usd is None or way.usd is None:
        return "taken: the cheapest that keeps the targets"
    if way.usd == best.usd:
        return f"keeps the targets, costs as much as {best.name}"
    return f"keeps the targets, {_share(way.usd, best.usd) - 1:.0%} dearer than {best.name}"
