"""Ways to keep replicas over a long stretch of traffic: fixed, by load, with a warm pool, on spot.

Every way is played on the same requests, with the smallest setting that keeps the targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from unitcost import money
from unitcost.serving.costs import Rates, price
from unitcost.serving.fleet import Autoscaler, Category, ColdStart, Fleet, LossRate
from unitcost.serving.search import Search, Tried
from unitcost.serving.spot import draw_losses, recorded_losses
from unitcost.units import SECONDS_PER_HOUR

#: Unanswered requests a replica should have that are tried: the more, the fewer replicas.
IN_FLIGHT = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 192.0, 256.0)
#: How often an autoscaler looks, how long it remembers (as Kubernetes has it), and what it starts at one look.
LOOK_S, REMEMBER_S, SURGE = 15.0, 300.0, 4
FIXED, SCALED, WARM = "fixed", "autoscaled", "warm pool"
SPOT_ALONE, SPOT, SPOT_SCALED = "spot alone", "spot + fallback", "spot by load"
#: How many ways there are.
WAYS = 6
#: Draws of the losses of spot that a setting must stand.
DRAWS = 3
_WARM_POOLS = (1, 2, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Prices of a replica. [USD / hour].

    Parameters
    ----------
    on_demand
        Of the fleets without spot.
    spot, fallback, standby
        Of spot and what stands in for it; None: there is no spot price; the fallback costs as `on_demand`; a replica in the warm pool
        is paid like one that serves.
    """

    on_demand: Decimal
    spot: Decimal | None = None
    fallback: Decimal | None = None
    standby: Decimal | None = None

    @property
    def rates(self) -> Rates:
        """Of fleets without spot."""
        return Rates(usd_per_hour={"on-demand": self.on_demand}, standby_usd_per_hour=self.standby)

    @property
    def spot_rates(self) -> Rates:
        """Of fleets with spot."""
        hourly: dict[Category, Decimal] = {"on-demand": self.on_demand if self.fallback is None else self.fallback}
        if self.spot is not None:
            hourly["spot"] = self.spot
        return Rates(usd_per_hour=hourly, standby_usd_per_hour=self.standby)


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """When spot replicas are lost and can be had again.

    Parameters
    ----------
    losses
        A rate; with `counts` only its notice counts.
    counts, gap_s
        Nodes that could be had by tick of a recording, and the length of a tick, [s]; empty: the rate counts. A node is a replica.
    nodes
        Nodes that the recording asked for; 0: without one.
    """

    losses: LossRate
    counts: Sequence[int] = ()
    gap_s: float = 0.0
    nodes: int = 0

    @property
    def there_share(self) -> float:
        """Part of the time that a spot replica can be had, in the mean."""
        if self.counts:
            return sum(self.counts) / (len(self.counts) * max(self.nodes, 1))
        return 1 / (1 + self.losses.per_hour * self.losses.return_s / SECONDS_PER_HOUR)

    def on(self, fleet: Fleet) -> Fleet:
        """The fleet with the losses of its spot places."""
        places = [place for place, category in enumerate(fleet.categories) if category == "spot"]
        if not self.counts:
            return replace(fleet, losses=self.losses)
        events = recorded_losses(self.counts, gap_s=self.gap_s, places=places, notice_s=self.losses.notice_s)
        return replace(fleet, events=(*fleet.events, *events))


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetWay:
    """A way to keep replicas, played.

    Parameters
    ----------
    setting
        What was found for it, in words.
    draws
        With losses of spot from a rate: every draw of them with that setting; `tried` is that with the fewest requests inside the
        targets.
    why_not
        Why it was not played, in words; empty: it was.
    """

    name: str
    setting: str = ""
    tried: Tried | None = None
    draws: tuple[Tried, ...] = ()
    why_not: str = ""

    @property
    def usd(self) -> Decimal | None:
        """Cost, in the mean of the draws. [USD]."""
        runs = self.draws or ((self.tried,) if self.tried is not None else ())
        return mean_usd([one.cost.usd for one in runs]) if runs else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """The search for the smallest setting of each way.

    Parameters
    ----------
    base
        The fewest fixed replicas that keep the targets.
    warm_pool
        Size of the warm pool; 0: the smallest that keeps the targets.
    on_way
        Called with the name of a way before it is played.
    """

    run: Search
    base: Tried
    cold: ColdStart
    terms: Terms
    market: Market
    warm_pool: int = 0
    on_way: Callable[[str], None] = field(default=lambda _: None)

    def played(self) -> Iterator[FleetWay]:
        """Each way, in the order of what it needs."""
        self.on_way(FIXED)
        yield self.fixed()
        for name, made in ((SCALED, self.autoscaled), (WARM, self.warm)):
            self.on_way(name)
            yield made()
        for name, made in ((SPOT_ALONE, self.spot_alone), (SPOT, self.spot), (SPOT_SCALED, self.spot_scaled)):
            self.on_way(name)
            no_price = "no spot price is known: give one with --prices"
            yield FleetWay(name=name, why_not=no_price) if self.terms.spot is None else made()

    def fixed(self) -> FleetWay:
        """The fewest replicas that keep the targets at the peak, all the time."""
        fleet = Fleet(grid=self.base.option.grid, places={"on-demand": self.base.replicas})
        return _best(FIXED, [self._play(fleet, f"{self.base.replicas} on demand all the time")])

    def autoscaled(self) -> FleetWay:
        """Replicas by load; the smallest most, then the largest target that keeps the limits."""
        return self._scaled(SCALED, pools=(0,))

    def warm(self) -> FleetWay:
        """The same with replicas in standby."""
        return self._scaled(WARM, pools=(self.warm_pool,) if self.warm_pool else _WARM_POOLS)

    def spot_alone(self) -> FleetWay:
        """Spot replicas, some more than needed, and nothing instead of those that are lost."""
        return self._fewest_spares(SPOT_ALONE, fallback=0)

    def spot(self) -> FleetWay:
        """The same; on-demand replicas stand in for lost ones until spot is back."""
        return self._fewest_spares(SPOT, fallback=self.base.replicas)

    def spot_scaled(self) -> FleetWay:
        """Replicas by load, on spot where it can be had and on demand where not."""
        found: list[_Played] = []
        for spare in dict.fromkeys((0, 1, math.ceil(self.base.replicas / 2))):
            most = self.base.replicas + spare
            if self._too_many(most):
                break
            places: dict[Category, int] = {"spot": most, "on-demand": self.base.replicas}
            fleet = Fleet(grid=self.base.option.grid, places=places, spare=spare, spare_on_spot=True)
            found += self._tuned(fleet, f"{most} places on spot ({spare} spare)", most=most + self.base.replicas)
            if any(not one.worst.misses for one in found):
                break
        return _best(SPOT_SCALED, found) if found else self._unrecorded(SPOT_SCALED)

    def _scaled(self, name: str, pools: Sequence[int]) -> FleetWay:
        found: list[_Played] = []
        for pool in pools:
            for most in _most(self.base.replicas):
                fleet = Fleet(grid=self.base.option.grid, places={"on-demand": most + pool}, warm_pool=pool)
                found += self._tuned(fleet, f"{pool} in standby" if pool else "", most=most)
                if any(not one.worst.misses for one in found):
                    return _best(name, found)
        return _best(name, found)

    def _tuned(self, fleet: Fleet, words: str, *, most: int) -> list[_Played]:
        """What was played to find the largest target in flight that keeps the limits, by halving."""
        targets = [target for target in IN_FLIGHT if target <= self.base.option.grid.max_batch] or [1.0]
        found: list[_Played] = []
        low, high = -1, len(targets)
        while high - low > 1:
            middle = (low + high) // 2
            scaler = Autoscaler(
                target_in_flight=targets[middle], interval_s=LOOK_S, stabilisation_s=REMEMBER_S, surge=SURGE
            )
            scaled = replace(
                fleet, minimum=1, initial=self.base.replicas + fleet.spare, cold_start=self.cold, autoscaler=scaler
            )
            setting = ", ".join(part for part in (f"1 to {most}", f"{targets[middle]:g} in flight each", words) if part)
            one = self._play(scaled, setting)
            found.append(one)
            low, high = (low, middle) if one.worst.misses else (middle, high)
        return found

    def _fewest_spares(self, name: str, *, fallback: int) -> FleetWay:
        """The fewest spares that keep the targets, and more of them as long as they make it cheaper."""
        found: list[_Played] = []
        for spare in _spares(self.base.replicas):
            spot = self.base.replicas + spare
            if self._too_many(spot):
                break
            fleet = Fleet(
                grid=self.base.option.grid, places={"spot": spot, "on-demand": fallback}, minimum=self.base.replicas,
                initial=spot, spare=spare, spare_on_spot=True, cold_start=self.cold,
            )  # fmt: skip
            stand_in = f", up to {fallback} on demand" if fallback else ""
            one = self._play(fleet, f"{spot} on spot ({spare} spare){stand_in}")
            kept = [before.usd for before in found if not before.worst.misses]
            found.append(one)
            if kept and (one.worst.misses or one.usd >= min(kept)):
                break
        return _best(name, found) if found else self._unrecorded(name)

    def _too_many(self, spot: int) -> bool:
        return bool(self.market.nodes) and spot > self.market.nodes

    def _unrecorded(self, name: str) -> FleetWay:
        why = f"the recording counts {self.market.nodes} nodes, {self.base.replicas} replicas are needed"
        return FleetWay(name=name, why_not=why)

    def _play(self, fleet: Fleet, setting: str) -> _Played:
        """Play a fleet, with losses of spot from a rate once for each draw of them, up to the first that misses a target."""
        whole = replace(fleet, engine=self.base.option.engine)
        spot = "spot" in whole.categories
        lost = self.market.on(whole) if spot else whole
        rates = self.terms.spot_rates if spot else self.terms.rates
        seeds = range(self.run.seed, self.run.seed + DRAWS) if lost.losses is not None else (self.run.seed,)
        draws: list[Tried] = []
        for seed in seeds:
            drawn = draw_losses(lost, until_s=self.run.trace.duration_s, seed=seed)
            draws.append(
                self.run.play_priced(self.base.option, drawn, rates, replicas=self.base.replicas)
            )  # fmt: skip
            if draws[-1].misses:
                break
        return _Played(setting=setting, draws=tuple(draws))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    """A setting and its runs."""

    setting: str
    draws: tuple[Tried, ...]

    @property
    def worst(self) -> Tried:
        """A run that misses a target, else the one with the fewest requests inside them."""
        return min(self.draws, key=lambda one: (not one.misses, one.outcome.good_share))

    @property
    def usd(self) -> Decimal:
        """Mean of the draws. [USD]."""
        return mean_usd([one.cost.usd for one in self.draws])


def _best(name: str, found: Sequence[_Played]) -> FleetWay:
    """The cheapest that keeps the targets; where none does, the one with the most requests inside them."""
    kept = [one for one in found if not one.worst.misses]
    best = min(kept, key=lambda one: one.usd) if kept else max(found, key=lambda one: one.worst.outcome.good_share)
    return FleetWay(name=name, setting=best.setting, tried=best.worst, draws=best.draws)


def _most(replicas: int) -> list[int]:
    """How many replicas an autoscaler may have: as many as the fixed fleet, then more."""
    return list(dict.fromkeys((replicas, math.ceil(1.25 * replicas), 2 * replicas)))


def _spares(replicas: int) -> Sequence[int]:
    """Spot replicas on top of those that are needed: one by one up to half, then in halves up to twice as many."""
    half = math.ceil(replicas / 2)
    return list(dict.fromkeys((*range(min(half, 3) + 1), half, replicas, replicas + half, 2 * replicas)))


def cheapest(ways: Sequence[FleetWay]) -> FleetWay | None:
    """The cheapest that keeps the targets in every draw of the losses; None: none does."""
    kept = [
        (way.usd, place, way) for place, way in enumerate(ways)
        if way.usd is not None and way.tried is not None and not way.tried.misses
    ]  # fmt: skip
    return min(kept, key=lambda one: one[:2])[2] if kept else None


def mean_usd(amounts: Sequence[Decimal]) -> Decimal:
    """Mean of amounts, of which there is at least one. [USD]."""
    return money.divide(money.add(amounts), Decimal(len(amounts)))


def repriced(way: FleetWay, rates: Rates) -> Decimal:
    """Cost of the same runs at other prices, in the mean of the draws. [USD]."""
    return mean_usd([price(one.outcome, rates).usd for one in way.draws])
