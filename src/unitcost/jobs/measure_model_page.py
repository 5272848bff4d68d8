"""The answer of a measured model as a page, and as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unitcost.facts.options import Demand
from unitcost.jobs.compare_page import compare_data, compare_page, memory_words, ms_words
from unitcost.jobs.measure_model import Measured, summary_rows
from unitcost.measure.result_files import ResultFile, named
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, bar_chart, table
from unitcost.units import MIB


def model_page(measured: Measured, demand: Demand) -> PlanPage:
    """Page of a session."""
    result = measured.result
    compared = compare_page(measured.choice, demand, measured.limits, title="Measured models")
    sections = [
        speed_section(result), *compared.sections, forms_section(result), machine_section(result), failure_section(result)
    ]  # fmt: skip
    titled = f"quality is {measured.quality_metric}; " if measured.quality_metric else ""
    return replace(
        compared, subtitle=f"{titled}{compared.subtitle}", sections=tuple(section for section in sections if section)
    )


def model_data(measured: Measured, demand: Demand) -> dict[str, Any]:
    """The answer for machines; the file of `--out` has everything that was measured."""
    result = measured.result
    return {
        **compare_data(measured.choice, demand, measured.limits), "metric": measured.quality_metric or None,
        "measured": summary_rows(result), "machine": result.found["machine"], "data": result.found["data"],
        "failures": [{"option": name, "why": why} for name, why in result.failures] + [
            {"option": None, "why": why} for why in result.found["failures"]
        ],
    }  # fmt: skip


def speed_section(result: ResultFile) -> Section:
    """How fast each option was, with ranges."""
    turns = table(
        ["option", "p50 ms", "of rounds", "p99 ms", "times as fast"],
        [_turns(result, o) for o in result.options],
    )
    needs = table(
        ["option", "min ms", "p90 ms", "per s", "CPU ms", "MiB", "file MiB"],
        [_needs(result, o) for o in result.options],
    )
    bars = [
        (named(result, o), float(o["timing"]["ratio"]["median"])) for o in result.options if o["timing"].get("ratio")
    ]
    chart = bar_chart("speed", "Times as fast per item as the first of its runtime", bars, "x")
    notes = (
        "p50, p90, p99 and min are of one call; CPU time and the rate are per item; MiB: largest resident memory.",
        "of rounds: lowest and highest median of a round. times as fast: per item, against the first option of its runtime in the same"
        " rounds, with the range of most rounds; on a shared machine only these ratios can be trusted.",
        "Without a p99 there were too few calls to tell one; the number in brackets is missing.",
    )
    return Section(
        key="speed", title="Speed", question="How fast is each, in which precision?", notes=notes, charts=(chart,),
        tables=(turns, needs),
    )  # fmt: skip


def _turns(result: ResultFile, option: dict[str, Any]) -> list[str]:
    timing = option["timing"]
    ratio = timing.get("ratio")
    return [
        named(result, option), _ms(timing["percentiles"]["p50"]["latency_s"]),
        f"{_ms(timing['p50_low_s'])}–{_ms(timing['p50_high_s'])}", _late(timing, "p99"),
        f"{_times(ratio['median'])} ({_times(ratio['low'])}–{_times(ratio['high'])})" if ratio else "–",
    ]  # fmt: skip


def _needs(result: ResultFile, option: dict[str, Any]) -> list[str]:
    timing = option["timing"]
    return [
        named(result, option), _ms(timing["min_s"]), _late(timing, "p90"), f"{timing['per_s']:,.0f}", _ms(timing["cpu_s_per_item"]),
        memory_words(option.get("memory_bytes")), f"{option['model_bytes'] / MIB:.1f}",
    ]  # fmt: skip


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _ms(seconds: float) -> str:
    return ms_words(seconds)


def _late(timing: dict[str, Any], name: str) -> str:
    late = timing["percentiles"][name]
    return _ms(late["latency_s"]) if late["bound_s"] is not None else f"– ({late['missing']})"


def forms_section(result: ResultFile) -> Section | None:
    """How the forms of a model were made."""
    made = {o["model"]: o.get("made", "") for o in result.options if o.get("made")}
    if not made:
        return None
    notes = tuple(f"{name}: {how}" for name, how in made.items())
    return Section(key="forms", title="Forms", question="How was each made?", notes=notes)


def machine_section(result: ResultFile) -> Section:
    """What it was measured on, and how fast the anchors were."""
    told = result.found["machine"]
    during = told.get("during", {})
    rows = [
        ["machine", result.machine or "not told (--instance)"], ["processor", f"{told['cpu']}, {told['cores']} cores"],
        ["abilities", ", ".join(told["cpu_flags"]) or "–"],
        ["load before and after", f"{during.get('load_before', 0):.1f}, {during.get('load_after', 0):.1f}"],
        ["stolen processor time", f"{during.get('steal_share', 0):.1%}"],
    ]  # fmt: skip
    anchors = [
        [a["name"], a["runtime"], a.get("precision", "–"), _ms(a["timing"]["percentiles"]["p50"]["latency_s"])]
        for a in result.found["anchors"] if a.get("timing")
    ]  # fmt: skip
    ran = [
        [named(result, o), o["version"], ", ".join(f"{n} x {where}" for where, n in o["ran_on"].items())]
        for o in result.options
    ]
    tables = (
        table(["", ""], rows, numbers=2), table(["option", "version", "nodes ran on"], ran, numbers=3),
        table(["anchor", "runtime", "precision", "p50 ms"], anchors, numbers=3),
    )  # fmt: skip
    return Section(key="machine", title="Machine", question="What was it measured on?", tables=tables)


def failure_section(result: ResultFile) -> Section | None:
    """What could not be measured, and why."""
    reasons = [f"{name}: {why}" for name, why in result.failures] + list(result.found["failures"])
    if not reasons:
        return None
    return Section(key="failed", title="Not measured", question="What failed, and why?", notes=tuple(reasons))
