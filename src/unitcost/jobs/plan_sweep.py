"""Plan a sweep: what it costs, what stopping early would have saved on past curves, and what an accepted result costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypedDict

import numpy as np

from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.estimates import Estimate, exactly
from unitcost.facts.sweeps import Sweep
from unitcost.jobs.optuna_pruners import optuna_pruners
from unitcost.readers import sweep_curves
from unitcost.readers.sweep_curves import Direction
from unitcost.training.pruners import never, pause_and_resume
from unitcost.training.sweeps import Laddered, Replay, Score, ladder, orders, replay_sweep, score
from unitcost.units import SECONDS_PER_HOUR

FULL, RESUMED = "no stopping", "pause and resume"
_ORDERS = 8
#: What the recommended way saved and lost on 40 recorded sweeps of AlgoPerf, 118 of LCDB and 3 of GPT-2: share saved, low and high
#: (tenth and ninetieth per cent of the sweeps), and share of sweeps that lost every accepted result.
MEASURED_SAVED, MEASURED_LOST = (0.54, 0.25, 0.82), 0.041
#: Why the cheapest is not taken.
_CHEAPER = (
    "Cheaper ways lost nothing on these curves, but one past sweep says little about the next: pausing and resuming lost least"
    " on 161 recorded ones."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAsk:
    """A sweep to be planned.

    Parameters
    ----------
    trials, hours_per_trial
        Trials, and the length of one that runs to its end, [h]; None = as in the curves.
    accelerators, usd_per_accelerator_hour
        What a trial holds, and its price, [USD / hour]; None = not known, and only hours are counted.
    acceptance_share
        Part of trials whose result is accepted; None = as in the curves, else not known.
    curves, metric, direction, target
        Past curves, and what in them counts.
    workers
        Trials at once.
    """

    trials: int | None = None
    hours_per_trial: float | None = None
    accelerators: int = 1
    usd_per_accelerator_hour: Decimal | None = None
    acceptance_share: float | None = None
    curves: Path | None = None
    metric: str = ""
    direction: Direction = "maximize"
    target: float | None = None
    workers: int = 8

    def __post_init__(self) -> None:
        numbers = (self.hours_per_trial or 1.0, float(self.trials or 1), float(self.accelerators), float(self.workers))
        if not all(math.isfinite(value) and value > 0 for value in numbers):
            raise BadSetting("trials, hours, accelerators and workers must be above zero", mend="correct the options")
        if self.acceptance_share is not None and not 0 <= self.acceptance_share <= 1:
            raise BadSetting(f"an acceptance of {self.acceptance_share} cannot be", mend="give a share from 0 to 1")
        if self.curves is None and (self.trials is None or self.hours_per_trial is None):
            raise BadSetting(
                "nothing says how many trials there are, or how long one is",
                mend="give --trials and --hours-per-trial, or past curves with --curves",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to stop trials, replayed.

    Parameters
    ----------
    saved
        Share of training time; mean, low and high over orders.
    kept, lost_all, top3_kept, regret
        Share of accepted results that were kept; share of orders that lost them all; of the three best that came to their end;
        how far the best found is below the best there was.
    accelerator_hours, usd
        What the planned sweep takes this way, [h], and costs, [USD]; None without a price.
    """

    name: str
    saved: Estimate
    kept: float | None
    lost_all: float | None
    top3_kept: float | None
    regret: float | None
    accelerator_hours: Estimate
    usd: Estimate | None
    ruled_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """Answer.

    Parameters
    ----------
    full_accelerator_hours, full_usd
        Every trial to its end: [h], [USD]; None without a price.
    ways
        Those that are answers by cost, then those that are ruled out.
    best
        The way to take: the one that lost least on many recorded sweeps, unless it lost all on these curves.
    accelerator_hours_per_accepted, usd_per_accepted
        What an accepted result takes and costs by the recommended way; None when acceptance is not known, or nothing was
        accepted.
    duplicates
        Runs of a configuration that another run had.
    smaller
        Share of the trials -> how far below the best its best is expected to be.
    """

    ask: SweepAsk
    trials: int
    hours_per_trial: float
    full_accelerator_hours: float
    full_usd: float | None
    ways: tuple[Way, ...]
    best: str
    accelerator_hours_per_accepted: Estimate | None
    usd_per_accepted: Estimate | None
    acceptance_share: float | None
    duplicates: tuple[tuple[str, int], ...]
    smaller: tuple[tuple[float, float], ...]
    messages: tuple[str, ...]


def plan_sweep(ask: SweepAsk) -> SweepPlan:
    """Plan of a sweep.

    Raises
    ------
    BadFile
        When curves are not in order or a metric is no number.
    """
    return _from_curves(ask, ask.curves) if ask.curves else _from_experience(ask)


def _from_curves(ask: SweepAsk, path: Path) -> SweepPlan:
    sweep = sweep_curves.read(path, metric=ask.metric, direction=ask.direction, target=ask.target)
    laddered = ladder(sweep)
    trials = ask.trials or len(laddered)
    hours = ask.hours_per_trial or float(laddered.total_s.mean()) / SECONDS_PER_HOUR
    if not laddered.total_s.any():
        raise BadSetting(
            "the curves took no time, so nothing can be said of cost", where=path.name,
            mend="give the training time up to each point in `seconds`",
        )  # fmt: skip
    starts = orders(len(laddered), _ORDERS)
    found: dict[str, list[Score]] = {}
    messages = []
    try:
        for order in starts:
            for name, replay in _replays(laddered, order, ask.workers):
                found.setdefault(name, []).append(score(laddered, replay))
    except UnitcostError as error:
        messages.append(str(error))
        found = {
            FULL: [score(laddered, replay_sweep(laddered, o, never, workers=ask.workers)) for o in starts],
            RESUMED: [score(laddered, pause_and_resume(laddered, o, workers=ask.workers)) for o in starts],
        }
    full_hours = trials * hours * ask.accelerators
    ways = [_way(name, scores, ask, full_hours) for name, scores in found.items()]
    accepted = ask.acceptance_share if ask.acceptance_share is not None else float(laddered.accepted.mean())
    return _plan(
        ask, ways, trials=trials, hours=hours, accepted=accepted, duplicates=duplicates_of(sweep),
        smaller=tuple((share, _smaller(laddered, starts, share)) for share in (0.5, 0.25)), messages=messages,
    )  # fmt: skip


def _replays(laddered: Laddered, order: list[int], workers: int) -> Iterator[tuple[str, Replay]]:
    yield FULL, replay_sweep(laddered, order, never, workers=workers)
    yield RESUMED, pause_and_resume(laddered, order, workers=workers)
    for name, make in optuna_pruners(laddered.sweep.name).items():
        yield f"Optuna {name}", replay_sweep(laddered, order, make(), workers=workers)


def _way(name: str, scores: Sequence[Score], ask: SweepAsk, full_hours: float) -> Way:
    saved = [s.saved for s in scores]
    having = [s for s in scores if not math.isnan(s.kept)]
    estimate = Estimate(
        value=float(np.mean(saved)), low=min(saved), high=max(saved), basis="measured",
        because=f"replayed in {len(scores)} orders",
    )  # fmt: skip
    lost = float(np.mean([s.lost_all for s in having])) if having else None
    return Way(
        name=name, saved=estimate, kept=float(np.mean([s.kept for s in having])) if having else None, lost_all=lost,
        top3_kept=float(np.mean([s.top3_kept for s in scores])), regret=float(np.mean([s.regret for s in scores])),
        **_cost(ask, _left(estimate, full_hours)), ruled_out=("loses every accepted result in some orders",) if lost else (),
    )  # fmt: skip


def _left(saved: Estimate, full_hours: float) -> Estimate:
    """Hours of accelerators that are left of those of the whole sweep. [h]."""
    return Estimate(
        value=(1 - saved.value) * full_hours, low=(1 - saved.high) * full_hours, high=(1 - saved.low) * full_hours,
        basis=saved.basis, because=saved.because,
    )  # fmt: skip


class _Cost(TypedDict):
    accelerator_hours: Estimate
    usd: Estimate | None


def _cost(ask: SweepAsk, accelerator_hours: Estimate) -> _Cost:
    return _Cost(accelerator_hours=accelerator_hours, usd=_usd(ask, accelerator_hours))


def _usd(ask: SweepAsk, accelerator_hours: Estimate | None) -> Estimate | None:
    """Hours at the price of one, [USD]; None without a price."""
    price = ask.usd_per_accelerator_hour
    return None if price is None or accelerator_hours is None else accelerator_hours.times(float(price))


def _smaller(laddered: Laddered, starts: Sequence[Sequence[int]], share: float) -> float:
    """How far the best of some of the trials is below the best of all, on average."""
    best = float(laddered.final.max())
    count = max(1, int(len(laddered) * share))
    found = [float(laddered.final[list(order[:count])].max()) for order in starts]
    return float(np.mean([(best - value) / max(abs(best), 1e-9) for value in found]))


def duplicates_of(sweep: Sweep) -> tuple[tuple[str, int], ...]:
    """Configurations that several runs had, and how many runs more than one."""
    counts = Counter(run.config for run in sweep.runs if run.config)
    return tuple((config, count - 1) for config, count in sorted(counts.items()) if count > 1)


def _from_experience(ask: SweepAsk) -> SweepPlan:
    """Plan without curves: what the recommended way saved on other recorded sweeps."""
    trials, hours = ask.trials or 1, ask.hours_per_trial or 1.0
    full_hours = trials * hours * ask.accelerators
    value, low, high = MEASURED_SAVED
    because = "161 recorded sweeps of other models"
    saved = Estimate(value=value, low=low, high=high, basis="measured", because=because)
    none = exactly(0.0, "modelled", "definition")
    ways = [
        Way(
            name=FULL, saved=none, kept=1.0, lost_all=0.0, top3_kept=1.0, regret=0.0,
            **_cost(ask, _left(none, full_hours)),
        ),
        Way(
            name=RESUMED, saved=saved, kept=None, lost_all=MEASURED_LOST, top3_kept=None, regret=None,
            **_cost(ask, _left(saved, full_hours)),
        ),
    ]  # fmt: skip
    return _plan(
        ask, ways, trials=trials, hours=hours, accepted=ask.acceptance_share, duplicates=(), smaller=(),
        messages=["No past curves: what stopping early saves is taken from sweeps of other models."],
    )  # fmt: skip


def _plan(
    ask: SweepAsk, ways: Sequence[Way], *, trials: int, hours: float, accepted: float | None, duplicates: tuple[tuple[str, int], ...],
    smaller: tuple[tuple[float, float], ...], messages: list[str],
) -> SweepPlan:  # fmt: skip
    ranked = sorted(ways, key=lambda way: (bool(way.ruled_out), way.accelerator_hours.value, way.name))
    resumed = [way for way in ranked if way.name == RESUMED and not way.ruled_out]
    best = next(iter(resumed), ranked[0])
    if resumed and best != ranked[0] and ranked[0].lost_all is not None:
        messages = [*messages, _CHEAPER]
    per_accepted = full_usd = None
    expected = (accepted or 0.0) * trials * (best.kept if best.kept is not None else 1 - (best.lost_all or 0.0))
    if expected > 0:
        per_accepted = best.accelerator_hours.times(1 / expected)
    elif accepted is not None:
        messages = [*messages, "Nothing was accepted: there is no cost per accepted result."]
    if duplicates:
        more = sum(count for _, count in duplicates)
        messages = [*messages, f"{more} runs repeat a configuration that another run had."]
    full_hours = trials * hours * ask.accelerators
    if ask.usd_per_accelerator_hour is None:
        messages = [*messages, "No price was given: hours of accelerators are counted. Give --usd-per-gpu-hour."]
    else:
        full_usd = full_hours * float(ask.usd_per_accelerator_hour)
    return SweepPlan(
        ask=ask, trials=trials, hours_per_trial=hours, full_accelerator_hours=full_hours, full_usd=full_usd,
        ways=tuple(ranked), best=best.name, accelerator_hours_per_accepted=per_accepted,
        usd_per_accepted=_usd(ask, per_accepted), acceptance_share=accepted, duplicates=duplicates, smaller=smaller,
        messages=tuple(messages),
    )  # fmt: skip
