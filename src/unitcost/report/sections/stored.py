"""What is kept in stores, by kind and by team."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from unitcost.facts.naming import spelt_owner
from unitcost.facts.stored import StoredPart
from unitcost.figure import Figure, figure_id, total
from unitcost.report.amounts import ByUnit
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Section
from unitcost.report.sections.tables import amount_tables


def stored(given: ReportInput) -> Section | None:
    """Charges of stores by kind, by team and kind, and by run; None when no listing tells what a store holds."""
    if not any(given.stored.values()):
        return None
    groups: tuple[tuple[str, tuple[str, ...], Callable[[StoredPart], tuple[str, ...]]], ...] = (
        ("stored-kind", ("kind",), lambda part: (part.kind,)),
        ("stored-team", ("team", "kind"), lambda part: (spelt_owner(part.owners["team"]), part.kind)),
        ("stored-run", ("run", "kind"), lambda part: (part.run or "(no run)", part.kind)),
    )
    tables = [
        table
        for path, names, key_of in groups
        for table in amount_tables(path, _by(given, path, key_of), given.amounts, names=names)
    ]
    return Section(
        key="stored", title="Stored", question="What is kept, and what does keeping it cost?", tables=tuple(tables),
        notes=(
            "Charges of a store are divided by bytes kept and how long, as its listing tells; what a listing does not name is "
            "not in it.",
        ),
    )  # fmt: skip


def _by(given: ReportInput, path: str, key_of: Callable[[StoredPart], tuple[str, ...]]) -> ByUnit:
    found: ByUnit = {}
    for unit, parts in given.stored.items():
        groups: dict[tuple[str | None, ...], list[Figure]] = defaultdict(list)
        for part in parts:
            groups[key_of(part)].append(part.amount)
        found[unit] = {
            key: total(
                figure_id(path, *(name or "(none)" for name in key), unit, at=given.selection.tag), tuple(figures), unit=unit,
                label=" / ".join(name or "(none)" for name in key),
            )
            for key, figures in sorted(groups.items(), key=lambda item: tuple(name or "" for name in item[0]))
        }  # fmt: skip
    return found
