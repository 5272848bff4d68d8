"""The training plan as a page."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.jobs.plan_spot import ON_DEMAND
from unitcost.jobs.plan_spot_page import spot_page
from unitcost.jobs.plan_train import TrainPlan, memory_of
from unitcost.jobs.plan_words import ranged, usd_ranged
from unitcost.report.model import Chart, Section, Table
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, line_chart, table
from unitcost.training.rightsizing import RunOption
from unitcost.units import HOURS_PER_DAY

_MOST_ROWS = 16
_MOST_REASONS = 24
#: Times from so many hours on are read in days. [h]
_READ_IN_DAYS = 72.0
_DAYS = 1 / HOURS_PER_DAY


def train_page(plan: TrainPlan) -> PlanPage:
    """Page of a training plan."""
    scenario, ask = plan.scenario, plan.scenario.ask
    shown = plan.asked if plan.asked and not plan.asked.ruled_out else plan.best
    deadline = f", deadline {scenario.deadline_hours * _DAYS:.3g} days" if scenario.deadline_hours else ""
    units = "units" if scenario.rates else "tokens"
    count = f"{scenario.count} x " if scenario.count else ""
    sections = (
        _options(plan), _frontier(plan), _batch(plan), _memory(plan, shown), _speed(shown), _spot(plan), _levers(plan), _prices(plan)
    )  # fmt: skip
    return PlanPage(
        title="Training plan",
        subtitle=f"{ask.shape.name}, {ask.tokens:.4g} {units} on {count}{scenario.accelerator}{deadline}",
        messages=plan.messages, tiles=_tiles(plan, shown), sections=tuple(s for s in sections if s is not None),
    )  # fmt: skip


def name_of(option: RunOption) -> str:
    """Option in a few words."""
    return f"{option.capacity.accelerators} x {option.capacity.chip.name}"


def _tiles(plan: TrainPlan, shown: RunOption | None) -> tuple[PlanTile, ...]:
    if shown is None:
        return (PlanTile(name="answer", value="none", beside="every option is ruled out"),)
    unit, form, scale = _time([shown])
    tiles = [
        PlanTile(name="run on", value=name_of(shown), beside=shown.capacity.machine),
        PlanTile(name=f"time, {unit}", value=ranged(shown.hours, form, scale), beside="; ".join(shown.remarks)),
        PlanTile(name="cost on demand, USD", value=usd_ranged(shown.usd)),
    ]
    if plan.spot and plan.spot_usd:
        pays = plan.spot.best != ON_DEMAND
        tiles.append(
            PlanTile(
                name="on spot, USD", value=usd_ranged(plan.spot_usd) if pays else "–",
                beside=plan.spot.best if pays else "costs no less than on-demand",
            )
        )  # fmt: skip
    if plan.best is not None and plan.best != shown:
        tiles.append(PlanTile(name="cheapest", value=name_of(plan.best), beside=f"{usd_ranged(plan.best.usd)} USD"))
    return tuple(tiles)


def _time(options: Sequence[RunOption]) -> tuple[str, str, float]:
    """Unit in which times of a table are read, its form, and its length in hours to the power of -1."""
    longest = max((o.hours.value for o in options if o.hours), default=0.0)
    return ("days", ",.1f", _DAYS) if longest >= _READ_IN_DAYS else ("hours", ",.3g", 1.0)


def _table(options: Sequence[RunOption]) -> Table:
    unit, form, scale = _time(options)
    rows = [
        [
            name_of(o), usd_ranged(o.usd), ranged(o.hours, form, scale),
            "–" if o.layout is None else f"{o.memory_gib / o.capacity.chip.memory_gib:.0%}",
            "–" if o.layout is None else f"{o.layout.micro_batch}", _remark(o),
        ]
        for o in options
    ]  # fmt: skip
    return table(("option", "USD on demand", unit, "memory", "batch of each", ""), rows)


def _remark(option: RunOption) -> str:
    if option.ruled_out:
        return "ruled out"
    guessed = option.hours is not None and option.hours.basis != "measured"
    return "; ".join([*([f"speed {option.hours.basis}"] if guessed and option.hours else []), *option.remarks])


def _first_of_each(options: Sequence[RunOption], all_of: str) -> list[RunOption]:
    """First option of each accelerator and reason, and every option of the accelerator `all_of`."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    found = []
    for option in options:
        kind = (option.capacity.chip.name, option.ruled_out)
        if kind not in seen or option.capacity.chip.name == all_of:
            found.append(option)
        seen.add(kind)
    return found


def _reasons(ruled_out: Sequence[RunOption]) -> list[str]:
    """Why options are no answers; numbers of one accelerator with one reason in one line."""
    by_reason: dict[tuple[str, str], list[int]] = {}
    for option in ruled_out:
        by_reason.setdefault((option.capacity.chip.name, "; ".join(option.ruled_out)), []).append(
            option.capacity.accelerators
        )
    return [
        f"{min(counts)}{f' to {max(counts)}' if len(counts) > 1 else ''} x {chip} ruled out: {reason}."
        for (chip, reason), counts in by_reason.items()
    ]


def _options(plan: TrainPlan) -> Section:
    asked = plan.asked or plan.best
    all_of = asked.capacity.chip.name if asked else ""
    ruled_out = [o for o in plan.options if o.ruled_out]
    answers = _first_of_each([o for o in plan.options if not o.ruled_out], all_of)[:_MOST_ROWS]
    shown = [*answers, *_first_of_each(ruled_out, "")[:_MOST_ROWS]]
    if plan.asked is not None and plan.asked not in shown:
        shown.insert(0, plan.asked)
    bars = [(name_of(o), o.usd.value) for o in answers if o.usd]
    charts: tuple[Chart, ...] = (bar_chart("options", "Cost on demand, USD", bars, "USD"),) if bars else ()
    return Section(
        key="ways", title="Options", question="On what, at which cost, how long, and what is ruled out?",
        tables=(_table(shown),), charts=charts, notes=tuple(_reasons(ruled_out)[:_MOST_REASONS]),
    )  # fmt: skip


def _frontier(plan: TrainPlan) -> Section | None:
    if len(plan.frontier) < 2:
        return None
    unit, _, scale = _time(plan.frontier)
    points = [(o.hours.value * scale, o.usd.value) for o in plan.frontier if o.hours and o.usd]
    return Section(
        key="frontier", title="Frontier", question="What does less time cost, and what does more time save?",
        tables=(_table(plan.frontier),),
        charts=(line_chart("frontier", "Time and cost", {"frontier": points}, across=unit, up="USD"),),
    )  # fmt: skip


def _batch(plan: TrainPlan) -> Section | None:
    """What was fitted from runs of several batches."""
    law = plan.batch_law
    if law is None:
        return None
    rows = [[f"{law.critical * times:,.0f}", f"{1 + times:.2f}"] for times in (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)]
    return Section(
        key="batch", title="Batch", question="How many more samples does a larger batch need?",
        tables=(table(["batch", "samples, times the fewest"], rows, numbers=0),),
        charts=(
            line_chart(
                "batch", "Samples to the target", {"samples": [(float(law.critical * n / 4), 1 + n / 4) for n in range(17)]},
                across="batch", up="times the fewest",
            ),
        ),
        notes=(
            f"Critical batch {law.critical:,.0f}: twice the fewest samples are needed. Fitted on {law.runs} runs; their median"
            f" error is {law.error:.1%}.",
        ),
    )  # fmt: skip


def _memory(plan: TrainPlan, shown: RunOption | None) -> Section | None:
    parts = memory_of(shown, plan.scenario.ask) if shown else {}
    notes = [f"It fits with {mend.words}." for mend in plan.mends]
    if not parts and not notes:
        return None
    rows = [[name, f"{gib:.1f}"] for name, gib in parts.items()]
    layout = shown.layout if shown else None
    if layout:
        kept = "all activations outside attention" if layout.recompute == "selective" else "inputs of layers only"
        notes.append(f"Sharded over {layout.accelerators} (ZeRO stage {layout.zero_stage}), keeps {kept}.")
        if layout.tensor_parallel > 1:
            notes.append(f"Tensor parallelism over {layout.tensor_parallel}.")
    tables = (table(["part", "GiB on each accelerator"], rows),) if rows else ()
    charts: tuple[Chart, ...] = (bar_chart("memory", "Memory, GiB", list(parts.items()), "GiB"),) if parts else ()
    return Section(
        key="memory", title="Memory", question="What does each accelerator hold?", tables=tables, charts=charts,
        notes=tuple(notes),
    )  # fmt: skip


def _speed(shown: RunOption | None) -> Section | None:
    if shown is None or shown.speed is None:
        return None
    speed = shown.speed
    rows = [
        [
            f"{run.model} on {run.accelerators} x {run.accelerator}", f"{run.tokens_per_s:,.0f}", f"{run.seq_len:,}",
            f"{run.micro_batch:.0f}", f"{run.source} {run.row}",
        ]
        for run in speed.neighbours
    ]  # fmt: skip
    notes = (
        f"{ranged(speed.tokens_per_s, ',.0f')} tokens a second and accelerator; share of peak {ranged(speed.flop_share, '.0%')}.",
        f"Basis: {speed.tokens_per_s.basis}; {speed.tokens_per_s.because}.",
    )
    tables = (table(["nearest measured rows", "tokens/s each", "sequence", "micro- batch", ""], rows),) if rows else ()
    return Section(
        key="speed", title="Speed", question="How fast, and on what does that stand?", tables=tables, notes=notes
    )


def _spot(plan: TrainPlan) -> Section | None:
    if plan.spot is None:
        return None
    page = spot_page(plan.spot)
    return Section(
        key="spot", title="On spot", question=page.subtitle, tables=page.sections[0].tables,
        notes=(*plan.spot.messages, *page.sections[0].notes, *(f"{t.name}: {t.value} {t.beside}" for t in page.tiles)),
    )  # fmt: skip


def _levers(plan: TrainPlan) -> Section:
    rows = [[lever.lever, ranged(lever.factor, ".2f"), lever.factor.basis] for lever in plan.levers]
    notes = [f"{lever.lever}: {lever.note}." for lever in plan.levers if lever.note]
    return Section(
        key="levers", title="Levers", question="What else could make it faster, by how much?",
        tables=(table(["change", "times as fast", ""], rows),), notes=tuple(notes),
    )  # fmt: skip


def _prices(plan: TrainPlan) -> Section | None:
    rows = [
        [
            rental.accelerator, rental.category, f"{rental.usd_per_accelerator_hour:.3f}",
            f"{rental.machine}, {rental.region}, {rental.source}, {rental.as_of}",
        ]
        for priced in plan.prices for rental in (priced.on_demand, priced.spot) if rental is not None
    ]  # fmt: skip
    if not rows:
        return None
    return Section(
        key="prices", title="Prices", question="Which prices stand behind it?",
        tables=(table(["accelerator", "category", "USD/h each", ""], rows, numbers=2),),
    )  # fmt: skip
