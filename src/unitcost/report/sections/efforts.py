"""What the time and the money of runs went into, and what spot capacity saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from unitcost.facts.runs import EFFORT_PARTS, EffortPart, RunAnswer, RunEffort, SpotFigures
from unitcost.figure import Figure, figure_id, ratio, total
from unitcost.report.model import Cell, Column, Table
from unitcost.report.sections.tables import TOP

Known = list[tuple[RunAnswer, RunEffort]]


def efforts(answers: Sequence[RunAnswer], *, at: str) -> list[Table]:
    """Hours and money of runs by what they went into; no table where no run tells its steps."""
    known = [(answer, answer.effort) for answer in answers if answer.effort is not None]
    if not known:
        return []
    tables = [_hours(known, at)]
    by_unit: dict[str, Known] = defaultdict(list)
    for answer, effort in known:
        if effort.cost:
            by_unit[answer.cost.unit].append((answer, effort))
    return [*tables, *(_money(unit, found, at) for unit, found in sorted(by_unit.items()))]


def _hours(known: Known, at: str) -> Table:
    columns = (Column(name="run"), *(Column(name=f"{part} h", kind="count") for part in EFFORT_PARTS))
    rows = [(_name(answer), *_cells(effort.hours)) for answer, effort in known[:TOP]]
    if len(known) > TOP:
        rows.append((f"other ({len(known) - TOP})", *_sums("hours-other", known[TOP:], "accelerator-hours", at)))
    return Table(
        columns=columns, rows=tuple(rows), total=("total", *_sums("hours", known, "accelerator-hours", at)),
        caption="Accelerator-hours of runs whose steps are known",
    )  # fmt: skip


def _money(unit: str, known: Known, at: str) -> Table:
    columns = (
        Column(name="run"), *(Column(name=part, kind="money") for part in EFFORT_PARTS), Column(name=unit, kind="money"),
        Column(name="per 1k useful steps", kind="unit"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (_name(answer), *_cells(effort.cost), answer.cost, effort.per_1k_steps) for answer, effort in known[:TOP]
    ]
    if len(known) > TOP:
        rows.append((f"other ({len(known) - TOP})", *_all("cost-other", known[TOP:], unit, at), ""))
    whole = ("total", *_all("cost", known, unit, at), "")
    return Table(
        columns=columns, rows=tuple(rows), total=whole, unit=unit, caption="Cost of runs by what their time went into"
    )


def _all(what: str, known: Known, unit: str, at: str) -> tuple[Cell, ...]:
    costs = tuple(answer.cost for answer, _ in known)
    return (
        *_sums(what, known, unit, at),
        total(figure_id("runs-effort", what, unit, "all", at=at), costs, unit=unit, label="cost"),
    )


def _sums(what: str, known: Known, unit: str, at: str) -> tuple[Cell, ...]:
    of_hours = what.startswith("hours")
    return tuple(
        total(
            figure_id("runs-effort", what, unit, part, at=at),
            tuple(effort.hours[part] if of_hours else effort.cost[part] for _, effort in known), unit=unit, label=part,
        )
        for part in EFFORT_PARTS
    )  # fmt: skip


def _cells(found: dict[EffortPart, Figure]) -> tuple[Cell, ...]:
    return tuple(found[part] for part in EFFORT_PARTS)


def spot(answers: Iterable[RunAnswer], *, at: str) -> list[Table]:
    """What spot capacity saved, run by run and together, one table per currency."""
    by_unit: dict[str, list[RunAnswer]] = defaultdict(list)
    for answer in answers:
        if answer.spot is not None:
            by_unit[answer.cost.unit].append(answer)
    return [_spot(unit, found, at) for unit, found in sorted(by_unit.items())]


def _spot(unit: str, found: Sequence[RunAnswer], at: str) -> Table:
    columns = (
        Column(name="run"), Column(name="cost", kind="money"), Column(name="on demand", kind="money"),
        Column(name="saved", kind="money"), Column(name="realised saving", kind="share"),
    )  # fmt: skip
    rows = [_spot_row(unit, _name(answer), "run", [answer], at) for answer in found[:TOP]]
    if len(found) > TOP:
        rows.append(_spot_row(unit, f"other ({len(found) - TOP})", "other", found[TOP:], at))
    return Table(
        columns=columns, rows=tuple(rows), total=_spot_row(unit, "total", "total", found, at), unit=unit,
        caption="Spot against on demand at the same useful steps",
    )  # fmt: skip


def _spot_row(unit: str, name: str, what: str, found: Sequence[RunAnswer], at: str) -> tuple[Cell, ...]:
    if len(found) == 1 and found[0].spot is not None and what == "run":
        one = found[0].spot
        return name, found[0].cost, one.on_demand, one.saved, one.share

    def add(of: str, figures: Iterable[Figure]) -> Figure:
        return total(figure_id("runs-spot", what, of, unit, at=at), tuple(figures), unit=unit, label=of)

    cost = add("cost", (answer.cost for answer in found))
    on_demand = add("on demand", (answer.spot.on_demand for answer in found if answer.spot))
    saved = add("saved", (answer.spot.saved for answer in found if answer.spot))
    share = ratio(figure_id("runs-spot", what, "share", unit, at=at), saved, on_demand, unit="share", label="saving")
    return name, cost, on_demand, saved, share


def notes(answers: Sequence[RunAnswer]) -> list[str]:
    """What is known of the steps of runs, and what is not."""
    known = sum(answer.effort is not None for answer in answers)
    found = []
    if known:
        found.append(
            f"{known} of {len(answers)} runs tell their steps. Repeated steps were made again after an interruption; lost "
            "steps were neither saved nor made again; start-up is the time before the first step."
        )
    spots = [answer.spot for answer in answers if answer.spot]
    if spots:
        found.append(
            "The saving of spot compares with the same useful steps on demand, without interruptions; the difference of the two "
            "prices is not the saving. " + _on_demand_from(spots)
        )
    shared = sum(answer.shared_by > 1 for answer in answers)
    if shared:
        found.append(f"{shared} runs share a job with others; its cost is divided by how long each lasted.")
    return found


def _on_demand_from(spots: Sequence[SpotFigures]) -> str:
    """Who says what on demand would have cost."""
    booked = sum(spot.price.basis == "estimated" for spot in spots)
    if not booked:
        return "The prices on demand are those of the settings."
    rest = "" if booked == len(spots) else "; the others are those of the settings"
    return (
        f"For {booked} of {len(spots)} runs the price on demand is an estimate: that of the price book for the machine and the "
        f"region of the bill{rest}. State it under `prices` of [work] to have your own."
    )


def _name(answer: RunAnswer) -> str:
    return answer.run.name or answer.run.workload
