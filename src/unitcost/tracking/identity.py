"""Which run a process belongs to, and which of its ranks it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

#: (rank, number of ranks), as launchers set them.
_RANKS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))
_STEP = "SLURM_STEP_ID"
#: Steps from here on are no steps that srun started (batch, extern, interactive).
_SPECIAL_STEPS = 4_294_967_280
_RESTARTS = ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT")
_numbers = count()


class Identity(NamedTuple):
    """Where a process stands.

    Parameters
    ----------
    run_id
        Same for all ranks of a run, and for all its attempts where it was given.
    launch
        Same for the ranks that were started together.
    attempt
        From 1, where the launcher counts; None where nobody does.
    job
        `SCHEDULER:JOB` that the process is part of; empty when there is none.
    """

    run_id: str
    launch: str
    rank: int
    ranks: int
    attempt: int | None
    job: str


def identity_of(environ: Mapping[str, str], *, host: str, given: str = "") -> Identity:
    """Identity of this process, each time of another run unless the id is given.

    Ranks of one launch agree on it without talking to each other, as long as they make their runs in the same order.
    """
    rank, ranks = _rank(environ)
    number = next(_numbers)
    launch = f"{_launch(environ, host)}-{number}" if ranks > 1 else os.urandom(8).hex()
    run_id = given or environ.get("UNITCOST_RUN_ID", "") or launch
    restarts = next((environ[name] for name in _RESTARTS if environ.get(name, "").isdigit()), "")
    return Identity(
        run_id=run_id, launch=f"{launch}-r{restarts}" if restarts else launch, rank=rank, ranks=ranks,
        attempt=int(restarts) + 1 if restarts else None, job=job_of(environ, host),
    )  # fmt: skip


def in_step(environ: Mapping[str, str]) -> bool:
    """Whether Slurm started the process as a task of a step."""
    step = environ.get(_STEP, "")
    return step.isdigit() and int(step) < _SPECIAL_STEPS


def job_of(environ: Mapping[str, str], host: str) -> str:
    """`SCHEDULER:JOB` that a process is part of."""
    array, task = environ.get("SLURM_ARRAY_JOB_ID"), environ.get("SLURM_ARRAY_TASK_ID")
    if array and task:
        return f"slurm:{array}_{task}"
    if environ.get("SLURM_JOB_ID"):
        return f"slurm:{environ['SLURM_JOB_ID']}"
    if environ.get("KUBERNETES_SERVICE_HOST"):
        space, pod = environ.get("POD_NAMESPACE", ""), environ.get("POD_NAME") or environ.get("HOSTNAME") or host
        return f"kubernetes:{space}/{pod}" if space else f"kubernetes:{pod}"
    return ""


def _rank(environ: Mapping[str, str]) -> tuple[int, int]:
    for rank, ranks in _RANKS:
        if rank == "SLURM_PROCID" and not in_step(environ):
            continue
        if environ.get(rank, "").isdigit() and environ.get(ranks, "").isdigit():
            return int(environ[rank]), int(environ[ranks])
    return 0, 1


def _launch(environ: Mapping[str, str], host: str) -> str:
    """Name on which all ranks of a launch agree, those of other machines too where a scheduler or torchrun gives one."""
    elastic = environ.get("TORCHELASTIC_RUN_ID", "")
    if elastic and elastic != "none":
        return f"torch-{elastic}"
    if in_step(environ):
        return f"slurm-{environ.get('SLURM_JOB_ID', '')}.{environ[_STEP]}"
    return f"{host}-{os.getppid()}-{_birth(os.getppid())}"


def _birth(pid: int) -> str:
    """When a process began, in ticks since the machine did: tells it from an earlier one of the same number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError, UnicodeDecodeError):
        return "0"
