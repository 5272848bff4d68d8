"""Endpoints that are paid for, and whether anybody called them."""

from __future__ import annotations

from unitcost.facts.answers import EndpointAnswer
from unitcost.figure import Figure, figure_id
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections.tables import TOP


def endpoints(given: ReportInput) -> Section | None:
    """Endpoints by cost, with the three kinds of idle told apart; None when none is paid for by name."""
    tables = []
    for unit, answers in given.endpoints.items():
        shown = answers[:TOP]
        columns = (
            Column(name="endpoint"), Column(name=unit, kind="money"), Column(name="requests", kind="count"),
            Column(name="traffic"), Column(name="off saves a month", kind="money"),
        )  # fmt: skip
        rows = tuple(_row(given, answer) for answer in shown)
        left = len(answers) - len(shown)
        tables.append(
            Table(columns=columns, rows=rows, unit=unit, caption=f"The dearest {TOP}; {left} more" if left else "")
        )
    if not tables:
        return None
    return Section(
        key="endpoints", title="Endpoints", question="Which endpoints does nobody call?", tables=tuple(tables),
        notes=tuple(_notes(given)),
    )  # fmt: skip


def _row(given: ReportInput, answer: EndpointAnswer) -> tuple[Cell, ...]:
    requests: Cell = None
    if answer.requests is not None:
        requests = Figure(
            id=figure_id("endpoint", answer.name, answer.unit, at=given.selection.tag), value=answer.requests,
            unit=answer.unit, basis="measured", op="given", formula="from the outputs that were loaded",
            label=f"{answer.unit} of {answer.name}",
        )  # fmt: skip
    return answer.name, answer.cost, requests, answer.traffic, answer.recoverable


def _notes(given: ReportInput) -> list[str]:
    unknown = sum(answer.traffic == "traffic unknown" for found in given.endpoints.values() for answer in found)
    if not unknown:
        return []
    return [
        f"Nothing tells whether anybody called {unknown} of them: that is unknown, not idle. Load request counts "
        "(an outputs csv, CloudWatch, an access log) whose service is named like the resource."
    ]
