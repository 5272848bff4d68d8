"""Unfold one figure down to its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import unquote

from unitcost.attribution.fx import rate_days
from unitcost.attribution.periods import Granularity, place
from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.spend import DIMENSIONS, LedgerRow, Placement, Selection
from unitcost.facts.token_account import PricedCalls
from unitcost.figure import Figure, Rows, walk_once
from unitcost.jobs.call_rows import call_rows
from unitcost.jobs.calls import priced_calls
from unitcost.jobs.prices import open_models
from unitcost.jobs.review import review
from unitcost.jobs.selecting import parse_tag
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Ledger

#: Table, tag of the selection, dimensions, and how fine charge periods are placed.
_Alike = tuple[str, str, tuple[str, ...], Granularity]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A figure, and for each of its leaves the largest rows and how many there are."""

    figure: Figure
    rows: Mapping[str, tuple[Sequence[LedgerRow], int]]

    def rows_of(self, leaf: Figure) -> tuple[Sequence[LedgerRow], int]:
        """Rows behind a leaf, largest first, and their number."""
        return self.rows.get(leaf.id, ((), 0))


def explain(workspace: Workspace, figure_id: str, *, by: tuple[str, ...] = (), limit: int | None = 10) -> Explanation:
    """Find a figure again by its id and unfold it.

    Parameters
    ----------
    figure_id
        As the report prints it; it carries the selection that the report was made with.
    by
        The extra grouping of that report, when the figure comes from it.
    limit
        Rows kept per leaf; None = all.

    Raises
    ------
    BadSetting
        When the id has no selection.
    UnknownName
        When the report has no such figure; the message names the near ones.
    """
    path, at, tag = figure_id.rpartition("@")
    if not at:
        raise BadSetting(f"`{figure_id}` is not the id of a figure", mend="copy an id from `unitcost report --json`")
    selection = parse_tag(tag)
    report = review(workspace, selection, by=by or _by_of(path), currency=selection.currency)
    figures = report.figures()
    if figure_id not in figures:
        raise UnknownName("figure", figure_id, figures, mend="copy an id from `unitcost report --json`")
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, rate_days(workspace.settings.fx), workspace)
        leaves = {f.id: f for f in walk_once([figures[figure_id]]) if f.rows is not None}
        found = reader.read_all(list(leaves.values()), limit)
    counts = {leaf.id: leaf.rows.row_count for leaf in leaves.values() if leaf.rows is not None}
    rows = {name: (mine, counts[name]) for name, mine in zip(leaves, found, strict=True)}
    return Explanation(figure=figures[figure_id], rows=rows)


def _by_of(path: str) -> tuple[str, ...]:
    """Grouping that a leaf of the extra table names in its own id."""
    steps = [unquote(step) for step in path.split("/")]
    if steps[:2] != ["rows", "by"]:
        return ()
    names = [step.split("=", 1)[0] for step in steps[2:] if "=" in step]
    return tuple(name for name in names if name in DIMENSIONS and name != "rate_since")


class RowReader:
    """Reads the rows behind leaves, remembering where charge periods lie."""

    def __init__(self, ledger: Ledger, rates_since: Sequence[date], workspace: Workspace | None = None) -> None:
        self.ledger = ledger
        self.workspace = workspace
        self._calls: dict[str, PricedCalls | None] = {}
        self.rates_since = tuple(rates_since)
        self._places: dict[tuple[str, str], list[Placement]] = {}

    def read(self, leaf: Figure, limit: int | None) -> list[LedgerRow]:
        """Rows of a leaf, the largest first."""
        return self.read_all([leaf], limit)[0]

    def read_all(self, leaves: Sequence[Figure], limit: int | None) -> list[list[LedgerRow]]:
        """Rows of each of some leaves, the largest first; leaves that are asked by the same dimensions go together."""
        groups: dict[_Alike, list[int]] = defaultdict(list)
        for number, leaf in enumerate(leaves):
            groups[_alike(leaf)].append(number)
        found: list[list[LedgerRow]] = [[] for _ in leaves]
        for alike, numbers in groups.items():
            many = [_rows(leaves[number]) for number in numbers]
            for number, rows in zip(numbers, self._read(alike, many, limit), strict=True):
                found[number] = rows
        return found

    def _read(self, alike: _Alike, many: Sequence[Rows], limit: int | None) -> list[list[LedgerRow]]:
        table, tag, dims, fine = alike
        selection = parse_tag(tag)
        if table == "calls":
            return call_rows(self.ledger, self._priced(selection), many, limit)
        return self.ledger.rows(
            selection, dims, [(tuple(value for _, value in rows.where), rows.currency) for rows in many],
            placements=self._placements(selection, fine), rates_since=self.rates_since, limit=limit,
        )  # fmt: skip

    def _priced(self, selection: Selection) -> PricedCalls:
        """Calls of a selection, priced once."""
        if selection.tag not in self._calls:
            assert self.workspace is not None
            book = open_models(self.workspace)
            self._calls[selection.tag] = priced_calls(self.ledger, book, self.workspace.settings, selection)
        found = self._calls[selection.tag]
        assert found is not None
        return found

    def _placements(self, selection: Selection, fine: Granularity) -> list[Placement]:
        key = (fine, selection.timezone)
        if key not in self._places:
            self._places[key] = place(self.ledger.charge_periods(), fine, selection.timezone)
        return self._places[key]


def _rows(leaf: Figure) -> Rows:
    assert leaf.rows is not None
    return leaf.rows


def _alike(leaf: Figure) -> _Alike:
    """What leaves that one query can answer have in common."""
    rows = _rows(leaf)
    tag = leaf.id.rpartition("@")[2]
    if rows.table == "calls":
        return rows.table, tag, (), "month"
    return rows.table, tag, tuple(name for name, _ in rows.where), "day" if _has_days(rows) else "month"


def _has_days(rows: Rows) -> bool:
    return any(name == "day" and value is not None and len(value) > len("2026-09") for name, value in rows.where)
