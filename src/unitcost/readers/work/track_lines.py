"""Lines of `unitcost.track` put together: processes into launches, launches into runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from unitcost.facts.slices import slice_share
from unitcost.facts.work import ANY_GPU, SCHEDULER_JOB, WORKLOAD_DRIVERS, WorkTable
from unitcost.money import divide
from unitcost.readers.moments import utc_moment
from unitcost.readers.work import tracker_names as names
from unitcost.readers.work.tracked_run import config_key_of

SOURCE = "track"
_STEPS = ("start_step", "end_step", "kept_step")
#: How the UUID of a part of a card begins; its profile stands in the name of the accelerator.
_SLICE = "MIG-"
_ENDS = frozenset({"completed", "failed", "cancelled", "pruned"})
#: How one launch ended when its ranks ended unlike: the first of these that is there.
_WORST = ("failed", "pruned", "cancelled")


@dataclass(slots=True)
class Process:
    """One rank: what its lines say, later ones over earlier ones."""

    row: int
    started_at: datetime
    said: dict[str, str]
    ended_at: datetime | None = None

    @property
    def devices(self) -> list[str] | None:
        """Accelerators, None when nobody says."""
        listed = self.said.get("accelerators", "")
        return [str(name) for name in json.loads(listed)] if listed else None

    def group(self, prefix: str) -> dict[str, str]:
        """Members of an object that the lines hold."""
        return {k.removeprefix(prefix): v for k, v in self.said.items() if k.startswith(prefix)}


@dataclass(slots=True)
class Launch:
    """Ranks that were started together on one machine: one life of a run, with the devices of them all."""

    run_id: str
    processes: dict[str, Process] = field(default_factory=dict)

    @property
    def first(self) -> Process:
        """Rank 0, or the lowest that there is."""
        return min(self.processes.values(), key=lambda p: (int(p.said.get("rank") or 0), p.row))

    @property
    def started_at(self) -> datetime:
        """When the first of them began."""
        return min(process.started_at for process in self.processes.values())

    @property
    def ended_at(self) -> datetime | None:
        """When the last of them ended; None while one has no end, unless another failed and took it along."""
        ends = [process.ended_at for process in self.processes.values()]
        known = [end for end in ends if end is not None]
        return max(known) if known and (len(known) == len(ends) or self.status == "failed") else None

    @property
    def status(self) -> str:
        """How it ended, by the worst of its ranks; running while one has no end."""
        said = {p.said.get("status", "") for p in self.processes.values() if p.ended_at is not None}
        worst = next((status for status in _WORST if status in said), "")
        missing = any(process.ended_at is None for process in self.processes.values())
        return "failed" if worst == "failed" else "running" if missing else worst or "completed"

    @property
    def devices(self) -> set[str] | None:
        """Accelerators of all ranks together; None when one of them does not say."""
        found = [process.devices for process in self.processes.values()]
        return None if any(ids is None for ids in found) else {name for ids in found for name in ids or ()}

    @property
    def quantity(self) -> Decimal | None:
        """How many it held; None when nobody says, when the part of a card is not known, or when a job tells."""
        devices, model = self.devices, self.first.said.get("accelerator", "")
        if devices is None or self.first.said.get("job"):
            return None
        slices = sum(name.startswith(_SLICE) for name in devices)
        share = slice_share(model, model) if slices else Fraction(0)
        if share is None:
            return None
        held = len(devices) - slices + slices * share
        return divide(Decimal(held.numerator), Decimal(held.denominator))

    @property
    def ranks_missing(self) -> int:
        """Ranks of this launch that wrote no line into this file; those of other machines among them."""
        return max(0, int(self.first.said.get("ranks") or 1) - len(self.processes))


def lives_of(launches: dict[tuple[str, str], Launch]) -> dict[str, list[Launch]]:
    """Launches of each run, in the order in which they began."""
    runs: dict[str, list[Launch]] = {}
    for launch in launches.values():
        runs.setdefault(launch.run_id, []).append(launch)
    return {run_id: sorted(lives, key=lambda x: (x.started_at, x.first.row)) for run_id, lives in runs.items()}


def rows_of(run_id: str, lives: list[Launch]) -> Iterator[tuple[WorkTable, dict[str, Any]]]:
    """Rows of one run: the workload, and a holding for each of its lives that held accelerators or made steps."""
    last = lives[-1]
    said = last.first.said
    params = last.first.group("params.")
    ends = [life.ended_at for life in lives]
    kind = said.get("kind", "").casefold()
    yield "workloads", {
        "source": SOURCE, "workload_id": run_id, "name": said.get("name"), "parent": said.get("parent"),
        "kind": kind if kind in WORKLOAD_DRIVERS else "trial" if said.get("parent") else "training",
        "team": said.get("team"), "project": said.get("project"), "experiment": said.get("experiment"),
        "status": last.status, "accepted": _accepted(last), "started_at": lives[0].started_at, "ended_at": ends[-1],
        "config_key": config_key_of(params), "metrics": last.first.group("metrics."), "tags": _tags(last, params),
    }  # fmt: skip
    for number, life in enumerate(lives, 1):
        if life.devices or life.devices is None:
            yield "holdings", _holding(run_id, number, life, is_last=life is last)


def _holding(run_id: str, number: int, life: Launch, *, is_last: bool) -> dict[str, Any]:
    first = life.first
    stated = first.said.get("attempt", "")
    steps = {name: first.said.get(name) for name in (*_STEPS, "startup_s")}
    # A life that was followed by another is over, though nobody wrote down when.
    status = "unknown" if life.status == "running" and not is_last else life.status
    return {
        "source": SOURCE, "workload_id": run_id, "attempt": stated or number, "status": status,
        "node": first.said.get("host"), "accelerator": first.said.get("accelerator") or ANY_GPU,
        "quantity": life.quantity, "started_at": life.started_at, "ended_at": life.ended_at,
        "pricing_category": names.pricing_of(_stated_tags(first)), **steps,
    }  # fmt: skip


def _accepted(life: Launch) -> bool | None:
    said = {process.said.get("accepted", "") for process in life.processes.values()}
    return True if "true" in said else False if "false" in said else None


def _stated_tags(process: Process) -> dict[str, str]:
    tags = process.said.get("tags", "")
    return {key: str(value) for key, value in json.loads(tags).items()} if tags else {}


def _tags(life: Launch, params: dict[str, str]) -> dict[str, str]:
    said = life.first.said
    own = {
        "host": said.get("host"), "ranks": said.get("ranks"), "exception": said.get("exception"),
        "accelerators": None if life.devices is None else " ".join(sorted(life.devices)),
        "accelerators_by": said.get("accelerators_by"), SCHEDULER_JOB: said.get("job"),
    }  # fmt: skip
    kept = {name: value for name, value in own.items() if value}
    return {**{f"params.{name}": value for name, value in params.items()}, **_stated_tags(life.first), **kept}


class Lines:
    """Takes the lines of a file, in any order in which ranks wrote them."""

    def __init__(self) -> None:
        self.launches: dict[tuple[str, str], Launch] = {}

    def take(self, row: int, said: dict[str, str]) -> None:
        """Take one line.

        Raises
        ------
        ValueError
            When it makes no sense, with the reason; nothing of it is taken then.
        """
        event = said.get("event", "")
        run_id, launch_id, process_id = (said.get(name, "") for name in ("run_id", "launch", "process"))
        if not (run_id and launch_id and process_id):
            raise ValueError("the line names no run, launch or process")
        at = utc_moment(said.get("at", ""), UTC)
        kept = {name: value for name, value in said.items() if value != ""}
        _check(kept)
        if event == "start":
            launch = self.launches.setdefault((run_id, launch_id), Launch(run_id))
            if process_id in launch.processes:
                raise ValueError("the process has begun already")
            launch.processes[process_id] = Process(row=row, started_at=at, said=kept)
            return
        self._go_on(event, (run_id, launch_id), process_id, at, kept)

    def _go_on(self, event: str, key: tuple[str, str], process_id: str, at: datetime, said: dict[str, str]) -> None:
        process = self.launches[key].processes.get(process_id) if key in self.launches else None
        if process is None:
            raise ValueError("the process has no start in this file")
        if event not in ("step", "end"):
            raise ValueError(f"{event!r} is no event: start, step or end")
        if at < process.started_at:
            raise ValueError(f"the {event} at {at.isoformat()} is before the start")
        if event == "end":
            if said.get("status") not in _ENDS:
                raise ValueError(f"{said.get('status')!r} is no way to end: {', '.join(sorted(_ENDS))}")
            process.ended_at = at
        process.said |= said


def _check(said: dict[str, str]) -> None:
    for name in ("rank", "ranks", "attempt", *_STEPS):
        if name in said and not said[name].isdigit():
            raise ValueError(f"{name} is {said[name]!r}, no whole number")
    for name, wanted in (("accelerators", list), ("tags", dict)):
        if name in said:
            found = json.loads(said[name])
            if not isinstance(found, wanted):
                raise ValueError(f"{name} is {said[name][:60]!r}, which it cannot be")
