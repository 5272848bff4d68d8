"""Who worked on the machines of the sample: nodes, jobs, and the lives of jobs whose node was taken away.

Times are counted in hundredths of an hour from the start of the sample, called ticks, as the lives of spot nodes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from unitcost.samples import aws_work
from unitcost.samples.aws import instance_id
from unitcost.samples.lines import draw
from unitcost.samples.world import World
from unitcost.units import HOURS_PER_DAY, SECONDS_PER_HOUR

TICKS_PER_HOUR = 100
TICK_S = SECONDS_PER_HOUR // TICKS_PER_HOUR
TICKS_PER_DAY = TICKS_PER_HOUR * HOURS_PER_DAY
#: Instance type -> (name of its accelerator, how many it has, cores, model as the driver calls it).
CARDS = {
    "p5.48xlarge": ("h100", 8, 192, "NVIDIA H100 80GB HBM3"), "g6e.xlarge": ("l40s", 1, 4, "NVIDIA L40S"),
    "p4d.24xlarge": ("a100", 8, 96, "NVIDIA A100-SXM4-40GB"), "g5.2xlarge": ("a10g", 1, 8, "NVIDIA A10G"),
    "a2-highgpu-1g": ("a100", 1, 12, "NVIDIA A100-SXM4-40GB"), "NC4as T4 v3": ("t4", 1, 4, "Tesla T4"),
}  # fmt: skip
#: From the start of a node to that of a job, and what is too short for one. [ticks]
_BOOT, _SHORTEST = 10, 220
_USERS = {"search": "u104", "ads": "u207", "risk": "u311"}
#: Run -> first of its job ids; the trials of a sweep are tasks of one array.
_FIRST_ID = {"ranker-l12": 4102, "bidder-v5": 4110, "fraud-sweep-3": 4155, "ranker-l24": 4310, "bidder-v6": 4402}
SWEEP = "fraud-sweep-3"
#: Jobs that do not end well: (run, node) -> (state, in which life, how long after its start [ticks]).
_ENDINGS = {
    ("bidder-v5", 2): ("FAILED", 2, 610), ("bidder-v6", 1): ("CANCELLED by 1004", 2, 380),
    ("ranker-l24", 3): ("OUT_OF_MEMORY", 1, 140),
}  # fmt: skip
PREPARATION = "embed-build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A node of the scheduler. `resource` names it on the bill; [ticks]."""

    node: str
    resource: str
    instance_type: str
    start: int
    end: int

    @property
    def cards(self) -> int:
        """Accelerators that it has."""
        return CARDS[self.instance_type][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A job holds a whole machine; `end` is None while it runs. [ticks]."""

    machine: Machine
    start: int
    end: int | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of the scheduler, or a pod of the cluster, with all its lives; without any it never started.

    `key` is how the ledger names it. `outcome` is what became of a trial.
    """

    key: str
    job_id: str
    name: str
    account: str
    run: str
    submitted: int
    lives: tuple[Life, ...]
    outcome: str = "completed"

    @property
    def user(self) -> str:
        """Who submitted it."""
        return _USERS.get(self.account, "u100")

    @property
    def state(self) -> str:
        """How it ended."""
        return self.lives[-1].state if self.lives else "CANCELLED by 1004"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All that the scheduler and the cluster did, and the nodes that they know."""

    machines: tuple[Machine, ...]
    jobs: tuple[Job, ...]
    pods: tuple[Job, ...]


def moment(world: World, tick: int) -> datetime:
    """Moment of a tick."""
    return world.calendar.origin + timedelta(seconds=tick * TICK_S)


def end_of(world: World) -> int:
    """Tick at which the sample ends."""
    return world.calendar.hour_count * TICKS_PER_HOUR


def slurm_work(world: World) -> tuple[tuple[Machine, ...], tuple[Job, ...]]:
    """Nodes and jobs of the scheduler."""
    machines: list[Machine] = []
    jobs: list[Job] = []
    for run, (kind, nodes, first, days, _) in aws_work.RUNS.items():
        hours = len(world.days_between(first, days))
        for node in range(nodes):
            lives = aws_work.lives(world, run, node, hours)
            found = [
                Machine(
                    node=_node_name(len(machines) + number), instance_type=kind,
                    resource=instance_id(world, run, str(node), str(number)), start=first * TICKS_PER_DAY + start,
                    end=first * TICKS_PER_DAY + end,
                )
                for number, (start, end) in enumerate(lives)
            ]  # fmt: skip
            jobs += _trials(world, node, found) if run == SWEEP else _run_jobs(world, run, node, found)
            machines += found
    jobs = _numbered(jobs)
    for prepared in (_preparation(world), _never_launched(world), _nobodys(world)):
        machines += prepared[0]
        jobs += prepared[1]
    return tuple(machines), tuple(jobs)


def _node_name(number: int) -> str:
    third, fourth = divmod(number, 240)
    return f"ip-10-40-{third}-{fourth + 11}"


@dataclass(slots=True)
class _Node:
    """A node that is given again after it was taken away; jobs are put on it one after another."""

    machines: list[Machine]
    at: int = 0
    usable: list[Machine] = field(init=False)

    def __post_init__(self) -> None:
        self.usable = [machine for machine in self.machines if machine.end - machine.start > _SHORTEST]

    def run(self, length: int, *, fits: bool = False) -> tuple[Life, ...]:
        """Lives of a job of some ticks that begins anew when its node is taken away.

        Parameters
        ----------
        fits
            The job needs just what is left of the last machine but `length`; it goes on where it was.
        """
        lives: list[Life] = []
        while self.usable:
            machine = self.usable[0]
            start = max(self.at, machine.start + _BOOT)
            last = len(self.usable) == 1
            end = machine.end - length if fits and last else start + length if not fits else machine.end + 1
            if start < end <= machine.end:
                self.at = end + 2
                return (*lives, Life(machine=machine, start=start, end=end, state="COMPLETED"))
            if start < machine.end:
                lives.append(Life(machine=machine, start=start, end=machine.end, state="PREEMPTED"))
            self.usable.pop(0)
        return tuple(lives)


def _run_jobs(world: World, run: str, node: int, machines: list[Machine]) -> Iterator[Job]:
    """One job for each node of a run, with its own seed, and another one where the first fails at once."""
    tail = int(draw(world.bits("job", run, str(node)), 1, 15, 160)[0])
    place = _Node(machines)
    lives = place.run(tail, fits=True)
    state, number, after = _ENDINGS.get((run, node), ("", 0, 0))
    if number and len(lives) >= number:
        hit = lives[number - 1]
        end = min(hit.start + after, hit.end or 0)
        failed = _job(run, node, (*lives[: number - 1], replace(hit, end=end, state=state)))
        again = state == "OUT_OF_MEMORY" and end + 30 < (hit.end or 0)
        yield replace(failed, name=failed.name + "-oom") if again else failed
        if not again:
            return
        lives = (replace(hit, start=end + 30), *lives[number:])
    if lives:
        yield _job(run, node, lives)


def _job(run: str, node: int, lives: tuple[Life, ...], outcome: str = "completed") -> Job:
    account = aws_work.RUNS[run][4]["team"]
    submitted = lives[0].start - 4
    return Job(
        key="", job_id="", name=f"{run}-s{node}", account=account, run=run, submitted=submitted, lives=lives, outcome=outcome
    )  # fmt: skip


def _trials(world: World, node: int, machines: list[Machine]) -> Iterator[Job]:
    """Trials of the sweep that one node worked through."""
    bits = world.bits("trials", str(node))
    fates = draw(bits, 200, 0, 99).tolist()
    lengths = draw(bits, 200, 0, 1000).tolist()
    place = _Node(machines)
    for fate, length in zip(fates, lengths, strict=True):
        outcome = "failed" if fate < 8 else "pruned" if fate < 32 else "duplicate" if fate < 44 else "completed"
        short = outcome in ("failed", "pruned")
        lives = place.run((40 + length // 8) if short else (500 + length))
        if not lives:
            return
        if outcome == "failed" and lives[-1].state == "COMPLETED":
            lives = (*lives[:-1], replace(lives[-1], state="FAILED"))
        yield _job(SWEEP, node, lives, outcome if lives[-1].state != "PREEMPTED" else "cancelled")


def _numbered(jobs: Iterable[Job]) -> list[Job]:
    """Jobs with their ids, in the order in which they were submitted."""
    found: list[Job] = []
    counts: dict[str, int] = {}
    for job in sorted(jobs, key=lambda job: (job.submitted, job.name)):
        number = counts[job.run] = counts.get(job.run, -1) + 1
        first = _FIRST_ID[job.run]
        name = f"{SWEEP}-t{number:03d}" if job.run == SWEEP else job.name
        job_id = f"{first}_{number}" if job.run == SWEEP else str(first + number)
        found.append(replace(job, job_id=job_id, key=f"slurm:{job_id}", name=name))
    return found


def _preparation(world: World) -> tuple[list[Machine], list[Job]]:
    """A machine on demand that builds embeddings for some hours of each day; the last job has not ended."""
    machine = Machine(
        node="prep-1", resource=instance_id(world, "embed-builder"), instance_type="g6e.xlarge", start=0, end=end_of(world)
    )  # fmt: skip
    bits = world.bits("preparation")
    starts = draw(bits, world.calendar.day_count, 100, 125).tolist()
    lengths = draw(bits, world.calendar.day_count, 700, 1150).tolist()
    jobs = []
    for day, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        begin, state = day * TICKS_PER_DAY + start, "COMPLETED"
        end: int | None = begin + length
        if day % 31 == 12:
            end, state = begin + 1200, "TIMEOUT"
        if day == world.calendar.day_count - 1:
            end, state = None, "RUNNING"
        jobs.append(
            Job(
                key=f"slurm:{5001 + day}", job_id=str(5001 + day), name=PREPARATION, account="search", run="",
                submitted=begin - 3, lives=(Life(machine=machine, start=begin, end=end, state=state),),
            )
        )  # fmt: skip
    return [machine], jobs


def _never_launched(world: World) -> tuple[list[Machine], list[Job]]:
    """A job that waited for a node that nobody gave, and was cancelled."""
    submitted = min(26 * TICKS_PER_DAY, end_of(world) - TICKS_PER_DAY)
    job = Job(
        key="slurm:4290", job_id="4290", name="ranker-xl", account="search", run="ranker-xl", submitted=submitted, lives=(),
        outcome="never started",
    )  # fmt: skip
    return [], [job]


def _nobodys(world: World) -> tuple[list[Machine], list[Job]]:
    """The machine without tags: a node of the scheduler on which no job ever ran."""
    hours = world.days_between(24, 12)
    if not len(hours):
        return [], []
    start, end = int(hours[0]) * TICKS_PER_HOUR, (int(hours[-1]) + 1) * TICKS_PER_HOUR
    machine = Machine(
        node="gpu-lab-1", resource=instance_id(world, "nobody"), instance_type="p4d.24xlarge", start=start, end=end
    )  # fmt: skip
    return [machine], []
