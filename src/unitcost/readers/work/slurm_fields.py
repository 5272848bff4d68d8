"""Which cell of an `sacct` dump is which field, and what its words mean."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from unitcost.errors import BadFile, BadSetting, UnknownName


class Fields(NamedTuple):
    """The fields of a row that are looked at, called as `sacct` calls them; empty where the dump has no such column."""

    JobID: str
    JobIDRaw: str
    JobName: str
    Cluster: str
    Account: str
    User: str
    Group: str
    Partition: str
    QOS: str
    State: str
    Reason: str
    ExitCode: str
    Submit: str
    Start: str
    End: str
    Elapsed: str
    ElapsedRaw: str
    Suspended: str
    NNodes: str
    AllocNodes: str
    NodeList: str
    AllocTRES: str
    ReqTRES: str
    AllocGRES: str
    AllocCPUS: str
    NCPUS: str
    ReqMem: str
    WCKey: str
    Comment: str
    Reservation: str


FIELDS = Fields._fields
#: A dump that has these is one of `sacct`.
NEEDED = ("JobID", "State", "Start", "End")
_XDMOD = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID", "Submit", "Eligible",
    "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES",
    "Timelimit", "NodeList", "JobName",
)  # fmt: skip
#: Columns of dumps that Open XDMoD asks for, which have no header; older versions did not ask for the QOS.
LAYOUTS = (_XDMOD, tuple(name for name in _XDMOD if name != "QOS"))
#: Fields in which people write what they like, the delimiter included.
_FREE_TEXT = ("JobName", "Comment", "AdminComment", "SubmitLine", "SystemComment", "WorkDir")
_REMEMBERED = 10_000
_DELIMITERS = ("|#", "|", "\t", ";", ",")
_JOB = r"\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|Unknown|None", re.ASCII)
JOB = re.compile(_JOB, re.ASCII)
STEP = re.compile(_JOB + r"\.[\w-]+(?:\+\d+)?", re.ASCII)

#: State of a job -> how its life ended. A word may be cut off and end in a plus sign.
_STATUS_OF = {
    "COMPLETED": "completed", "FAILED": "failed", "NODE_FAIL": "crashed", "OUT_OF_MEMORY": "failed",
    "BOOT_FAIL": "crashed", "LAUNCH_FAILED": "crashed", "RECONFIG_FAIL": "crashed", "CANCELLED": "cancelled",
    "REVOKED": "cancelled", "PREEMPTED": "preempted", "REQUEUED": "preempted", "TIMEOUT": "timeout",
    "DEADLINE": "timeout", "PENDING": "never started", "REQUEUE_HOLD": "never started", "REQUEUE_FED": "never started",
    "RESV_DEL_HOLD": "never started", "SPECIAL_EXIT": "failed", "RUNNING": "running", "SUSPENDED": "running",
    "STOPPED": "running", "COMPLETING": "running", "CONFIGURING": "running", "SIGNALING": "running",
    "STAGE_OUT": "running", "POWER_UP_NODE": "running", "RESIZING": "unknown",
}  # fmt: skip
_SHORT = {
    "CD": "COMPLETED", "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "BF": "BOOT_FAIL", "CA": "CANCELLED",
    "RV": "REVOKED", "PR": "PREEMPTED", "RQ": "REQUEUED", "TO": "TIMEOUT", "DL": "DEADLINE", "PD": "PENDING",
    "R": "RUNNING", "S": "SUSPENDED", "CG": "COMPLETING", "CF": "CONFIGURING", "RS": "RESIZING",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the lines of a dump are cut, and where each field stands.

    Parameters
    ----------
    delimiter
        Any number of signs.
    quoted
        Cells are quoted, as spreadsheets and data frames write them; `sacct` itself quotes nothing.
    width
        Cells of a row.
    places
        Field -> position, from 0.
    header
        Whether the first row names the columns.
    ends_cut
        Whether each row ends in one more delimiter (`sacct -p`).
    free_end
        Whether the last cell may hold delimiters.
    said
        Where the columns are known from, for the name of the dialect.
    """

    delimiter: str
    quoted: bool
    width: int
    places: dict[str, int]
    header: bool
    ends_cut: bool = False
    free_end: bool = False
    said: str = ""

    def picker(self) -> Callable[[list[str]], Fields]:
        """Function that takes the fields out of a row."""
        take = itemgetter(*(self.places.get(name, self.width) for name in FIELDS))
        make = Fields._make
        return lambda cells: make(take([*cells, ""]))


def known_fields(first_line: str) -> int:
    """How many fields of `sacct` a line names, or how many cells of one it has; 0 when it is no dump."""
    names = header_cells(first_line)[2]
    if names:
        return sum(name in FIELDS for name in names)
    return max((_likeness(cells) for cells in _ways(first_line)), default=0)


def layout_of(first_line: str, *, delimiter: str, columns: dict[str, str], where: str) -> Layout:
    """How a dump is built, by its first line and what the user says.

    Raises
    ------
    BadFile
        When it has no header and its columns are not known.
    UnknownName, BadSetting
        When `columns` names a field or a place that there is not.
    """
    sign, quoted, names = header_cells(first_line, delimiter)
    if names:
        trimmed = names[:-1] if not names[-1] else names
        return Layout(
            delimiter=sign, quoted=quoted, width=len(trimmed), header=True, ends_cut=len(trimmed) < len(names),
            places=_placed(trimmed, columns, where), free_end=trimmed[-1] in _FREE_TEXT, said="with header",
        )  # fmt: skip
    sign = delimiter or max(_DELIMITERS, key=lambda s: (_likeness(first_line.split(s)), len(s)))
    cells = first_line.split(sign)
    cut = not cells[-1]
    if columns:
        places, width = _told(columns, len(cells) - cut, where), len(cells) - cut
        said, free = "without header, columns as the user says", False
    else:
        found = _xdmod(cells)
        if not found:
            raise BadFile(
                f"the sacct dump has no header, and its {len(cells)} columns are not those that XDMoD dumps have",
                where=where, mend='dump without --noheader, or say where the fields stand: reader = "slurm", columns = '
                '{ JobID = "1", State = "5", Start = "7", End = "8", AllocTRES = "9" ... }',
            )  # fmt: skip
        places, width = {name: at for at, name in enumerate(found)}, len(found)
        said, free = "without header, columns as Open XDMoD dumps them", True
    return Layout(
        delimiter=sign, quoted=False, width=width, places=places, header=False, ends_cut=cut and len(cells) > width,
        free_end=free, said=said,
    )  # fmt: skip


def header_cells(line: str, delimiter: str = "") -> tuple[str, bool, list[str]]:
    """Delimiter, whether cells are quoted, and the names of a header; no names when the line is none."""
    quoted = line.startswith('"')
    if quoted:
        signs = [delimiter] if delimiter else list(_DELIMITERS[1:])
        sign, names = max(((s, next(csv.reader([line], delimiter=s), [])) for s in signs), key=lambda way: len(way[1]))
    else:
        between = Counter(re.findall(r"(?<=[A-Za-z])[^A-Za-z]+(?=[A-Za-z])", line))
        sign = delimiter or (between.most_common(1)[0][0] if between else "|")
        names = line.split(sign)
        # Where commas part the cells, lists of resources hold commas too, so cells that do are quoted.
        quoted = sign in (",", ";", "\t")
    known = {name.casefold(): name for name in FIELDS}
    names = [known.get(name.strip().casefold(), name.strip()) for name in names]
    if "JobID" not in names:
        names = ["JobID" if name == "JobIDRaw" else name for name in names]
    return sign, quoted, names if all(name in names for name in NEEDED) else []


@lru_cache(maxsize=_REMEMBERED)
def status_of(state: str) -> str:
    """How a life ended: `CANCELLED by 1001` is cancelled, `OUT_OF_ME+` failed, an unknown word unknown."""
    words = state.split()
    word = words[0].upper() if words else ""
    if word.endswith("+"):
        begun = word[:-1]
        word = next((known for known in _STATUS_OF if begun and known.startswith(begun)), word)
    return _STATUS_OF.get(_SHORT.get(word, word), "unknown")


def _ways(line: str) -> list[list[str]]:
    return [line.split(sign) for sign in _DELIMITERS if sign in line]


def _likeness(cells: Sequence[str]) -> int:
    """Cells of a row without header that look like a job's id, its state and its times; 0 unless all are there."""
    jobs = sum(JOB.fullmatch(cell) is not None or STEP.fullmatch(cell) is not None for cell in cells[:3])
    states = sum(status_of(cell) != "unknown" and cell[:1].isupper() and len(cell) > 3 for cell in cells)
    times = sum(_TIME.fullmatch(cell) is not None for cell in cells)
    return jobs + states + times if jobs and states and times > 1 and len(cells) > 4 else 0


def _xdmod(cells: Sequence[str]) -> tuple[str, ...]:
    for layout in LAYOUTS:
        row = dict(zip(layout, cells, strict=False))
        if len(cells) >= len(layout) and status_of(row["State"]) != "unknown" and _TIME.fullmatch(row["End"]):
            return layout
    return ()


def _placed(names: Sequence[str], columns: dict[str, str], where: str) -> dict[str, int]:
    places = {name: names.index(name) for name in names if name in FIELDS}
    for field, column in columns.items():
        if column not in names:
            raise UnknownName("column", column, names, where=f"{where}, columns of [[load]], {field}")
        places[_field(field, where)] = names.index(column)
    return places


def _told(columns: dict[str, str], width: int, where: str) -> dict[str, int]:
    places = {}
    for field, place in columns.items():
        if not (place.isascii() and place.isdigit() and 1 <= int(place) <= width):
            raise BadSetting(
                f"{field} stands in column {place!r}, but columns without a header are 1 to {width}",
                where=f"{where}, columns of [[load]]", mend="give the number of the column, from 1",
            )  # fmt: skip
        places[_field(field, where)] = int(place) - 1
    missing = [name for name in NEEDED if name not in places]
    if missing:
        raise BadSetting(
            f"columns do not say where {' and '.join(missing)} stand", where=f"{where}, columns of [[load]]",
            mend="give the numbers of the columns, from 1",
        )  # fmt: skip
    return places


def _field(name: str, where: str) -> str:
    known = {field.casefold(): field for field in FIELDS}
    if name.casefold() not in known:
        raise UnknownName("field of sacct", name, FIELDS, where=f"{where}, columns of [[load]]")
    return known[name.casefold()]
