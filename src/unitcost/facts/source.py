"""What a reader hands to the ledger: which file, how to take it apart, what its columns mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from unitcost.facts.mapping import Mapping

DateOrder = Literal["iso", "mdy", "dmy"]
#: Dataset that a plan fills; what is read about work has plans of its own, see `facts.work`.
Dataset = Literal["charges", "invoices", "outputs", "calls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the user says about a file: one `[[load]]` entry, or options of `unitcost load`.

    Each field is None or empty when the user said nothing.
    """

    reader: str = ""
    currency: str = ""
    period: str = ""  # YYYY-MM for files that carry no dates
    date_order: str = ""  # "mdy" or "dmy"
    decimal_comma: bool = False
    timezone: str = ""
    encoding: str = ""
    delimiter: str = ""
    provider: str = ""
    columns: dict[str, str] = field(default_factory=dict)  # generic csv: charge column or tags.KEY -> source column
    rates: str = ""  # rate card that prices a usage csv
    replace: Literal["", "period"] = ""
    version: str = ""  # of an export that restates a period
    part: bool = False  # the user says: a further part, though many of its rows are known


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """A row, or a cell of it, that was set aside.

    `row` counts data rows of the file from 1, the header apart; lines above the header count as rows, so that a row keeps
    its place in the file. `column` is empty when the whole row is meant.
    """

    row: int
    column: str
    value: str
    reason: str
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A file that the engine can read as it is.

    Parameters
    ----------
    path
        The file itself (fast path) or a cleaned copy (careful path).
    format
        `csv` (UTF-8, RFC 4180, all cells text, exactly `len(columns)` wide) or `parquet`.
    columns
        Header names in file order, as written, possibly with repeats of names that differ in case.
    numbered
        The first column of the csv is the row number in the user's file (careful path); it is not in
        `columns`. Otherwise the engine counts.
    """

    path: Path
    format: Literal["csv", "parquet"]
    columns: tuple[str, ...]
    delimiter: str = ","
    numbered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that is needed to load one file.

    Parameters
    ----------
    reader
        Name of the reader, as in `READERS`.
    dialect
        What the reader recognised: `FOCUS 1.2`, `CUR legacy`, `EA amortised` ...
    scan
        Where the cells are.
    mapping
        Target column -> meaning.
    conventions
        What the reader takes for granted about its source, one sentence each; kept in the load record.
    flags
        What the file itself made necessary: currency signs in the amounts, missing trailing fields, a date order.
    date_order
        How dates that are not ISO are written.
    currency_signs
        Source columns whose cells all look like `$10,000.00`.
    rejects
        Rows that could not be taken apart; they are not in `scan`.
    fast
        Whether `scan` is the user's own file.
    nulls
        Spellings of "no value" in this format, besides the empty cell; letter case matters.
    cost_column
        Target column that a row must have: `billed_cost`, or `effective_cost` where the format lacks the former.
    account, version, replaces
        For restatements: see `ReadOptions.replace`.
    """

    reader: str
    dialect: str
    dataset: Dataset = "charges"
    scan: Scan
    mapping: Mapping
    conventions: tuple[str, ...]
    flags: tuple[str, ...] = ()
    date_order: DateOrder = "iso"
    timezone: str = "UTC"
    currency_signs: frozenset[str] = frozenset()
    decimal_comma: bool = False
    rejects: tuple[Reject, ...] = ()
    fast: bool = False
    nulls: tuple[str, ...] = ()
    cost_column: str = "billed_cost"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRecord:
    """What a load did; the same as its row in `loads`, `outcome` and `notes` apart.

    `notes` say what this call did, or why it did nothing; `flags` what the file made necessary when it was read.
    `totals` and `residues` are per (currency, money column): what the ledger holds, and what rounding to twelve
    places took away (file = ledger + residue), both decimal strings.
    """

    load_id: int
    file: str
    sha256: str
    reader: str
    dialect: str
    dataset: str
    conventions: tuple[str, ...]
    flags: tuple[str, ...]
    rows_read: int
    rows_accepted: int
    rows_rejected: int
    totals: dict[str, dict[str, str]]
    residues: dict[str, dict[str, str]]
    outcome: Literal["loaded", "unchanged", "replaced"]
    loaded_at: str
    notes: tuple[str, ...] = ()
