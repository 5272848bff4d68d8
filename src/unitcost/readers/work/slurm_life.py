"""One row of `sacct`: a life of a job, and what it held."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter

from unitcost import money
from unitcost.facts.work import ANY_GPU, CPU
from unitcost.readers.work.cells import BadCellError, read_cell, whole
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.sink import decimal_cell, labels_cell, quoted, time_cell
from unitcost.readers.work.slurm_fields import FIELDS, JOB, Fields, Layout, status_of
from unitcost.readers.work.slurm_nodes import nodes_of, part_cells, uneven
from unitcost.readers.work.slurm_tres import NOTHING, Tres, gres_of, size_bytes, tres_of
from unitcost.units import HOURS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

SOURCE = "slurm"
NEVER = "never started"
_NO_VALUE = frozenset({"", "None", "Unknown", "(null)", "N/A"})
_NO_NODES = frozenset({"None assigned", "None", "(null)"})
_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?", re.ASCII)
#: Ends of a life that show that it had begun.
_RAN = frozenset({"completed", "failed", "crashed", "timeout", "preempted"})
#: Fields that become tags, and the names of the tags; few values each, so that they are put together once.
_TAGS = {
    "User": "user", "Group": "group", "Partition": "partition", "QOS": "qos", "State": "state", "Reason": "reason",
    "ExitCode": "exit_code", "WCKey": "wckey", "Comment": "comment", "Reservation": "reservation",
}  # fmt: skip
_MOST_NAMED = 5
#: Accelerator, and how many cards of it.
_Cards = tuple[tuple[str, Decimal], ...]
_REMEMBERED = 20_000

_tag_fields = itemgetter(*(FIELDS.index(name) for name in _TAGS))
_decimal_cell = lru_cache(maxsize=_REMEMBERED)(decimal_cell)


@dataclass(slots=True, kw_only=True)
class Life:
    """A life of a job, as cells for the sink: its workload, and what it held.

    `start` is None when it never started; `ended` tells whether its end is known.
    """

    row: int
    status: str
    state: str
    start: datetime | None
    ended: bool
    workload: dict[str, str]
    holdings: list[dict[str, str]]


@dataclass(slots=True, kw_only=True)
class Lives:
    """Reads the rows of one dump, and counts what is to be said about them.

    Parameters
    ----------
    cluster
        Name of the cluster where the dump has none; may be empty.
    """

    layout: Layout
    times: LocalTimes
    cluster: str
    seen: Counter[str] = field(default_factory=Counter)
    first_unequal: str = ""
    strange_states: set[str] = field(default_factory=set)

    def named(self, job: str, cluster: str) -> str:
        """Name of a workload: cluster and id of the job."""
        cluster = cluster or self.cluster
        return f"{cluster}/{job}" if cluster else job

    def read(self, number: int, row: Fields) -> Life:
        """Life that a row states.

        Raises
        ------
        BadCellError
            When a cell cannot be read.
        NeedsAnswer
            When times are local and nobody has said to which zone.
        """
        if not JOB.fullmatch(row.JobID):
            raise BadCellError("JobID", row.JobID, f"{row.JobID!r} is not the id of a job")
        lasted_s = _duration_s(row.ElapsedRaw or row.Elapsed)
        suspended_s = _duration_s(row.Suspended) or 0
        length = None if lasted_s is None else timedelta(seconds=lasted_s + suspended_s)
        start, end = self.times.period(row.Start, row.End, length)
        status = status_of(row.State)
        if start is None or (not lasted_s and (row.NodeList in _NO_NODES or status == NEVER)):
            return self._never(number, row, status, end)
        status = "unknown" if status == NEVER else status
        self._note(number, row.State, status, (start, end), length)
        about = {"status": status, "started_at": time_cell(start), "ended_at": time_cell(end) if end else ""}
        tres = self._tres(row)
        metrics = {
            "memory_bytes": _memory_bytes(row, tres), "suspended_s": suspended_s or None,
            "elapsed_s": None if end else lasted_s,
        }  # fmt: skip
        if suspended_s:
            self.seen["suspended lives"] += 1
            self.seen["suspended_s"] += suspended_s
        gpus, nodes = self._gpus(row, tres), self._nodes(row)
        workload = {**self._workload(row, self._uneven(gpus, nodes)), **about, "metrics": labels_cell(metrics)}
        held = _holdings(nodes, self._held(row, tres, gpus), tres.billing)
        whose = {"source": SOURCE, "workload_id": workload["workload_id"], **about}
        return Life(
            row=number, status=status, state=row.State, start=start, ended=end is not None, workload=workload,
            holdings=[{**whose, **holding} for holding in held],
        )  # fmt: skip

    def _never(self, number: int, row: Fields, status: str, end: datetime | None) -> Life:
        """Life of a job that has waited only."""
        self.seen["no start"] += status in _RAN
        status = status if status in _RAN else NEVER
        workload = {**self._workload(row), "status": status, "ended_at": time_cell(end) if end else ""}
        return Life(
            row=number, status=status, state=row.State, start=None, ended=end is not None, workload=workload,
            holdings=[],
        )  # fmt: skip

    def _workload(self, row: Fields, uneven: str = "") -> dict[str, str]:
        job = row.JobID
        # An array's task and a component of a heterogeneous job have the job as parent.
        head = job.partition("_")[0].partition("+")[0]
        return {
            "source": SOURCE, "workload_id": self.named(job, row.Cluster), "name": row.JobName,
            "parent": self.named(head, row.Cluster) if head != job else "", "account": row.Account,
            "tags": _tags_cell(row, uneven),
        }  # fmt: skip

    def _tres(self, row: Fields) -> Tres:
        """Resources allocated; where the dump has no column of them, those that were asked for."""
        if row.AllocTRES:
            return read_cell("AllocTRES", row.AllocTRES, tres_of)
        places = self.layout.places
        if not row.ReqTRES or "AllocTRES" in places or "AllocGRES" in places:
            return NOTHING
        self.seen["asked"] += 1
        return read_cell("ReqTRES", row.ReqTRES, tres_of)

    def _gpus(self, row: Fields, tres: Tres) -> _Cards:
        return tres.gpus or (read_cell("AllocGRES", row.AllocGRES, gres_of) if row.AllocGRES else ())

    def _nodes(self, row: Fields) -> tuple[str, ...]:
        """Nodes of a life; one without a name where the dump names none, or none that can be understood."""
        nodes = row.NodeList
        if not _several(nodes):
            return ("",) if nodes in _NO_NODES else (nodes,)
        try:
            found = nodes_of(nodes)
        except ValueError:
            self.seen["strange nodes"] += 1
            return ("",)
        said = row.NNodes or row.AllocNodes
        self.seen["other nodes"] += said.isdigit() and int(said) != len(found)
        return found

    def _uneven(self, gpus: _Cards, nodes: tuple[str, ...]) -> str:
        """Which cards do not divide evenly by the nodes, in words."""
        found = [
            f"{money.text(count)} {name} on {len(nodes)} nodes" for name, count in gpus if uneven(count, len(nodes))
        ]
        self.seen["uneven"] += bool(found)
        return ", ".join(found)

    def _held(self, row: Fields, tres: Tres, gpus: _Cards) -> list[tuple[str, Decimal | None]]:
        """What a life held on all its nodes together: accelerator and quantity, None when that is not known."""
        cpus = tres.cpus if tres.cpus is not None else _count(("AllocCPUS", row.AllocCPUS), ("NCPUS", row.NCPUS))
        held: list[tuple[str, Decimal | None]] = [(CPU, Decimal(cpus))] if cpus else []
        held += gpus
        if tres.parts and not gpus:
            held.append((ANY_GPU, None))
            self.seen["parts"] += 1
        self.seen["unknown slices"] += tres.unknown_slices
        self.seen["unknown holding"] += not held
        return held

    def _note(
        self, number: int, state: str, status: str, period: tuple[datetime, datetime | None], length: timedelta | None
    ) -> None:
        """Count what is odd about a life that has started."""
        start, end = period
        if status == "unknown":
            self.strange_states.add(state)
        if end is None:
            self.seen["running" if status == "running" else "open"] += 1
        elif length is not None and end - start != length:
            self.seen["unequal"] += 1
            lasted_s, stated_s = int((end - start).total_seconds()), int(length.total_seconds())
            self.first_unequal = self.first_unequal or f"row {number}: {lasted_s:,} s, stated {stated_s:,} s"

    def flags(self) -> Iterator[str]:
        """What the dump made necessary, one sentence each."""
        seen = self.seen
        for key, sentence in _SENTENCES.items():
            if seen[key]:
                yield sentence.format(n=f"{seen[key]:,}", s=f"{seen['suspended_s']:,}", first=self.first_unequal)
        if self.strange_states:
            shown = ", ".join(f"'{state[:60]}'" for state in sorted(self.strange_states)[:_MOST_NAMED])
            yield f"States that are not known here: {shown}; how these lives ended stays unknown."
        yield from self.times.flags()


_SENTENCES = {
    "running": "Lives that were still running when the dump was made, and so have no end: {n}.",
    "open": "Lives without an end though their state is not that of a running job: {n}.",
    "no start": "Jobs that have run but name no start, and so hold nothing: {n}.",
    "unequal": "Lives whose elapsed time is not that from start to end: {n} (first {first}); they last from start to end.",
    "suspended lives": "Lives that were suspended: {n}, for {s} seconds in all, which count as held.",
    "asked": "Lives that count with what they asked for (ReqTRES), as the dump does not say what was allocated: {n}.",
    "unknown holding": "Lives that do not say what they held, so that their quantity is unknown: {n}.",
    "parts": "Lives that held shards of cards (gres/shard, gres/mps), how much of a card the dump does not say: {n}.",
    "uneven": "Lives whose cards do not divide evenly by their nodes, each of which counts with an equal part: {n}.",
    "strange nodes": "Lives whose list of nodes is not understood, so that no machine is known to be theirs: {n}.",
    "other nodes": "Lives whose list of nodes has not as many as the dump says beside it, and which count as on those of the list: {n}.",
    "unknown slices": "Lives that held instances of a card of an unknown size, each of which counts as a whole card: {n}.",
}


@lru_cache(maxsize=_REMEMBERED)
def _common_tags(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        f'"{tag}": {quoted(text)}' for tag, text in zip(_TAGS.values(), fields, strict=True) if text not in _NO_VALUE
    )


def _holdings(
    nodes: tuple[str, ...], held: list[tuple[str, Decimal | None]], billing: Decimal | None
) -> list[dict[str, str]]:
    """What a life held, as cells: an equal part on each node. Its billing weight stands on one of them."""
    several = len(nodes) > 1
    holdings = []
    for name, quantity in held or [("", None)]:
        if quantity is None:
            parts: Sequence[str] = [""] * len(nodes)
        else:
            parts = part_cells(quantity, len(nodes)) if several else [_decimal_cell(quantity)]
        holdings += [
            {"node": node, "accelerator": name, "quantity": part} for node, part in zip(nodes, parts, strict=True)
        ]
    if billing is not None:
        holdings[0]["billing_weight"] = _decimal_cell(billing)
    return holdings


def _tags_cell(row: Fields, uneven: str) -> str:
    tags = [*_common_tags(_tag_fields(row))]
    if row.Submit not in _NO_VALUE:
        tags.append(f'"submit": {quoted(row.Submit)}')
    if _several(row.NodeList):
        tags.append(f'"node_list": {quoted(row.NodeList)}, "nodes": {quoted(row.NNodes or row.AllocNodes)}')
    if uneven:
        tags.append(f'"uneven_cards": {quoted(uneven)}')
    if row.JobIDRaw and row.JobIDRaw != row.JobID:
        tags.append(f'"job_id_raw": {quoted(row.JobIDRaw)}')
    return "{" + ", ".join(tags) + "}" if tags else ""


def _several(nodes: str) -> bool:
    return "[" in nodes or "," in nodes


def _count(*fields: tuple[str, str]) -> int | None:
    """Count in the first of these fields that has one."""
    name, text = next(((name, text) for name, text in fields if text), ("", ""))
    return read_cell(name, text, whole) if text else None


def _memory_bytes(row: Fields, tres: Tres) -> int | None:
    if tres.memory_bytes is not None or not row.ReqMem:
        return tres.memory_bytes
    nodes = _count(("NNodes", row.NNodes), ("AllocNodes", row.AllocNodes))
    cpus = _count(("AllocCPUS", row.AllocCPUS), ("NCPUS", row.NCPUS))
    return read_cell("ReqMem", row.ReqMem, lambda text: size_bytes(text, nodes=nodes, cpus=cpus))


def _duration_s(text: str) -> int | None:
    """Length of time written as seconds, `[D-]HH:MM:SS` or `MM:SS.mmm` [s]; None when it is neither."""
    if not text:
        return None
    if text.isdigit():
        return int(text)
    found = _DURATION.fullmatch(text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return (days * HOURS_PER_DAY + hours) * SECONDS_PER_HOUR + minutes * SECONDS_PER_MINUTE + seconds
