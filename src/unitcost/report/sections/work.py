"""What was held by account and by how it ended, at the prices of the settings."""

from __future__ import annotations

from decimal import Decimal

from unitcost import money
from unitcost.facts.capacity import HeldCost, WorkAnswers
from unitcost.figure import Figure, figure_id, total
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections.tables import TOP

_RULES = {
    "accelerators": "A job is charged for its accelerators, or for its cores when it has none.",
    "weights": "A job is charged by the weights that its scheduler bills by.",
    "larger": "A job is charged for its accelerators or for its cores, whichever costs more.",
}


def work(given: ReportInput) -> Section | None:
    """Accounts and endings of work; None when nothing is known about who held what."""
    if given.work is None or not given.work.accounts:
        return None
    return Section(
        key="work", title="Work", question="Who held how much, and how did it end?",
        tables=(
            _table(given, "account", given.work.accounts, "By account"),
            _table(given, "ended", given.work.statuses, "By how it ended"),
        ),
        notes=tuple(_notes(given, given.work)),
    )  # fmt: skip


def _table(given: ReportInput, name: str, rows: tuple[HeldCost, ...], caption: str) -> Table:
    columns = (
        Column(name=name, none="(none)"), Column(name="lives", kind="count"), Column(name="accelerator-hours", kind="count"),
        Column(name="core-hours", kind="count"), Column(name="USD", kind="money"),
    )  # fmt: skip
    shown, rest = (rows, ()) if len(rows) <= TOP + 1 else (rows[:TOP], rows[TOP:])
    cells = [_row(given, name, row.name, (row,)) for row in shown]
    if rest:
        cells.append(_row(given, name, f"other ({len(rest)})", rest))
    return Table(
        columns=columns, rows=tuple(cells), total=_row(given, name, "total", rows), unit="USD", caption=caption
    )  # fmt: skip


def _row(given: ReportInput, what: str, name: str, rows: tuple[HeldCost, ...]) -> tuple[Cell, ...]:
    at = given.selection.tag

    def sum_of(part: str, figures: tuple[Figure, ...], unit: str) -> Figure:
        if len(figures) == 1 or all(figure.value is None for figure in figures):
            return figures[0]
        return total(figure_id("work", what, name, part, at=at), figures, unit=unit, label=f"{name}, {part}")

    lives = Figure(
        id=figure_id("work", what, name, "lives", at=at), value=Decimal(sum(row.lives for row in rows)), unit="lives",
        basis="measured", op="given", formula="rows of the schedulers' records that have an end", label=f"lives of {name}",
    )  # fmt: skip
    return (
        name or None, lives, sum_of("accelerator-hours", tuple(row.accelerator_hours for row in rows), "accelerator-hours"),
        sum_of("core-hours", tuple(row.core_hours for row in rows), "core-hours"),
        sum_of("cost", tuple(row.cost for row in rows), "USD"),
    )  # fmt: skip


def _notes(given: ReportInput, work: WorkAnswers) -> list[str]:
    notes = [_RULES[given.settings.work.billing]]
    unpriced = money.add(row.unpriced_hours.value or money.ZERO for row in work.accounts)
    if unpriced:
        notes.append(
            f"{money.round_places(unpriced, 1):,} hours that are charged for have no price: they are unpriced, not free. "
            "State prices under [work]; where a bill names the machine, the section Capacity has what was paid."
        )
    elif given.work and given.work.capacity:
        notes.append(
            "These are prices of the settings; the section Capacity has what the bill says, and the bill wins."
        )
    if work.counts.open_lives:
        notes.append(f"{work.counts.open_lives} lives have no end: still running? They are in none of these sums.")
    if work.counts.never_started:
        notes.append(f"{work.counts.never_started} workloads never started and cost nothing.")
    return notes
