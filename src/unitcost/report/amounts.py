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


def _billed(key: Key) -> Basis:
    return "billed"


def _unsaid(key: Key) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What sums are made of, when not of a cost of charges.

    Parameters
    ----------
    table, column
        Rows of the ledger, and what of them is added up.
    noun
        One such row.
    basis_of, note_of
        Basis of a sum, and what is to be said of it, by its key.
    """

    table: str
    column: str
    noun: str
    basis_of: Callable[[Key], Basis] = _billed
    note_of: Callable[[Key], str] = _unsaid


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Sums that become one leaf.

    Parameters
    ----------
    rate
        What they are converted with; None where they stay in their own currency.
    dated
        Whether only charges of one period of exchange rates belong here.
    """

    keys: Key
    rows: tuple[SpendRow, ...]
    rate: FxRate | None
    dated: bool


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

    def by_unit(self, path: str, dims: tuple[str, ...], rows: Sequence[SpendRow], of: Counted | None = None) -> ByUnit:
        """Figures by unit and key.

        Parameters
        ----------
        path
            First step of the ids.
        dims
            Dimensions that the rows were grouped by, in the order of their keys.
        of
            What was added up; without, the selected cost of charges.
        """
        of = of or Counted(table="charges", column=COST_COLUMNS[self.selection.cost], noun="charge")
        parts: dict[tuple[str, Key], list[Figure]] = {}
        for row in self._apart(rows):
            unit, leaf = self._leaf(path, dims, row, of)
            parts.setdefault((unit, row.keys), []).append(leaf)
        figures: ByUnit = {}
        for (unit, key), leaves in sorted(parts.items(), key=lambda item: (item[0][0], order(item[0][1]))):
            figures.setdefault(unit, {})[key] = self._sum(path, names_of(key, dims), unit, leaves)
        return figures

    def _apart(self, rows: Sequence[SpendRow]) -> list[_Part]:
        """Sums per key and currency; those of a currency that is converted stay apart by the day of their rate."""
        groups: dict[tuple[Key, str], list[SpendRow]] = {}
        for row in rows:
            groups.setdefault((row.keys, row.currency), []).append(row)
        found: list[_Part] = []
        for (keys, _), group in groups.items():
            rates = [self._rate(row) for row in group]
            if any(rates):
                found += [
                    _Part(keys=keys, rows=(row,), rate=rate, dated=True) for row, rate in zip(group, rates, strict=True)
                ]
            else:
                found.append(_Part(keys=keys, rows=tuple(group), rate=None, dated=False))
        return found

    def _rate(self, row: SpendRow) -> FxRate | None:
        return None if row.currency == self.currency else self.rate_of(row.currency, row.rate_since)

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

    def _leaf(self, path: str, dims: tuple[str, ...], part: _Part, of: Counted) -> tuple[str, Figure]:
        currency = part.rows[0].currency
        where = tuple(zip(dims, part.keys, strict=True))
        if part.dated:
            since = part.rows[0].rate_since
            where += (("rate_since", since.isoformat() if since else None),)
        tag = self.selection.tag
        steps = [f"{name}={spelt(value, name)}" for name, value in where]
        count, unknown = (sum(getattr(row, name) for row in part.rows) for name in ("row_count", "unknown_rows"))
        basis: Basis = of.basis_of(part.keys) if unknown < count else "unknown"
        charges = f"{count} {of.noun}{'s' if count != 1 else ''}"
        leaf = Figure(
            id=figure_id("rows", path, *steps, currency, at=tag), value=money.add(row.amount for row in part.rows),
            unit=currency, basis=basis, op="rows", formula=f"sum of {of.column} over {charges}",
            rows=Rows(table=of.table, column=of.column, where=where, currency=currency, row_count=count),
            note=f"{unknown} of them have no {of.column}" if unknown else of.note_of(part.keys), label=f"{charges} in {currency}",
        )  # fmt: skip
        if part.rate is None:
            return currency, leaf
        return self.currency, self._converted(figure_id("converted", path, *steps, currency, at=tag), leaf, part.rate)

    def _converted(self, identity: str, leaf: Figure, rate: FxRate) -> Figure:
        self.used[f"{rate.currency} {rate.since}"] = rate
        given = Figure(
            id=figure_id("rate", rate.currency, rate.since.isoformat(), at=self.selection.tag), value=rate.rate,
            unit=f"{self.currency}/{rate.currency}", basis="derived", op="given",
            formula=f"rate of {rate.since} in the settings", label=f"{rate.currency} in {self.currency}",
        )  # fmt: skip
        return Figure(
            id=identity, value=money.multiply(leaf.value or money.ZERO, rate.rate), unit=self.currency, basis="derived",
            op="product", formula=f"{rate.currency} amount x rate of {rate.since}", inputs=(leaf, given),
            label=f"{rate.currency} since {rate.since}",
        )  # fmt: skip


def names_of(key: Key, dims: tuple[str, ...]) -> list[str]:
    """Parts of a key as a report spells them; without dimensions they are spelt already."""
    if not dims:
        return [part or "" for part in key]
    return [spelt(part, dim) for part, dim in zip(key, dims, strict=True)]


def order(key: Key) -> tuple[tuple[bool, str], ...]:
    """What keys are sorted by: names in order, none last."""
    return tuple((part is None, part or "") for part in key)
