"""One row for each lever on a serving plan; every row is played again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost import money
from unitcost.errors import NoPrice, UnitcostError, UnknownName
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import Searched
from unitcost.jobs.plan_serve_cold import cold_start, cold_words
from unitcost.jobs.plan_serve_options import Wanted, options_of
from unitcost.jobs.serve_answers import ApiOffer, Lever, Levers, ServeAsk, TargetPoint
from unitcost.jobs.serve_cache import cache_remark, why_no_cache
from unitcost.machine.decoder import BYTES_PER_WEIGHT
from unitcost.measure.attention_kind import attention_kind
from unitcost.measure.labels import known_model
from unitcost.measure.step_grids import bundled
from unitcost.measure.step_times import decoder
from unitcost.serving import levers
from unitcost.serving.answer_cache import with_answer_cache
from unitcost.serving.costs import unit_costs
from unitcost.serving.fleet import ColdStart, Engine, prefix_caching_works
from unitcost.serving.search import Option, Search, Tried, search

#: Targets that are tried, as multiples of those asked for.
TARGETS = (0.5, 0.75, 1.25, 1.5, 2.0, 4.0)
_CONTEXT_SHARE = 0.75
_SAME = "same weights"


def pull_levers(
    ask: ServeAsk, searched: Searched, prices: Prices, api: tuple[ApiOffer, ...], *, smaller: str = ""
) -> Levers:
    """Play each lever on the chosen option.

    Parameters
    ----------
    smaller
        The smaller model to compare with; empty: the largest with bundled step times below this one, of its family first.

    Raises
    ------
    UnitcostError
        When nothing keeps the targets, so there is nothing to compare with.
    """
    base = searched.chosen
    if base is None:
        raise UnitcostError(
            "nothing keeps the targets, so there is no plan to pull levers on", mend="loosen a target, or add a --gpu"
        )
    pulled = _Pulled(ask=ask, searched=searched, base=base, prices=prices)
    loosened = {times: pulled.with_targets(times) for times in TARGETS}
    curve = tuple(_point(times, found) for times, found in loosened.items())
    rows = [
        pulled.row("as planned", base, "continuous batching, chunked prefill, least loaded"),
        *pulled.engines(), pulled.prediction_cache(), *pulled.targets(loosened),
        pulled.context(), *pulled.others(), *pulled.smaller(smaller),
        *pulled.fleets(), pulled.spot(), *pulled.api(api),
    ]  # fmt: skip
    return Levers(
        rows=tuple(rows), curve=curve, cold_start_s=pulled.cold.total_s, cold_start=cold_words(pulled.cold, ask.cold)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pulled:
    ask: ServeAsk
    searched: Searched
    base: Tried
    prices: Prices

    @property
    def run(self) -> Search:
        return self.searched.run

    @property
    def cold(self) -> ColdStart:
        return cold_start(self.base.option.grid.served, self.ask.cold)

    def row(self, lever: str, tried: Tried, remark: str = "", quality: str = "") -> Lever:
        latencies, units = tried.outcome.latencies, tried.units
        ttft, tpot = latencies.get("ttft_s"), latencies.get("tpot_s")
        said = "; ".join(part for part in (remark, *tried.misses) if part)
        return Lever(
            lever=lever, option=tried.option.name, replicas=tried.replicas, usd_per_mtok_total=units.per_mtok_total,
            usd_per_mtok_output=units.per_mtok_output, usd_per_month=units.per_month,
            usd_change_share=self.change(units.per_mtok_total), ttft_p95_s=ttft.p95 if ttft else None,
            tpot_p95_s=tpot.p95 if tpot else None, quality=quality or tried.option.needs_check or _SAME, remark=said,
        )  # fmt: skip

    def change(self, usd: Decimal | None) -> float | None:
        planned = self.base.units.per_mtok_total
        return float(money.divide(usd, planned)) - 1 if usd is not None and planned else None

    def none(self, lever: str, remark: str) -> Lever:
        return Lever(
            lever=lever, option="", replicas=0, usd_per_mtok_total=None, usd_per_mtok_output=None, usd_per_month=None,
            usd_change_share=None, ttft_p95_s=None, tpot_p95_s=None, quality="", remark=remark,
        )  # fmt: skip

    def engines(self) -> Iterator[Lever]:
        if self.base.option.variant_of:
            usual = self.as_shipped(self.base.option)
            found = self.run.fewest(usual, start=self.base.replicas) or self.run.play(usual, self.base.replicas)
            yield self.row("usual limits of the engine", found, f"steps of {usual.engine.max_step_tokens} tokens")
        shares = "" if self.run.trace.hash_tokens else "the trace states no hashes of prompts: nothing to share"
        static = levers.static_batching(self.run, self.base)
        yield self.row("static batching", static, static.option.name.rpartition(", ")[2])
        yield self.row("whole prompts, no chunked prefill", levers.whole_prompts(self.run, self.base))
        works, why = prefix_caching_works(attention_kind(self.ask.model))
        yield self.row("prompt cache off", levers.prompt_cache(self.run, self.base, on=False), shares)
        on = levers.prompt_cache(self.run, self.base, on=True) if works else None
        yield self.row("prompt cache on", on, shares) if on else self.none("prompt cache on", why)

    def prediction_cache(self) -> Lever:
        name, why = "prediction cache", why_no_cache(self.run.trace)
        if why:
            return self.none(name, why)
        found = with_answer_cache(self.run, self.base, self.ask.cache.cache)
        remark = cache_remark(found, self.ask.cache, self.base.replicas - found.tried.replicas)
        return self.row(name, found.tried, remark, "same answers to equal questions, as old as the cache lets them be")

    @property
    def free(self) -> list[Option]:
        """Options that were played to the end and whose quality is not in doubt, with and without limits of the engine."""
        found = [tried.option for tried in self.searched.found.fewest if not tried.option.needs_check]
        return [*found, *(self.as_shipped(option) for option in found if option.variant_of)]

    def as_shipped(self, option: Option) -> Option:
        """The option of which another is a variant."""
        return self.searched.priced(option).option

    def with_targets(self, times: float) -> Tried | None:
        """Cheapest option with all targets so many times as loose."""
        looser = levers.again(self.run, limits=levers.scaled(self.ask.limits, times))
        return levers.cheapest(looser, self.free, start=max(1, round(self.base.replicas / times)))

    def targets(self, loosened: Mapping[float, Tried | None]) -> Iterator[Lever]:
        for times, found in loosened.items():
            name = f"targets x {times:g}"
            yield self.row(name, found) if found else self.none(name, "nothing keeps such targets")

    def context(self) -> Lever:
        cut = levers.again(self.run, trace=levers.shorter(self.run.trace, _CONTEXT_SHARE))
        found = cut.fewest(self.base.option, start=self.base.replicas) or cut.play(self.base.option, self.base.replicas)
        units = self._over_asked_tokens(found)
        check = "needs quality check: a quarter of each prompt is gone"
        return self.row("context -25 %", units, "cost over the tokens before the cut", check)

    def _over_asked_tokens(self, tried: Tried) -> Tried:
        """Cost per token as if the prompts still had all their tokens: the work that is answered is the same."""
        total = self.searched.traffic.input_tokens + self.searched.traffic.output_tokens
        outcome = replace(tried.outcome, input_tokens=total - tried.outcome.output_tokens)
        return replace(tried, units=unit_costs(tried.cost.usd, outcome))

    def others(self) -> Iterator[Lever]:
        served = self.base.option.grid.served
        fewest = self.searched.found.fewest
        width = BYTES_PER_WEIGHT[served.precision]
        quantised = [t for t in fewest if BYTES_PER_WEIGHT[t.option.grid.served.precision] < width]
        here = [t for t in quantised if t.option.grid.served.gpu == served.gpu]
        yield from self._first("quantised, same GPU", here)
        yield from self._first("quantised, any GPU", quantised)
        elsewhere = [t for t in fewest if t.option.grid.served.gpu != served.gpu and not t.option.needs_check]
        yield from self._first("other GPU", elsewhere)

    def _first(self, lever: str, found: list[Tried]) -> Iterator[Lever]:
        asked = "; only what --gpu and --precision name was looked at" if self.ask.gpus or self.ask.precisions else ""
        yield self.row(lever, found[0]) if found else self.none(lever, f"none keeps the targets near this cost{asked}")

    def smaller(self, name: str) -> Iterator[Lever]:
        model = name or smaller_model(self.ask.model)
        if not model:
            yield self.none("smaller model", "no smaller one has step times that ship: name one with --smaller-model")
            return
        wanted = Wanted(
            model=model, gpus=self.ask.gpus, precisions=(), backend=self.ask.backend, qualities=self.ask.qualities
        )
        try:
            options, _ = options_of(wanted, self.prices, Engine())
        except (NoPrice, UnknownName) as why:
            yield self.none(f"smaller model: {model}", str(why))
            return
        own = [one.option for one in options if not one.option.needs_check]
        found = search(own or [one.option for one in options], levers.again(self.run)).fewest
        quality = self.ask.qualities.get(model)
        said = (
            f"measured quality {money.text(quality)}" if quality is not None else "needs quality check: another model"
        )
        if found:
            yield self.row(f"smaller model: {model.rpartition('/')[2]}", found[0], "", said)
        else:
            yield self.none(f"smaller model: {model}", "keeps no targets either")

    def fleets(self) -> Iterator[Lever]:
        started = f"cold start {self.cold.total_s:.0f} s"
        yield self.row("autoscaled", levers.autoscaled(self.run, self.base, self.cold), started)
        warm = max(1, self.base.replicas // 3)
        yield self.row(
            f"autoscaled, warm pool of {warm}", levers.autoscaled(self.run, self.base, self.cold, warm_pool=warm),
            "standby is paid like ready",
        )  # fmt: skip
        yield self.row("scale to zero", levers.scale_to_zero(self.run, self.base, self.cold), started)

    def spot(self) -> Lever:
        name = "spot with redundancy"
        priced = self.searched.priced(self.base.option)
        if priced.spot is None:
            return self.none(name, "no spot price is known")
        gpus = Decimal(self.base.option.grid.served.gpus)
        usd = money.multiply(priced.spot.usd_per_accelerator_hour, gpus)
        found = levers.spot_with_redundancy(self.run, self.base, usd, self.cold)
        if found is None:
            return self.none(name, "don't: even twice as many replicas miss a target when one is lost at the peak")
        dearer = found.cost.usd >= self.base.cost.usd
        said = f"any one may be lost at the peak; {found.replicas - self.base.replicas} more than on demand"
        return self.row(name, found, f"don't: not cheaper than on demand; {said}" if dearer else said)

    def api(self, offers: tuple[ApiOffer, ...]) -> Iterator[Lever]:
        if not offers:
            yield self.none("API", "no price list has this model")
            return
        best = offers[0]
        yield Lever(
            lever="API", option=f"{best.provider} {best.model}", replicas=0, usd_per_mtok_total=best.usd_per_mtok_total,
            usd_per_mtok_output=best.usd_per_mtok_output, usd_per_month=best.usd_per_month,
            usd_change_share=self.change(best.usd_per_mtok_total), ttft_p95_s=None, tpot_p95_s=None,
            quality=best.needs_check or "same model, precision not stated", remark="latency not looked at",
        )  # fmt: skip


def _point(times: float, found: Tried | None) -> TargetPoint:
    if found is None:
        return TargetPoint(times=times, usd_per_mtok_total=None, option="", replicas=0)
    return TargetPoint(
        times=times, usd_per_mtok_total=found.units.per_mtok_total, option=found.option.name, replicas=found.replicas
    )


def smaller_model(model: str) -> str:
    """Largest model with bundled step times below a model, of its family first; empty when there is none."""
    meant = known_model(model)
    sizes = {}
    for name in {grid.served.model for grid in bundled()} | {meant}:
        try:
            sizes[name] = decoder(name).params
        except UnknownName:
            continue
    if meant not in sizes:
        return ""
    below = [name for name, size in sizes.items() if size < sizes[meant]]
    family = meant.partition("/")[0]
    return max(below, key=lambda name: (name.startswith(family), sizes[name], name), default="")
