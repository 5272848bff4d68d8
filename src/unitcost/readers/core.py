"""Reading a file: look at it, choose its reader by content, settle what is open, say how the engine takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, cast

from unitcost.errors import BadBill, NeedsAnswer
from unitcost.facts.mapping import Mapping, check
from unitcost.facts.source import Plan, ReadOptions, Reject, Scan
from unitcost.facts.work import WorkPlan
from unitcost.readers import tables
from unitcost.readers.careful import Copyist, widths_of
from unitcost.readers.choosing import choose
from unitcost.readers.complete import complete, source_columns
from unitcost.readers.evidence import Evidence, Witness
from unitcost.readers.opening import Source
from unitcost.readers.preamble import past_preamble
from unitcost.readers.reading import Reader, Reading, unfolds
from unitcost.readers.survey import look
from unitcost.readers.table import claimed
from unitcost.readers.tables import Broken, Row
from unitcost.readers.work.reading import WorkReader, is_work
from unitcost.readers.work.sink import Sink
from unitcost.units import MIB

Progress = Callable[[int, int], None]
SAMPLE_ROWS = 1_000
#: Smaller files take the careful path: it costs them nothing that anyone would notice.
FAST_FROM_BYTES = 1 * MIB
_PLAIN_ENCODINGS = ("utf-8", "utf-8-sig", "ascii")
_PACKED_SUFFIXES = (".gz", ".zst")


def read(
    path: Path, options: ReadOptions, *, workdir: Path, progress: Progress | None = None, careful: bool = False
) -> Plan | WorkPlan:
    """How to load a file.

    A large clean csv or a parquet file is left to the engine as it is (`Plan.fast`); any other is checked row
    by row and written anew into `workdir`.

    Parameters
    ----------
    path
        The file; its name does not matter.
    options
        What the user says about it.
    workdir
        Folder for the copy; the caller removes it after loading.
    progress
        Told how many of how many bytes are done.
    careful
        Go row by row whatever the size, for a file that the engine has refused.

    Raises
    ------
    BadFile
        When it cannot be taken apart at all, or no reader knows it.
    NeedsAnswer
        When only the user can settle a doubt: currency, period, date order, time zone, encoding.
    BadBill
        When it contradicts itself.
    BadSetting, UnknownName
        When an option is wrong.
    """
    source = past_preamble(look(path, options, claimed), options)
    name, reader = choose(source, options)
    if is_work(reader):
        return _read_work(source, reader, options, workdir, progress)
    said: list[str] = []
    rows: Callable[[Progress | None], Iterator[Row]] = partial(tables.rows, source)
    if unfolds(reader) and source.format in reader.UNFOLDED:
        rows = partial(reader.unfold, source, said=said)
        source, unfolding = replace(source, format="json", columns=reader.COLUMNS), rows(progress)
        first = list(islice(unfolding, SAMPLE_ROWS))
        copied = chain(first, unfolding)
    else:
        first, copied = tables.sample(source, SAMPLE_ROWS), None
    reading = cast(Reader, reader).describe(source.columns, _padded(first, len(source.columns)), options)
    case = _Case(source=source, reading=reading, options=options, reader=name, rows=rows)
    settled = _settle(case, first)
    if not careful and _is_fast(case, settled.witness):
        return _plan(case, settled, _scan_as_it_is(source), fast=True)
    copyist = Copyist(source, reading, widths_of(settled.evidence, len(source.columns)))
    target = workdir / "rows.csv"
    copyist.write(copied or rows(progress), target)
    columns = (*source.columns, *reading.derived)
    scan = Scan(path=target, format="csv", columns=columns, numbered=True)
    return _plan(case, settled, scan, rejects=tuple(copyist.rejects), made=(copyist.widths.flag, *dict.fromkeys(said)))


def _read_work(
    source: Source, reader: WorkReader, options: ReadOptions, workdir: Path, progress: Progress | None
) -> WorkPlan:
    with Sink(workdir) as sink:
        told = reader.fill(source, options, sink, progress)
    flags = [*told.flags, *source.flags]
    if options.timezone:
        flags.append(f"Times without a zone are in {options.timezone}, as the user says.")
    if not sink.rows_read:
        flags.append("The file holds no records.")
    return WorkPlan(
        reader=reader.NAME, dialect=told.dialect, tables=sink.files(), rows_read=sink.rows_read,
        conventions=told.conventions, flags=tuple(flags), rejects=tuple(sink.rejects),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    source: Source
    reading: Reading
    options: ReadOptions
    reader: str
    rows: Callable[[Progress | None], Iterator[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    witness: Witness
    mapping: Mapping
    flags: tuple[str, ...]
    date_order: Any

    @property
    def evidence(self) -> Evidence:
        return self.witness.found


def _padded(rows: list[Row], width: int) -> list[list[str]]:
    return [(row + [""] * (width - len(row)))[:width] for row in rows if not isinstance(row, Broken)]


def _settle(case: _Case, first: list[Row]) -> _Settled:
    """Answer what the reading leaves open: from the first rows, from the whole file, from the user."""
    source, reading, options = case.source, case.reading, case.options
    zone_open = reading.zone_needed and not options.timezone
    witness = Witness(source, reading, zone_open=zone_open, decimal_comma=options.decimal_comma)
    witness.take(first)
    witness.settle_dates()
    if len(first) == SAMPLE_ROWS and witness.undecided:
        rest = case.rows(None)
        for _ in first:
            next(rest)
        witness.take(rest)
    found = witness.found
    _check_zone(case, found)
    order, why = found.dates.order(options.date_order, where=source.name)
    flags = [why] if why else []
    if not first:
        flags.append("The file has a header and no rows.")
    mapping = reading.mapping
    if reading.dataset == "charges" and first:
        done = complete(
            check(mapping), options, currency_seen=found.currency_seen, cost_seen=found.cost_seen, where=source.name
        )
        mapping, flags = done.mapping, [*flags, *done.flags]
    _check_repeated(source, mapping, found)
    return _Settled(witness=witness, mapping=mapping, flags=tuple(flags), date_order=order)


def _check_zone(case: _Case, found: Evidence) -> None:
    zoneless = found.dates.zoneless
    if case.reading.zone_needed and not case.options.timezone and zoneless:
        raise NeedsAnswer(
            f"{zoneless[1].strip()!r} in '{zoneless[0]}' is local time of an unknown zone", where=case.source.name,
            mend='say timezone = "Europe/Berlin" (or "UTC") in [[load]], or --timezone',
        )  # fmt: skip


def _check_repeated(source: Source, mapping: Mapping, found: Evidence) -> None:
    """A name that stands twice in the header is fine when it means the same, or when nothing is made of it."""
    used = {name.casefold() for node in mapping.values() for name in source_columns(node)}
    for later, row in sorted(found.unlike.items()):
        name = source.columns[source.repeated[later]]
        if name.casefold() in used:
            raise BadBill(
                f"two columns are named '{name}' and differ, first in row {source.skipped + row}", where=source.name,
                mend="rename one of them in the header, or map the columns under [load.columns]",
            )  # fmt: skip


def _is_fast(case: _Case, witness: Witness) -> bool:
    source, reading = case.source, case.reading
    if reading.repairs or reading.derive or witness.undecided or witness.found.broken or source.repeated:
        return False
    if source.format == "parquet":
        return True
    if source.format != "csv" or source.skipped or source.size_bytes < FAST_FROM_BYTES:
        return False
    if source.encoding not in _PLAIN_ENCODINGS:
        return False
    # The engine unpacks by the suffix of the name; only where that tells the truth may it read the file itself.
    suffix = source.path.suffix.lower()
    return suffix == ".gz" if source.packing == "gzip" else not source.packing and suffix not in _PACKED_SUFFIXES


def _scan_as_it_is(source: Source) -> Scan:
    form: Literal["csv", "parquet"] = "parquet" if source.format == "parquet" else "csv"
    return Scan(path=source.path, format=form, columns=source.columns, delimiter=source.delimiter or ",")


def _plan(
    case: _Case,
    settled: _Settled,
    scan: Scan,
    *,
    rejects: tuple[Reject, ...] = (),
    fast: bool = False,
    made: tuple[str, ...] = (),
) -> Plan:
    reading, options = case.reading, case.options
    signs = settled.evidence.signs.names
    flags = [*reading.flags, *case.source.flags, *settled.flags, *made, _sign_flag(signs)]
    if options.decimal_comma:
        flags.append("Amounts have a decimal comma, as the user says.")
    if options.timezone:
        flags.append(f"Times without a zone are in {options.timezone}, as the user says.")
    return Plan(
        reader=case.reader, dialect=reading.dialect, dataset=reading.dataset, scan=scan, mapping=settled.mapping,
        conventions=reading.conventions, flags=tuple(flag for flag in flags if flag), date_order=settled.date_order,
        timezone=options.timezone or "UTC", currency_signs=signs, decimal_comma=options.decimal_comma,
        rejects=rejects, fast=fast, nulls=reading.nulls, cost_column=reading.cost_column,
    )  # fmt: skip


def _sign_flag(signs: frozenset[str]) -> str:
    if not signs:
        return ""
    names = ", ".join(sorted(signs))
    return f"Amounts have a currency sign or parted thousands throughout in {names}; read without them."
