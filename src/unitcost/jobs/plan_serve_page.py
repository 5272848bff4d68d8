"""The serving plan as a page."""

from __future__ import annotations

from decimal import Decimal

from unitcost.facts.estimates import Estimate
from unitcost.jobs.plan_serve_fleets_page import fleets_section, fleets_tile
from unitcost.jobs.plan_words import ranged, usd, usd_ranged
from unitcost.jobs.serve_answers import ApiOffer, Lever, Paying, ServeOption, ServePlan
from unitcost.jobs.serve_prompt_cache import prompt_cache_section
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanPage, PlanTile, line_chart, points_chart, table
from unitcost.serving.own_or_api import STAIRS
from unitcost.units import MEGA, MILLISECONDS_PER_SECOND, SECONDS_PER_MINUTE

_API_SHOWN, _RULED_SHOWN = 8, 40


def serve_page(plan: ServePlan) -> PlanPage:
    """Page of a serving plan."""
    traffic = plan.traffic
    cache = prompt_cache_section(plan.prompt_cache) if plan.prompt_cache else None
    sections = (
        _options(plan), *fleets_section(plan.fleets), _frontier(plan), cache, _paying(plan), _levers(plan), _api(plan),
        _ruled_out(plan), _how(plan),
    )  # fmt: skip
    return PlanPage(
        title="Serving plan",
        subtitle=f"{plan.ask.model}, {traffic.requests:,} requests at {traffic.per_s:,.3g} a second, {_limits(plan)}",
        messages=plan.messages, tiles=_tiles(plan), sections=tuple(one for one in sections if one is not None),
    )  # fmt: skip


def _limits(plan: ServePlan) -> str:
    limits = plan.ask.limits
    said = [
        f"{name} p95 at most {limit * MILLISECONDS_PER_SECOND:,.4g} ms"
        for name, limit in (
            ("TTFT", limits.ttft_p95_s), ("TPOT", limits.tpot_p95_s), ("end to end", limits.e2e_p95_s),
        ) if limit is not None
    ]  # fmt: skip
    return ", ".join(said) or "no target"


def _tiles(plan: ServePlan) -> tuple[PlanTile, ...]:
    best, bands = plan.chosen, plan.bands
    if best is None or bands is None:
        return (PlanTile(name="take", value="nothing keeps the targets", beside="see what was ruled out"),)
    tiles = [
        _take("take", best, f"{usd(best.usd_per_hour)} USD an hour on demand"),
        PlanTile(name="a month, USD", value=usd_ranged(bands.usd_per_month), beside=f"busy {best.busy_share:.0%}"),
        PlanTile(
            name="a million tokens, USD", value=money(best.usd_per_mtok_total),
            beside=f"{money(best.usd_per_mtok_input)} per million of input, {money(best.usd_per_mtok_output)} of output",
        ),
        PlanTile(name="TTFT p95, ms", value=ms(bands.ttft_p95_s), beside=_range_words(bands.ttft_p95_s, plan.ask.limits.ttft_p95_s)),
        PlanTile(name="TPOT p95, ms", value=ms(bands.tpot_p95_s), beside=_range_words(bands.tpot_p95_s, plan.ask.limits.tpot_p95_s)),
    ]  # fmt: skip
    tiles += fleets_tile(plan.fleets)
    if plan.after_check:
        other = plan.after_check
        tiles.append(
            _take(
                "cheaper if quality holds",
                other,
                f"{money(other.usd_per_mtok_total)} USD a million tokens",
                other.needs_check,
            )
        )
    if plan.api:
        offer = plan.api[0]
        tiles.append(
            PlanTile(
                name="API, a month, USD",
                value=usd(offer.usd_per_month),
                beside=f"{offer.provider}; {flip_words(offer)}",
            )
        )
    return tuple(tiles)


def _take(name: str, option: ServeOption, *beside: str) -> PlanTile:
    """Tile of an option: the replicas, and in small print the limit of the engine and what else there is to say."""
    deployment, limit = _parts(option.name)
    return PlanTile(
        name=name,
        value=f"{option.replicas} x ({deployment})",
        beside="; ".join(part for part in (limit, *beside) if part),
    )


def _parts(name: str) -> tuple[str, str]:
    """GPUs and precision of an option, and the limit of the engine that it has beside; empty: none."""
    deployment, _, limit = name.partition(", ")
    return deployment, limit


def _range_words(estimate: Estimate | None, limit_s: float | None) -> str:
    """What the range of a latency is, and what it would take where its slow end misses the target."""
    said = "range: error of measured runs"
    if estimate is None or limit_s is None or estimate.high <= limit_s:
        return said
    return f"{said}; at its slow end this many replicas miss the target: see the range of the cost"


def money(amount: Decimal | None) -> str:
    """Unit cost for a reader."""
    return "–" if amount is None else f"{amount:,.3f}"


def ms(estimate: Estimate | None) -> str:
    """Estimated time for a reader; beyond a minute a queue grows, and how long it is tells nothing. [ms]."""
    if estimate is None or estimate.high <= SECONDS_PER_MINUTE or estimate.value > SECONDS_PER_MINUTE:
        return ranged(estimate, ",.0f", MILLISECONDS_PER_SECOND)
    value, low, most = (
        f"{x * MILLISECONDS_PER_SECOND:,.0f}" for x in (estimate.value, estimate.low, SECONDS_PER_MINUTE)
    )
    return f"{value} ({low} to over {most})"


def p95_ms(option: ServeOption, name: str) -> str:
    """95th percentile of a latency for a reader. [ms]."""
    latency = option.latencies.get(name)
    return "–" if latency is None else f"{latency.p95 * MILLISECONDS_PER_SECOND:,.0f}"


def flip_words(offer: ApiOffer) -> str:
    """From which volume on own replicas are cheaper."""
    if not offer.flips:
        return "own replicas never become cheaper at this load"
    tokens, who = offer.flips[0]
    back = ""
    if len(offer.flips) > 1:  # own at first, where a second replica begins the API again, and so on
        last, winner = offer.flips[-1]
        times = f"; it flips {len(offer.flips)} times with up to {STAIRS} replicas"
        back = f"{times}, last to {winner} at {float(last) / MEGA:,.0f}"
    return f"{who} cheaper from {float(tokens) / MEGA:,.0f} million tokens a month{back}"


_COLUMNS = [
    "option", "replicas", "USD/h", "USD/month", "USD/M total", "USD/M in", "USD/M out", "TTFT p95 ms", "TPOT p95 ms",
    "busy", "",
]  # fmt: skip
#: A narrow terminal leaves them out, so that names of options stay whole.
_SPARE = ("USD/h", "USD/M in")


def option_row(option: ServeOption, *, taken: ServeOption | None = None) -> list[str]:
    """An option as a row of a table. The limit of its engine stands among the remarks, so that names stay whole."""
    deployment, limit = _parts(option.name)
    return [
        deployment, str(option.replicas), usd(option.usd_per_hour),
        "–" if option.usd_per_month is None else usd(option.usd_per_month), money(option.usd_per_mtok_total),
        money(option.usd_per_mtok_input), money(option.usd_per_mtok_output), p95_ms(option, "ttft_s"),
        p95_ms(option, "tpot_s"), f"{option.busy_share:.0%}",
        "; ".join(part for part in ("taken" if option == taken else "", limit, option.needs_check, *option.misses) if part),
    ]  # fmt: skip


def _options(plan: ServePlan) -> Section:
    return Section(
        key="ways", title="Options", question="What does each option cost with the fewest replicas that keep the targets?",
        tables=(table(_COLUMNS, [option_row(option, taken=plan.chosen) for option in plan.options], spare=_SPARE),),
        notes=(
            "The whole cost stands over the input tokens, the output tokens and both: three views of one cost, not shares.",
        ),
    )  # fmt: skip


def _frontier(plan: ServePlan) -> Section:
    rows = [option_row(option, taken=plan.chosen) for option in plan.frontier]
    return Section(
        key="frontier", title="Cost against latency", question="What does an earlier first token cost?",
        tables=(table(_COLUMNS, rows, spare=_SPARE),), charts=(_chart(plan),) if plan.played else (),
        notes=("Of all that was played on the whole trace, what nothing else beats in both cost and TTFT.",),
    )  # fmt: skip


def _chart(plan: ServePlan) -> Chart:
    def place(option: ServeOption) -> tuple[float, float, str]:
        latency = option.latencies["ttft_s"].p95 * MILLISECONDS_PER_SECOND
        return latency, float(option.usd_per_mtok_total or 0), f"{option.replicas} x ({option.name})"

    best = {(option.name, option.replicas) for option in plan.frontier}
    keeps = [place(o) for o in plan.played if not o.misses and (o.name, o.replicas) not in best]
    late = [place(o) for o in plan.played if o.misses and (o.name, o.replicas) not in best]
    groups = {"frontier": [place(option) for option in plan.frontier], "keeps the targets": keeps, "misses": late}
    return points_chart(
        "cost-latency", "Cost against p95 TTFT", groups, joined="frontier", across="TTFT p95, ms",
        up="USD per million tokens",
    )  # fmt: skip


def _paying(plan: ServePlan) -> Section | None:
    if not plan.paying:
        return None
    rows = [
        [
            one.category, one.machine.partition(" ")[0], f"{one.usd_per_gpu_hour:,.3f}",
            money(one.on_demand_usd_per_gpu_hour), _below(one), usd(one.usd_per_month), one.where,
        ]
        for one in plan.paying
    ]  # fmt: skip
    columns = ["how", "provider", "USD per GPU-hour", "on demand there", "change", "USD/month", ""]
    return Section(
        key="paying", title="Ways to pay", question="What does the same fleet cost under other terms?",
        tables=(table(columns, rows, numbers=2),),
        notes=(
            "The plan's own machine under other terms where it is offered, and the cheapest of the price book that is cheaper or the "
            "only one, for machines that hold a whole replica; --region and --prices narrow it. "
            "`on demand there` is the same machine in the same region on demand, and `change` is against that.",
            *(f"{one.category}: {one.source}; {one.remark}." for one in plan.paying),
        ),
    )  # fmt: skip


def _below(one: Paying) -> str:
    beside = one.on_demand_usd_per_gpu_hour
    if beside is None or not beside or one.category == "on-demand":
        return "–"
    return f"{float(one.usd_per_gpu_hour) / float(beside) - 1:+.0%}"


def _api(plan: ServePlan) -> Section | None:
    if not plan.api:
        return None
    rows = [
        [
            f"{offer.provider} {offer.model}", usd(offer.usd_per_month), money(offer.usd_per_mtok_total),
            money(offer.usd_per_mtok_input), money(offer.usd_per_mtok_output),
            "; ".join(part for part in (flip_words(offer), offer.needs_check) if part),
        ]
        for offer in plan.api[:_API_SHOWN]
    ]  # fmt: skip
    return Section(
        key="api", title="Bought from an API", question="At which volume does the answer flip?",
        tables=(table(["API", "USD/month", "USD/M total", "USD/M in", "USD/M out", ""], rows),),
        notes=(
            "Own replicas are whole: their cost is a staircase, that of an API a line. The latency of APIs is not looked at, nor "
            "the precision they run.",
        ),
    )  # fmt: skip


def _levers(plan: ServePlan) -> Section | None:
    pulled = plan.levers
    if pulled is None:
        return None
    rows = [
        [
            one.lever, str(one.replicas) if one.replicas else "–", money(one.usd_per_mtok_total),
            "–" if one.usd_change_share is None else f"{one.usd_change_share:+.0%}", _ms(one.ttft_p95_s),
            _ms(one.tpot_p95_s), _answers(one.quality),
        ]
        for one in pulled.rows
    ]  # fmt: skip
    curve = [(point.times, float(point.usd_per_mtok_total)) for point in pulled.curve if point.usd_per_mtok_total]
    charts = (
        line_chart(
            "targets", "Cost by target", {"cheapest": curve}, across="targets, times those asked for", up="USD per million tokens"
        ),
    ) if curve else ()  # fmt: skip
    return Section(
        key="levers", title="Levers", question="What would each lever change?",
        tables=(table(["lever", "replicas", "USD/M total", "change", "TTFT p95 ms", "TPOT p95 ms", "answers"], rows),),
        charts=charts,
        notes=(
            *map(_remark, pulled.rows),
            "Each row is the plan with one thing changed and, but for fleets that scale, the fewest replicas that keep the targets.",
            f"A cold start is taken to last {pulled.cold_start}.",
        ),
    )  # fmt: skip


def _answers(quality: str) -> str:
    if not quality:
        return "–"
    return "check" if "needs quality check" in quality else "unsure" if "not stated" in quality else "same"


def _remark(lever: Lever) -> str:
    said = [part for part in (lever.option, lever.quality, lever.remark) if part]
    return f"{lever.lever}: {'; '.join(said)}."


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * MILLISECONDS_PER_SECOND:,.0f}"


def _ruled_out(plan: ServePlan) -> Section | None:
    if not plan.ruled_out:
        return None
    rows = [[one.name, one.stage, one.reason] for one in plan.ruled_out[:_RULED_SHOWN]]
    return Section(
        key="ruled-out", title="Ruled out", question="What was looked at and does not take part, and why?",
        tables=(table(["option", "by", ""], rows, numbers=2),),
    )  # fmt: skip


def _how(plan: ServePlan) -> Section:
    best = plan.chosen
    sample = f"{plan.sampled_requests:,} of {plan.traffic.requests:,} requests"
    notes = [
        f"{plan.runs} runs of the simulator; options were sorted out on {sample}, the last ones played on all.",
        "Replicas are whole. GPUs are priced by the GPU-hour, on demand, for as long as the traffic lasts; a month has 730 h.",
        "Least-loaded routing, continuous batching with chunked prefill of 8,192 tokens a step, "
        + (plan.off_reason or "prefix cache on")
        + ".",
    ]
    if best is not None and plan.bands is not None:
        notes += [f"Step times of the choice: {'; '.join(best.step_times)}.", f"Price: {best.price_source}."]
        notes.append(
            f"Ranges, where the {plan.bands.known} is known: "
            f"{plan.bands.ttft_p95_s.because if plan.bands.ttft_p95_s else plan.bands.usd_per_month.because}."
        )
    return Section(key="how", title="How it is counted", question="What do these numbers stand on?", notes=tuple(notes))
