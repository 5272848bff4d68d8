"""Steps of a run laid onto the job of a scheduler that held the accelerators for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from unitcost.facts.runs import HeldLife
from unitcost.units import SECONDS_PER_MINUTE

#: Clocks of a scheduler and of a machine differ by less than this.
_CLOCKS = timedelta(seconds=SECONDS_PER_MINUTE)


def with_steps(
    job: Sequence[tuple[HeldLife, Decimal | None]], steps: Sequence[HeldLife]
) -> list[tuple[HeldLife, Decimal | None]]:
    """The same lives of a job with the steps that its run made in them; none is added, and what they held stays as it is.

    A life in which the run was started several times is cut where it began again. What passed in a life before the run
    began is part of its start-up.

    Parameters
    ----------
    job
        Lives of the job, with what an accelerator of each costs. [USD / accelerator-hour]
    steps
        Lives of the run as it tells of them itself.
    """
    found: list[tuple[HeldLife, Decimal | None]] = []
    for life, price in job:
        mine = _together([made for made in steps if _within(made, life)])
        known = life.end_step is not None or life.started_at is None
        found += [(piece, price) for piece in ([life] if known or not mine else _cut(life, mine))]
    return found


def _within(made: HeldLife, life: HeldLife) -> bool:
    if made.started_at is None or life.started_at is None:
        return False
    return life.started_at - _CLOCKS <= made.started_at and (life.ended_at is None or made.started_at < life.ended_at)


def _together(steps: Sequence[HeldLife]) -> list[HeldLife]:
    """Lives of a run one after the other; ranks of several machines that ran at one time are one."""
    found: list[HeldLife] = []
    for made in sorted(steps, key=_began):
        last = found[-1] if found else None
        if last is not None and (last.ended_at is None or _began(made) < last.ended_at):
            found[-1] = replace(
                last, start_step=_least(last.start_step, made.start_step), end_step=_most(last.end_step, made.end_step),
                kept_step=_most(last.kept_step, made.kept_step), ended_at=_later(last.ended_at, made.ended_at),
            )  # fmt: skip
        else:
            found.append(made)
    return found


def _began(made: HeldLife) -> datetime:
    assert made.started_at is not None  # `_within` has seen to it
    return made.started_at


def _cut(life: HeldLife, steps: Sequence[HeldLife]) -> list[HeldLife]:
    """Pieces of a life, one for each time that the run was started in it."""
    start = life.started_at or _began(steps[0])
    began = [start, *(max(start, _began(made)) for made in steps[1:])]
    ended = [*began[1:], life.ended_at]
    return [
        replace(
            life, started_at=begin, ended_at=end, start_step=made.start_step, end_step=made.end_step,
            kept_step=made.kept_step, startup_s=_startup_s(begin, made),
        )
        for begin, end, made in zip(began, ended, steps, strict=True)
    ]  # fmt: skip


def _startup_s(start: datetime, made: HeldLife) -> float | None:
    if made.startup_s is None:
        return None
    return max(0.0, (_began(made) - start).total_seconds()) + made.startup_s


def _least(first: int | None, second: int | None) -> int | None:
    return min((step for step in (first, second) if step is not None), default=None)


def _most(first: int | None, second: int | None) -> int | None:
    return max((step for step in (first, second) if step is not None), default=None)


def _later(first: datetime | None, second: datetime | None) -> datetime | None:
    return None if first is None or second is None else max(first, second)
