"""Runs: what they cost, what became of them, and what one accepted result costs."""

from __future__ import annotations

from collections import defaultdict

from unitcost.facts.runs import GroupAnswer, RunAnswer
from unitcost.figure import Figure, figure_id, total
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections import efforts
from unitcost.report.sections.tables import TOP

_GOOD = ("completed",)


def runs(given: ReportInput) -> Section | None:
    """Experiments, outcomes and the dearest runs; None when no tracker told of any."""
    if given.work is None or not given.work.runs:
        return None
    answers = given.work.runs
    at = given.selection.tag
    tables = [
        _groups(given.work.groups), _outcomes(given, answers), *efforts.efforts(answers, at=at),
        *efforts.spot(answers, at=at), _dearest(answers),
    ]  # fmt: skip
    return Section(
        key="runs", title="Runs", question="What did one accepted result cost, failures included?",
        tables=tuple(tables), notes=tuple(_notes(given, answers)),
    )  # fmt: skip


def _groups(groups: tuple[GroupAnswer, ...]) -> Table:
    columns = (
        Column(name="experiment"), Column(name="runs"), Column(name="accepted", kind="count"), Column(name="currency"),
        Column(name="cost", kind="money"), Column(name="per accepted result", kind="unit"), Column(name=""),
    )  # fmt: skip
    rows = tuple(
        (g.group, str(g.runs), g.accepted, g.cost.unit, g.cost, g.per_accepted, g.per_accepted.note)
        for g in groups[:TOP]
    )
    return Table(columns=columns, rows=rows, caption=_caption("By experiment", len(groups)))


def _outcomes(given: ReportInput, answers: tuple[RunAnswer, ...]) -> Table:
    groups: dict[tuple[str, str], list[RunAnswer]] = defaultdict(list)
    for answer in answers:
        groups[answer.outcome, answer.cost.unit].append(answer)
    pruned = any(answer.pruning_saved for answer in answers)
    rows: list[tuple[Cell, ...]] = []
    for (outcome, unit), found in sorted(groups.items(), key=lambda item: (item[0][0] not in _GOOD, item[0])):
        known = tuple(answer.cost for answer in found if answer.cost.value is not None)
        cost = total(figure_id("runs-outcome", outcome, unit, at=given.selection.tag), known, unit=unit, label=outcome)
        rows.append((outcome, str(len(found)), unit, cost, *([_saved(given, unit, found)] if pruned else [])))
    columns = (
        Column(name="what became of it"),
        Column(name="runs"),
        Column(name="currency"),
        Column(name="cost", kind="money"),
        *((Column(name="saved by pruning", kind="money"),) if pruned else ()),
    )
    return Table(columns=columns, rows=tuple(rows), caption="By what became of them")


def _saved(given: ReportInput, unit: str, answers: list[RunAnswer]) -> Figure | None:
    """What pruning saved, as far as it is known."""
    known = [f for answer in answers if (f := answer.pruning_saved) is not None and f.value is not None]
    identity = figure_id("runs-pruning", unit, at=given.selection.tag)
    return total(identity, tuple(known), unit=unit, label="saved by pruning") if known else None


def _dearest(answers: tuple[RunAnswer, ...]) -> Table:
    columns = (
        Column(name="run"), Column(name="experiment"), Column(name="outcome"), Column(name="accepted"),
        Column(name="currency"), Column(name="cost", kind="money"), Column(name="from"),
    )  # fmt: skip
    rows = tuple(_row(answer) for answer in answers[:TOP])
    return Table(columns=columns, rows=rows, caption=_caption("The dearest runs", len(answers)))


def _row(answer: RunAnswer) -> tuple[Cell, ...]:
    accepted = {True: "yes", False: "no", None: "not known"}[answer.accepted]
    cost: Figure = answer.cost
    source = "bill" if answer.from_bill else "settings" if cost.value is not None else cost.note
    return answer.run.name or answer.run.workload, answer.group, answer.outcome, accepted, cost.unit, cost, source


def _pruning(answers: tuple[RunAnswer, ...]) -> list[str]:
    """What the saving of pruning is against, and of how many runs it is not known."""
    pruned = [answer.pruning_saved for answer in answers if answer.pruning_saved is not None]
    reasons = sorted({figure.note for figure in pruned if figure.value is None})
    found = []
    if any(figure.value is not None for figure in pruned):
        found.append(
            "Pruning saved what pruned trials would have cost more at full length, the median of the trials of their sweep "
            "that ran to their end. Whether one of them would have been the best is not in it."
        )
    if reasons:
        unknown = sum(figure.value is None for figure in pruned)
        found.append(
            f"What pruning saved is not known for {unknown} of {len(pruned)} pruned runs: {'; '.join(reasons)}."
        )
    return found


def _caption(what: str, count: int) -> str:
    return f"{what}, {TOP} of {count}" if count > TOP else what


def _notes(given: ReportInput, answers: tuple[RunAnswer, ...]) -> list[str]:
    notes = []
    unknown = sum(answer.accepted is None for answer in answers)
    if unknown:
        rule = "the rule under [work] does not tell" if given.settings.work.accepted else "no rule under [work] says"
        notes.append(
            f"Of {unknown} of {len(answers)} runs {rule} whether they are accepted; they count as not accepted."
        )
    unpriced = [answer for answer in answers if answer.cost.value is None and answer.run.status != "never started"]
    if unpriced:
        notes.append(_unpriced(len(unpriced)))
    return [*notes, *_pruning(answers), *efforts.notes(answers)]


def _unpriced(count: int) -> str:
    have, they, are = ("run has", "it", "It is") if count == 1 else ("runs have", "they", "They are")
    return (
        f"{count} {have} no cost: neither a bill nor a price under [work] covers what {they} held, or "
        f"nothing tells what that was. {are} unpriced, not free."
    )
