"""What only the cells of a file can tell: how dates and amounts are written, which columns are empty, row widths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from unitcost.readers.amounts import Signs
from unitcost.readers.complete import source_columns
from unitcost.readers.dates import DateEvidence
from unitcost.readers.opening import Source
from unitcost.readers.reading import Reading
from unitcost.readers.tables import Broken, Row


@dataclass(slots=True)
class Evidence:
    """What the rows seen so far show.

    Parameters
    ----------
    dates, signs
        How dates and amounts are written.
    currency_seen
        Whether a currency column has held a value, or the format has none.
    cost_seen
        Whether the column of the cost has held a value.
    broken
        Whether a row could not be taken apart.
    widths
        Number of cells -> number of rows.
    filled_beyond
        Whether a row wider than the header has text past its end.
    unlike
        Position of a repeated column name -> row in which its cells differ from those of the first.
    rows
        Rows seen.
    """

    dates: DateEvidence
    signs: Signs
    currency_seen: bool = False
    cost_seen: bool = False
    broken: bool = False
    widths: Counter[int] = field(default_factory=Counter)
    filled_beyond: bool = False
    unlike: dict[int, int] = field(default_factory=dict)
    rows: int = 0


class Witness:
    """Gathers evidence about the columns that a reading names.

    Parameters
    ----------
    zone_open
        Whether one moment without a zone, anywhere, makes a question necessary.
    decimal_comma
        Whether the user says that amounts are written `1.234,50`.
    """

    def __init__(
        self, source: Source, reading: Reading, *, zone_open: bool = False, decimal_comma: bool = False
    ) -> None:
        at = _positions(source.columns)
        self.width = len(source.columns)
        self.nulls = frozenset(("", *reading.nulls))
        self.date_columns = [(at[c.casefold()], c) for c in reading.date_columns if c.casefold() in at]
        periods = [at.get(c.casefold()) for c in reading.period_columns or ()]
        self.period = (periods[0], periods[1]) if len(periods) == 2 and None not in periods else None
        self.names_currency = "billing_currency" in reading.mapping
        self.currency = [at[c.casefold()] for c in reading.currency_columns if c.casefold() in at]
        cost = set(source_columns(reading.mapping.get(reading.cost_column)))
        self.cost = [at[c.casefold()] for c in cost if c.casefold() in at]
        money = {at[c.casefold()]: c for c in reading.money_columns if c.casefold() in at}
        self.money = list(money)
        self.repeated = source.repeated
        self.zone_open = zone_open
        self.found = Evidence(
            dates=DateEvidence(),
            signs=Signs({p: source.columns[p] for p in money}, decimal_comma=decimal_comma),
            currency_seen=not self.currency,
            cost_seen=not self.cost,
        )

    def take(self, rows: Iterable[Row]) -> None:
        """Take rows into account; those seen first also settle how dates are written, if they can."""
        for row in rows:
            self.found.rows += 1
            if isinstance(row, Broken):
                self.found.broken = True
                continue
            self.found.widths[len(row)] += 1
            if len(row) < self.width:
                row = row + [""] * (self.width - len(row))
            self._look_at(row)

    def _look_at(self, row: list[str]) -> None:
        found, nulls = self.found, self.nulls
        for position, name in self.date_columns:
            if (cell := row[position]) not in nulls:
                found.dates.add(name, cell)
        if self.period and found.dates.letter and row[self.period[0] or 0] not in nulls:
            found.dates.add_period(row[self.period[0] or 0], row[self.period[1] or 0])
        for position in self.money:
            if (cell := row[position]) not in nulls and cell.strip():
                found.signs.add(position, cell)
        found.currency_seen = found.currency_seen or self._has_value(row, self.currency)
        found.cost_seen = found.cost_seen or self._has_value(row, self.cost)
        if len(row) > self.width and not found.filled_beyond:
            found.filled_beyond = any(cell.strip() for cell in row[self.width :])
        for later, first in self.repeated.items():
            if row[later] != row[first]:
                found.unlike.setdefault(later, found.rows)

    def _has_value(self, row: list[str], positions: list[int]) -> bool:
        return any(row[p] not in self.nulls and row[p].strip() for p in positions)

    def settle_dates(self) -> None:
        """The first rows have been seen: what they settle stays."""
        if not self.found.dates.open and not self.zone_open:
            self.date_columns = []
            self.period = None

    @property
    def undecided(self) -> bool:
        """Whether the rest of the file must be looked at before its rows can be read."""
        found = self.found
        odd_width = any(width != self.width for width in found.widths)
        dates_open = bool(self.date_columns) and (found.dates.open or (self.zone_open and not found.dates.zoneless))
        currency_open = not found.currency_seen or not (self.names_currency or found.cost_seen)
        return dates_open or found.signs.undecided or currency_open or odd_width or bool(self.repeated)


def _positions(columns: Sequence[str]) -> dict[str, int]:
    at: dict[str, int] = {}
    for position, name in enumerate(columns):
        at.setdefault(name.casefold(), position)
    return at
