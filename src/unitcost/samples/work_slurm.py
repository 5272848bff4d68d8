"""The scheduler's accounting of the sample, as `sacct --parsable2 -D` prints it, and its nodes with their instances."""

from __future__ import annotations

from collections.abc import Iterator

from unitcost.samples.work import CARDS, TICK_S, Job, Life, Machine, Work, moment
from unitcost.samples.world import World

COLUMNS = (
    "JobID", "JobName", "Account", "User", "Partition", "State", "ExitCode", "Submit", "Start", "End", "ElapsedRaw",
    "NNodes", "NodeList", "AllocTRES",
)  # fmt: skip
NODE_COLUMNS = (
    "node",
    "instance_id",
    "instance_type",
    "accelerator",
    "quantity",
    "started_at",
    "ended_at",
)
_STAMP = "%Y-%m-%dT%H:%M:%S"
_EXIT = {"COMPLETED": "0:0", "FAILED": "1:0", "OUT_OF_MEMORY": "0:125", "TIMEOUT": "0:0"}


def accounting(world: World, work: Work) -> Iterator[str]:
    """Lines of the dump, header first: all lives of each job, and the steps of those that trained."""
    yield "|".join(COLUMNS)
    for job in sorted(work.jobs, key=lambda job: (job.submitted, job.job_id)):
        if not job.lives:
            yield _row(world, job, None)
        for life in job.lives:
            yield _row(world, job, life)
            if job.run and "_" not in job.job_id:
                yield from _steps(world, job, life)


def _row(world: World, job: Job, life: Life | None) -> str:
    submitted = moment(world, job.submitted).strftime(_STAMP)
    about = [job.job_id, job.run or job.name, job.account, job.user, "gpu"]
    if life is None:
        cancelled = moment(world, job.submitted + 900).strftime(_STAMP)
        return "|".join([*about, job.state, "0:0", submitted, "None", cancelled, "0", "1", "None assigned", ""])
    start = moment(world, life.start).strftime(_STAMP)
    end = "Unknown" if life.end is None else moment(world, life.end).strftime(_STAMP)
    lasted = str(((life.end or world.calendar.hour_count * 100) - life.start) * TICK_S)
    cells = [life.state, _EXIT.get(life.state, "0:15"), submitted, start, end, lasted, "1", life.machine.node]
    return "|".join([*about, *cells, _allocated(life.machine)])


def _allocated(machine: Machine) -> str:
    name, cards, cores, _ = CARDS[machine.instance_type]
    return f"billing={cards * 100},cpu={cores},gres/gpu:{name}={cards},gres/gpu={cards},mem={cores * 8}G,node=1"


def _steps(world: World, job: Job, life: Life) -> Iterator[str]:
    """Steps hold parts of what their allocation holds; whoever adds them up counts it twice."""
    row = _row(world, job, life).split("|")
    for step, name in (("batch", "batch"), ("0", "torchrun")):
        yield "|".join([f"{job.job_id}.{step}", name, *row[2:3], "", "", *row[5:13], row[13].partition(",")[2]])


def nodes(world: World, work: Work) -> Iterator[str]:
    """Lines of the table of nodes, header first: which instance of the bill each is, and what it has."""
    yield ",".join(NODE_COLUMNS)
    for machine in work.machines:
        name, cards, _, _ = CARDS[machine.instance_type]
        start, end = (moment(world, tick).strftime(_STAMP + "Z") for tick in (machine.start, machine.end))
        instance = machine.resource.rpartition("/")[2]
        yield f"{machine.node},{instance},{machine.instance_type},{name},{cards},{start},{end}"
