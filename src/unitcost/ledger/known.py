"""Content that is in the ledger already: whether it is, and what restating it again does."""

from __future__ import annotations

from dataclasses import dataclass, replace

import duckdb

from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.ledger import load, restate
from unitcost.ledger.restate import Claim
from unitcost.ledger.transaction import transaction

_SUPERSEDED = "{other} has restated its billing periods since; its rows are history, and nothing changed."
_COPY = "Its content is that of {other}, which is loaded; say `--part` (`part = true`) to add it once more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A load of some content: its record, how it restates, and the file that has taken its place, if one has."""

    record: LoadRecord
    version: str
    replaces: str
    superseded_by: str


def find(con: duckdb.DuckDBPyConnection, file: str, sha256: str, said: str, *, part: bool) -> Known | None:
    """Load of this very content, or None when it must be loaded.

    What another file has restated since is known all the same: loading it again must not undo that. What new
    content under the same path has replaced is not, nor what was read otherwise than the user says now, nor, when
    the user says that it is a `part`, a copy under another path.
    """
    query = (
        f"SELECT {load.LOAD_COLUMNS}, said, version, replaces, "
        "coalesce((SELECT n.file FROM loads n WHERE n.load_id = l.replaced_by), '') AS superseded_by "
        "FROM loads l WHERE sha256 = ? AND (replaced_by IS NULL OR superseded_by <> l.file) "
        "ORDER BY file <> ?, replaced_by IS NOT NULL, load_id LIMIT 1"
    )
    rows = con.execute(query, [sha256, file]).fetchall()
    if not rows:
        return None
    *columns, read_as, version, replaces, superseded_by = rows[0]
    record = load.record_of(tuple(columns))
    if record.file == file and read_as != said and not superseded_by:
        return None
    if record.file != file and (part or restate.same_path(con, file)):
        return None  # the path held something else: that must be settled, not passed over
    return Known(record=record, version=version, replaces=replaces, superseded_by=superseded_by)


def restated(con: duckdb.DuckDBPyConnection, found: Known, file: str, options: ReadOptions, claim: Claim) -> LoadRecord:
    """Record of known content, after it has restated what the options say that it restates.

    A version that the content was loaded with stays; options give one where there is none.

    Raises
    ------
    PartOrRestatement
        When it restates what may be a part of the same statement.
    """
    record = replace(found.record, file=file, outcome="unchanged")
    if found.superseded_by:
        return replace(record, notes=(_SUPERSEDED.format(other=found.superseded_by),))
    options = replace(options, version=found.version or options.version)
    changed = (found.replaces, found.version) != (options.replace, options.version)
    if record.dataset == "charges" and options.replace and (claim.insists or changed):
        return _restate(con, record, options, replace(claim, known=True))
    notes = (_COPY.format(other=found.record.file),) if found.record.file != file else ()
    return replace(record, notes=notes)


def _restate(con: duckdb.DuckDBPyConnection, record: LoadRecord, options: ReadOptions, claim: Claim) -> LoadRecord:
    with transaction(con):
        con.execute(
            "UPDATE loads SET replaces = ?, version = ?, source = ? WHERE load_id = ?",
            [options.replace, options.version, claim.source, record.load_id],
        )
        notes = restate.replace_periods(con, record, options, claim)
        if notes:
            restate.drop_orphans(con)
    if notes:
        return replace(record, outcome="replaced", notes=tuple(notes))
    return replace(record, notes=(f"It was loaded before. {restate.NOTHING}",) if claim.insists else ())
