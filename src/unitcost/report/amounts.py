"""From sums of the ledger to figures, in one currency where dated rates allow it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from unitcost import money
from unitcost.facts.charges import COST_COLUMNS
from unitcost.facts.naming import spelt
from unitcost.facts.rules import FxRate
from unitcost.facts.spend import Selection, SpendRow
from unitcost.figure import Basis, Figure, Rows, figure_id, total

Key = tuple[str | None, ...]
#: Unit (currency) -> key -> figure.
ByUnit = dict[str, dict[Key, Figure]]


@dataclass(slots=True, kw_only=True)
class Amounts:
    """Makes figures of ledger sums.

    Parameters
    ----------
    selection
        What the sums were asked with; its tag ends every id.
    currency
        What amounts are converted to where a rate is in force.
    rate_of
        (currency, day since which the newest rate applies) -> rate, None where there is none.
    used
        Rates that were used, filled while figures are made.
    """

    selection: Selection
    currency: str
    rate_of: Callable[[str, date | None], FxRate | None]
    used: dict[str, FxRate] = field(default_factory=dict)

    def by_unit(self, path: str, dims: tuple[str, ...], rows: Sequence[SpendRow], *, keep: int | None = None) -> ByUnit:
        """Figures by unit and key.

        Parameters
        ----------
        path
            First step of the ids.
        dims
            Dimensions that the rows were grouped by, in the order of their keys.
        keep
            How many leading dimensions make the key; the rest are summed over. None = all.
        """
        parts: dict[tuple[str, Key], list[Figure]] = {}
        for row in rows:
            unit, leaf = self._leaf(path, dims, row)
            parts.setdefault((unit, row.keys[:keep]), []).append(leaf)
        figures: ByUnit = {}
        for (unit, key), leaves in sorted(parts.items(), key=lambda item: (item[0][0], order(item[0][1]))):
            figures.setdefault(unit, {})[key] = self._sum(path, names_of(key, dims[:keep]), unit, leaves)
        return figures

    def regroup(self, path: str, by_unit: ByUnit, name_of: Callable[[Key], Key], dims: tuple[str, ...] = ()) -> ByUnit:
        """Figures summed under new keys; each stays an input of the sum.

        Parameters
        ----------
        dims
            Dimensions of the new keys, where these are values of the ledger; without, they are names spelt already.
        """
        figures: ByUnit = {}
        for unit, found in by_unit.items():
            groups: dict[Key, list[Figure]] = {}
            for key, figure in found.items():
                groups.setdefault(name_of(key), []).append(figure)
            ordered = sorted(groups.items(), key=lambda item: order(item[0]))
            figures[unit] = {key: self._sum(path, names_of(key, dims), unit, parts) for key, parts in ordered}
        return figures

    def total(self, path: str, unit: str, parts: Sequence[Figure], label: str = "total") -> Figure:
        """Sum of figures of one unit."""
        return total(figure_id(path, "total", unit, at=self.selection.tag), tuple(parts), unit=unit, label=label)

    def _sum(self, path: str, names: list[str], unit: str, parts: list[Figure]) -> Figure:
        identity = figure_id(path, *names, unit, at=self.selection.tag)
        return total(identity, tuple(parts), unit=unit, label=" / ".join(names))

    def _leaf(self, path: str, dims: tuple[str, ...], row: SpendRow) -> tuple[str, Figure]:
        rate = None if row.currency == self.currency else self.rate_of(row.currency, row.rate_since)
        where = tuple(zip(dims, row.keys, strict=True))
        if row.rate_since is not None:
            where += (("rate_since", row.rate_since.isoformat()),)
        tag = self.selection.tag
        steps = [f"{name}={spelt(value, name)}" for name, value in where]
        column = COST_COLUMNS[self.selection.cost]
        basis: Basis = "billed" if row.unknown_rows < row.row_count else "unknown"
        leaf = Figure(
            id=figure_id("rows", path, *steps, row.currency, at=tag), value=row.amount, unit=row.currency, basis=basis,
            op="rows", formula=f"sum of {column} over {row.row_count} charges",
            rows=Rows(table="charges", column=column, where=where, currency=row.currency, row_count=row.row_count),
            note=f"{row.unknown_rows} of them have no {column}" if row.unknown_rows else "",
            label=", ".join(steps) or "all charges",
        )  # fmt: skip
        if rate is None:
            return row.currency, leaf
        self.used[f"{rate.currency} {rate.since}"] = rate
        given = Figure(
            id=figure_id("rate", rate.currency, rate.since.isoformat(), at=tag), value=rate.rate,
            unit=f"{self.currency}/{rate.currency}", basis="derived", op="given",
            formula=f"rate of {rate.since} in the settings", label=f"{rate.currency} in {self.currency}",
        )  # fmt: skip
        converted = Figure(
            id=figure_id("converted", path, *steps, row.currency, at=tag), value=money.multiply(row.amount, rate.rate),
            unit=self.currency, basis="derived", op="product", formula=f"{row.currency} amount x rate of {rate.since}",
            inputs=(leaf, given), label=leaf.label,
        )  # fmt: skip
        return self.currency, converted


def names_of(key: Key, dims: tuple[str, ...]) -> list[str]:
    """Parts of a key as a report spells them; without dimensions they are spelt already."""
    if not dims:
        return [part or "" for part in key]
    return [spelt(part, dim) for part, dim in zip(key, dims, strict=True)]


def order(key: Key) -> tuple[tuple[bool, str], ...]:
    """What keys are sorted by: names in order, none last."""
    return tuple((part is None, part or "") for part in key)
