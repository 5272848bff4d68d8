"""The answer of a load on an endpoint as a page, and as data."""

from __future__ import annotations

from typing import Any

from unitcost import money
from unitcost.economics.quality.loads import LoadSummary
from unitcost.economics.quality.tails import Tail
from unitcost.jobs.compare_page import amount, ms_words
from unitcost.jobs.measure_endpoint import EndpointAnswer, summary_data
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanPage, PlanTile, line_chart, table
from unitcost.units import MILLISECONDS_PER_SECOND

_SHOWN = ("p50", "p90", "p99")


def endpoint_page(answer: EndpointAnswer) -> PlanPage:
    """Page of a measured endpoint."""
    ask = answer.ask
    tiles = []
    if answer.found is not None:
        highest = answer.found.highest_per_s
        tiles.append(PlanTile(name="Highest rate inside the target", value=f"{highest:.4g}/s" if highest else "none"))
    if answer.usd_per_1k is not None:
        tiles.append(PlanTile(name="USD per 1k requests", value=amount(answer.usd_per_1k)))
    target = f", {ask.slo[0]} at most {ask.slo[1] * MILLISECONDS_PER_SECOND:g} ms" if ask.slo else ""
    messages = [why for words, run in answer.runs if (why := _why_not(words, run))]
    if answer.found is not None and answer.found.highest_per_s is None:
        messages.append(f"no rate is known to keep the target: {answer.found.why_stopped}; give --budget or --rate")
    return PlanPage(
        title="Endpoint", subtitle=f"{ask.url}{target}", tiles=tuple(tiles), messages=tuple(messages),
        sections=tuple(s for s in (_runs(answer), _tokens(answer), _errors(answer)) if s),
    )  # fmt: skip


def _why_not(words: str, run: LoadSummary) -> str:
    """Why a run says nothing of the endpoint; empty: it does."""
    if run.requests and run.error_share == 1:
        return f"{words}: nothing was answered: {'; '.join(run.reasons[:1]) or 'see the errors'}"
    return f"{words}: {run.why_invalid}" if run.why_invalid else ""


def endpoint_data(answer: EndpointAnswer) -> dict[str, Any]:
    """The answer for machines."""
    found, ask = answer.found, answer.ask
    return {
        "url": ask.url, "endpoint_kind": ask.kind, "slo": {ask.slo[0]: ask.slo[1]} if ask.slo else None,
        "is_inside": answer.is_inside, "highest_per_s": found.highest_per_s if found else None,
        "lowest_outside_per_s": found.lowest_outside_per_s if found else None,
        "usd_per_1k": None if answer.usd_per_1k is None else money.text(answer.usd_per_1k), "notes": list(answer.notes),
        "runs": [{"load": words, **summary_data(run)} for words, run in answer.runs],
    }  # fmt: skip


def _ms(tails: tuple[tuple[str, Tail], ...], name: str) -> str:
    late = dict(tails).get(name)
    if late is None:
        return "–"
    missing = "" if late.bound_s is not None else f" ({late.missing} missing)"
    return f"{ms_words(late.latency_s)}{missing}"


def _runs(answer: EndpointAnswer) -> Section:
    rows = [
        [words, f"{run.requests:,}", f"{run.done_per_s:.4g}", *(_ms(run.tails, name) for name in _SHOWN),
         f"{run.error_share:.2%}", ms_words(run.own_delay_p99_s)]
        for words, run in answer.runs
    ]  # fmt: skip
    heads = ["load", "requests", "done/s", *(f"{name} ms" for name in _SHOWN), "errors", "own delay p99 ms"]
    lines = {name: _line(answer, name) for name in _SHOWN}
    charts: tuple[Chart, ...] = ()
    if answer.found is not None and all(len(points) > 1 for points in lines.values()):
        charts = (
            line_chart("rates", "Latency by rate", lines, across="requests per second", up="ms", logarithmic=True),
        )
    notes = (*answer.notes, "Latency counts from the moment a request was due, whether or not it could be sent then.")
    return Section(
        key="runs", title="Runs", question="How long does an answer take?", tables=(table(heads, rows),), notes=notes,
        charts=charts,
    )  # fmt: skip


def _line(answer: EndpointAnswer, name: str) -> list[tuple[float, float]]:
    points = [
        (run.rate_per_s, late.latency_s * MILLISECONDS_PER_SECOND)
        for _, run in answer.runs if (late := run.latency(name)) is not None
    ]  # fmt: skip
    return sorted(points)


def _tokens(answer: EndpointAnswer) -> Section | None:
    streamed = [(words, run) for words, run in answer.runs if run.first_token]
    if not streamed:
        return None
    rows = [
        [
            words,
            f"{run.tokens:,}",
            *(_ms(run.first_token, n) for n in _SHOWN),
            *(_ms(run.between_tokens, n) for n in _SHOWN),
        ]
        for words, run in streamed
    ]
    heads = ["load", "tokens", *(f"first {n} ms" for n in _SHOWN), *(f"next {n} ms" for n in _SHOWN)]
    notes = (
        "first: from the due moment to the first part with text (TTFT).",
        "next: (last part - first part) / (tokens - 1), per request (TPOT).",
    )
    return Section(
        key="tokens", title="Tokens", question="When do tokens come?", tables=(table(heads, rows),), notes=notes
    )


def _errors(answer: EndpointAnswer) -> Section | None:
    rows = [[words, fate, f"{count:,}"] for words, run in answer.runs for fate, count in run.fates if fate != "ok"]
    if not rows:
        return None
    notes = tuple(dict.fromkeys(reason for run in _all(answer) for reason in run.reasons))
    return Section(
        key="errors", title="Errors", question="What was not answered?", notes=notes[:5],
        tables=(table(["load", "fate", "requests"], rows, numbers=2),),
    )  # fmt: skip


def _all(answer: EndpointAnswer) -> list[LoadSummary]:
    return [run for _, run in answer.runs]
