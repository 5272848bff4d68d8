"""Plan how to serve a model: every option played on the traffic, priced, and the cheapest inside the targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.facts.estimates import Estimate
from unitcost.facts.rentals import PricingCategory, Rental
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve_api import api_offers
from unitcost.jobs.plan_serve_options import Priceable, Wanted, options_of
from unitcost.jobs.serve_answers import Bands, Paying, ServeAsk, ServeOption, ServePlan, Traffic
from unitcost.jobs.serve_curve import requests_of_curve
from unitcost.jobs.serve_prompt_cache import prompt_cache_of
from unitcost.jobs.serve_requests import need_time, requests_of_files, requests_of_ledger
from unitcost.jobs.workspace import Workspace
from unitcost.machine.accelerators import chip
from unitcost.measure.attention_kind import attention_kind
from unitcost.measure.open_loops import open_loop_bands
from unitcost.serving.engine_limits import flags
from unitcost.serving.fleet import Engine, prefix_caching_works
from unitcost.serving.own_or_api import OwnReplicas
from unitcost.serving.search import Found, Option, Refused, Search, Tried, frontier, search
from unitcost.serving.synthetic import constant
from unitcost.serving.traces import Trace
from unitcost.units import HOURS_PER_MONTH, SECONDS_PER_HOUR

_ERROR_QUANTILES = (0, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Whom to tell how far it is.

    Parameters
    ----------
    run, compile, way
        Called before each run with the option's name, before machine code is made, and before each way to keep replicas.
    """

    run: Callable[[str], None] = lambda _: None
    compile: Callable[[], None] = lambda: None
    way: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A search with what it was made from, for what is asked further."""

    run: Search
    found: Found
    options: dict[str, Priceable]
    traffic: Traffic
    chosen: Tried | None

    def priced(self, option: Option) -> Priceable:
        """The option that another is, or is a variant of, with its prices."""
        return self.options[option.family]


def plan_serve(ask: ServeAsk, prices: Prices, *, watch: Watch | None = None) -> tuple[ServePlan, Searched]:
    """Cheapest way to serve a model's traffic inside its targets.

    Raises
    ------
    BadFile
        When no request of the trace can be played.
    NoPrice, UnknownName
        When nothing that could serve the model has step times and a price.
    """
    told = watch or Watch()
    wanted = Wanted(
        model=ask.model, gpus=ask.gpus, precisions=ask.precisions, backend=ask.backend, qualities=ask.qualities,
        quality_bar=ask.quality_bar, calibration=ask.calibration,
    )  # fmt: skip
    caching, off_reason = prefix_caching_works(attention_kind(ask.model))
    options, unfit = options_of(wanted, prices, Engine(prefix_caching=caching))
    room = max(one.option.grid.kv_tokens_per_replica for one in options)
    trace, traffic = traffic_of(ask, prices.workspace, most_tokens=room)
    run = Search(trace, ask.limits, most_replicas=ask.most_replicas, on_run=told.run, on_compile=told.compile)
    found = search([one.option for one in options], run)
    chosen = next((tried for tried in found.fewest if not tried.option.needs_check), None)
    by_name = {one.option.name: one for one in options}
    searched = Searched(run=run, found=found, options=by_name, traffic=traffic, chosen=chosen)
    plan = _answer(ask, searched, [*unfit, *found.refused], prices)
    account = prompt_cache_of(trace, chosen, off_reason) if chosen is not None and trace.hash_tokens else None
    return replace(plan, prompt_cache=account, off_reason=off_reason), searched


def traffic_of(ask: ServeAsk, workspace: Workspace, *, most_tokens: int | None = None) -> tuple[Trace, Traffic]:
    """The requests that are asked about, from files, from the ledger or from a rate.

    Parameters
    ----------
    most_tokens
        Of a request in files and ledger: what no replica holds is refused there by row. None: no limit.
    """
    findings: list[str] = []
    if ask.trace is not None or ask.calls:
        trace, findings = _of_records(ask, workspace, most_tokens)
        trace = trace.head(ask.requests) if ask.requests else trace
        need_time(trace, findings)
    elif ask.curve is not None and ask.lengths is not None:
        trace, findings = requests_of_curve(
            ask.curve, ask.lengths, group=ask.lengths_group, per_day=ask.per_day, duration_s=ask.duration_s
        )  # fmt: skip
    elif ask.per_s and ask.input_tokens and ask.output_tokens:
        trace = constant(
            per_s=ask.per_s, input_tokens=ask.input_tokens, output_tokens=ask.output_tokens, duration_s=ask.duration_s
        )  # fmt: skip
    else:
        raise BadSetting(
            "there is no traffic: a rate (--rps) needs lengths" if ask.per_s else "there is no traffic",
            mend="give --trace, --calls, --curve with --lengths, or --rps with --input and --output",
        )
    if not trace.duration_s > 0:
        raise BadSetting("all requests come at one moment", mend="give a trace that lasts some time")
    return trace, Traffic(
        name=trace.name, requests=len(trace), duration_s=trace.duration_s, per_s=len(trace) / trace.duration_s,
        input_tokens=int(trace.input_tokens.sum()), output_tokens=int(trace.output_tokens.sum()), findings=tuple(findings),
    )  # fmt: skip


def _of_records(ask: ServeAsk, workspace: Workspace, most_tokens: int | None) -> tuple[Trace, list[str]]:
    if ask.trace is None:
        return requests_of_ledger(workspace, ask.calls, most_tokens=most_tokens)
    files = (ask.trace, *ask.more_traces)
    return requests_of_files(files, hash_tokens=ask.hash_tokens, most_tokens=most_tokens)


def shown(tried: Tried, priced: Priceable) -> ServeOption:
    """An option for a reader."""
    served, units, grid = tried.option.grid.served, tried.units, tried.option.grid
    usd = tried.cost.usd
    return ServeOption(
        name=tried.option.name, gpu=served.gpu, precision=served.precision, gpus_per_replica=served.gpus,
        replicas=tried.replicas, usd_per_gpu_hour=priced.rental.usd_per_accelerator_hour,
        price_source=f"{priced.rental.machine} {priced.rental.region}, {priced.rental.source}".strip(),
        usd_per_hour=tried.usd_per_hour, usd_per_month=units.per_month, usd_per_mtok_input=units.per_mtok_input,
        usd_per_mtok_output=units.per_mtok_output, usd_per_mtok_total=units.per_mtok_total,
        usd_per_1k_requests=units.per_1k_requests, latencies=tried.outcome.latencies,
        busy_share=tried.outcome.busy_share, idle_usd_share=float(tried.cost.idle_usd / usd) if usd else 0.0,
        batch_mean=tried.outcome.batch_mean, good_share=tried.outcome.good_share, misses=tried.misses,
        needs_check=tried.option.needs_check, step_times=(f"{grid.origin}: {grid.source}", *grid.flags),
    )  # fmt: skip


def _answer(ask: ServeAsk, searched: Searched, ruled_out: Sequence[Refused], prices: Prices) -> ServePlan:
    found, chosen = searched.found, searched.chosen

    def row(tried: Tried) -> ServeOption:
        return shown(tried, searched.priced(tried.option))

    first = found.fewest[0] if found.fewest else None
    best = row(chosen) if chosen else None
    own = _own(chosen, searched.traffic) if chosen else None
    return ServePlan(
        ask=ask, traffic=searched.traffic, chosen=best,
        after_check=row(first) if first is not None and first is not chosen else None,
        options=tuple(map(row, found.fewest)), frontier=tuple(map(row, frontier(found.tried, ask.limits))),
        played=tuple(map(row, found.tried)), bands=bands_of(chosen, searched.run) if chosen else None,
        paying=_paying(chosen, searched.priced(chosen.option).rental, prices) if chosen else (),
        api=api_offers(ask.model, searched.run.trace, own, prices),
        ruled_out=tuple(ruled_out), runs=searched.run.runs, sampled_requests=len(searched.run.sample),
        messages=_messages(chosen, searched),
    )  # fmt: skip


def _messages(chosen: Tried | None, searched: Searched) -> tuple[str, ...]:
    said = list(searched.traffic.findings)
    if chosen is None:
        said.append("no option keeps the targets with a quality that is not in doubt: see what was ruled out")
        return tuple(said)
    grid, engine = chosen.option.grid, chosen.option.engine
    if grid.flags:
        said.append(f"step times of {chosen.option.name}: {'; '.join(grid.flags)}")
    limits = flags(grid.served.backend, engine, default=searched.priced(chosen.option).option.engine)
    if limits:
        said.append(f"start the engine of {chosen.option.name} with {limits}")
    return tuple(said)


def bands_of(chosen: Tried, run: Search) -> Bands:
    """Latencies with the errors of measured runs, and the cost were every step as much faster or slower."""
    bands = open_loop_bands(chosen.option.grid)
    steps, known = bands.steps, bands.known
    options = [_as_fast(chosen, steps[place]) for place in _ERROR_QUANTILES]
    low, high = (run.fewest(option, start=chosen.replicas) for option in options)
    same = [run.play(option, chosen.replicas) for option in options]
    as_planned = chosen.units.per_month or money.ZERO
    costs = [float(t.units.per_month or 0) for t in (low, chosen, high) if t is not None]
    return Bands(
        known=known, ttft_p95_s=_estimate(chosen, "ttft_s", bands.first, bands.measured_on, same),
        tpot_p95_s=_estimate(chosen, "tpot_s", steps, bands.measured_on, same),
        usd_per_month=Estimate(
            value=float(as_planned), low=min(costs), high=max(costs), basis="modelled",
            because=f"fewest replicas with step times {steps[0]:g} to {steps[-1]:g} times as long; error known by {known}",
        ),
        replicas=(low.replicas if low else chosen.replicas, chosen.replicas, high.replicas if high else None),
    )  # fmt: skip


def _as_fast(chosen: Tried, times: float) -> Option:
    """The chosen option, were all its steps so many times as long."""
    constants = chosen.option.grid.constants
    slower = replace(
        constants, scale=constants.scale * times, per_step_s=constants.per_step_s * times,
        per_prefill_step_s=constants.per_prefill_step_s * times, per_sequence_s=constants.per_sequence_s * times,
    )  # fmt: skip
    grid = replace(chosen.option.grid, constants=slower)
    return replace(chosen.option, grid=grid, name=f"{chosen.option.name}, steps {times:g} times as long")


def _estimate(
    chosen: Tried, name: str, band: Sequence[float], measured_on: str, as_fast: Sequence[Tried]
) -> Estimate | None:
    """A latency with the error of measured runs, and what shorter and longer steps make of the queues."""
    latency = chosen.outcome.latencies.get(name)
    if latency is None:
        return None
    played = [one.outcome.latencies[name].p95 for one in as_fast if name in one.outcome.latencies]
    reached = [latency.p95, *(latency.p95 * band[place] for place in _ERROR_QUANTILES), *played]
    return Estimate(
        value=latency.p95, low=min(reached), high=max(reached), basis="modelled",
        because=f"{band[0]:g} (5 %) to {band[-1]:g} (95 %) measured over predicted on {measured_on}; and with all steps as much "
        "shorter or longer",
    )  # fmt: skip


def _own(chosen: Tried, traffic: Traffic) -> OwnReplicas:
    """What one chosen replica costs and answers in a month at this load."""
    tokens = Decimal(traffic.input_tokens + traffic.output_tokens)
    seconds_per_month = Decimal(HOURS_PER_MONTH * SECONDS_PER_HOUR)
    per_month = money.divide(money.multiply(tokens, seconds_per_month), Decimal(round(traffic.duration_s)))
    return OwnReplicas(
        usd_per_month=money.multiply(chosen.option.usd_per_replica_hour, Decimal(HOURS_PER_MONTH)),
        units_per_month=money.divide(per_month, Decimal(chosen.replicas)),
    )  # fmt: skip


_REMARKS: dict[PricingCategory, str] = {
    "on-demand": "the plan",
    "spot": "may be taken away: see --fleets for the replicas that needs",
    "reserved": "under a promise of use",
}


def _paying(chosen: Tried, planned: Rental, prices: Prices) -> tuple[Paying, ...]:
    """The chosen fleet under each kind of terms: on the machine of the plan where it is offered, and the cheapest elsewhere."""
    found = []
    for category in _REMARKS:
        gpu, count = chip(chosen.option.grid.served.gpu), chosen.option.grid.served.gpus
        here = planned if category == "on-demand" else prices.same_machine(gpu, planned, category)
        elsewhere = None if category == "on-demand" else prices.cheapest(gpu, count, category)
        offers = [here] if here is not None else []
        if elsewhere is not None and (
            here is None or elsewhere.usd_per_accelerator_hour < here.usd_per_accelerator_hour
        ):
            offers.append(elsewhere)
        found += [_paid(chosen, rental, planned, prices.same_machine(gpu, rental, "on-demand")) for rental in offers]
    return tuple(found)


def _paid(chosen: Tried, rental: Rental, planned: Rental, beside: Rental | None) -> Paying:
    each = rental.usd_per_accelerator_hour
    hourly = money.multiply(each, Decimal(chosen.option.grid.served.gpus * chosen.replicas))
    here = (rental.machine, rental.region) == (planned.machine, planned.region)
    dear = not here and each >= planned.usd_per_accelerator_hour
    said = ("" if here else "another provider or machine than the plan's", "dearer than the plan" if dear else "")
    where = "the plan" if rental is planned else "its machine" if here else "elsewhere, dearer" if dear else "elsewhere"
    remark = "; ".join(part for part in (*said, _REMARKS[rental.category]) if part)
    return Paying(
        category=rental.category, machine=f"{rental.machine} {rental.region}".strip(), usd_per_gpu_hour=each,
        on_demand_usd_per_gpu_hour=beside.usd_per_accelerator_hour if beside else None,
        usd_per_month=money.multiply(hourly, Decimal(HOURS_PER_MONTH)),
        source=f"{rental.machine} {rental.region}, {rental.source}", remark=remark, where=where,
    )  # fmt: skip
