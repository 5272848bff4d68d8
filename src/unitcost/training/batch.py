"""How large a batch should be, and how many accelerators it is worth.

References
----------
.. [1] S. McCandlish et al., "An Empirical Model of Large-Batch Training", 2018: equation 5.11, samples to a target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.errors import BadSetting, UnitcostError
from unitcost.training.market import FloatArray
from unitcost.units import SECONDS_PER_HOUR

#: Critical batches that are tried, around the batches that were measured.
_STEPS, _REACH = 400, 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """A run to the same target.

    Parameters
    ----------
    batch
        Samples of a step.
    accelerators
        How many it ran on.
    samples
        Samples until the target; None when only the time is known.
    hours
        Time until the target, [h]; None when only the samples are known.
    """

    batch: float
    accelerators: int = 1
    samples: float | None = None
    hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLaw:
    """``samples = least * (1 + batch / critical)``.

    Parameters
    ----------
    least
        Samples (or hours of one accelerator that is always busy) that a very small batch takes.
    critical
        Batch at which twice that is needed.
    step_samples
        Time of a step that does not depend on the batch, as samples that could have been worked on, by accelerators;
        empty when fitted from samples.
    error
        Median error of the fitted runs, as a share.
    """

    least: float
    critical: float
    error: float
    runs: int
    step_samples: tuple[tuple[int, float], ...] = ()

    def samples(self, batch: float) -> float:
        """Samples until the target, in the unit of `least`."""
        return self.least * (1 + batch / self.critical)

    def hours(self, batch: float, accelerators: int) -> float:
        """Time until the target of a law that was fitted from times. [h].

        Raises
        ------
        UnitcostError
            When no run on so many accelerators was fitted.
        """
        known = dict(self.step_samples)
        if accelerators not in known:
            raise UnitcostError(
                f"no run on {accelerators} accelerators was measured", mend=f"ask for one of {sorted(known)}"
            )
        per_accelerator = self.samples(batch) / accelerators
        return per_accelerator * (1 + accelerators * known[accelerators] / batch)


def fit_batch_law(runs: Sequence[BatchRun]) -> BatchLaw:
    """Law of the samples, or of the times, of two or more runs to one target.

    From times, ``hours * accelerators = least * (1 + batch / critical) * (1 + accelerators * k / batch)``, where k, a fixed
    time per step, may differ by number of accelerators: that is what small batches and synchronisation cost.

    Raises
    ------
    UnitcostError
        When there are fewer than two batches, or both samples and times are missing.
    """
    if any(run.batch <= 0 or (run.samples or run.hours or 0) <= 0 for run in runs):
        raise UnitcostError("a run has no batch, or neither samples nor hours", mend="give batch, and samples or hours")
    if len({run.batch for run in runs}) < 2:
        raise UnitcostError(
            "a critical batch cannot be fitted from one batch", mend="give runs with two batches or more, or the value"
        )
    by_time = any(run.samples is None for run in runs)
    batches = np.array([run.batch for run in runs], float)
    tried = np.geomspace(batches.min() / _REACH, batches.max() * _REACH, _STEPS)
    laws = [_law(runs, float(critical), by_time=by_time) for critical in tried]
    return min(laws, key=lambda pair: pair[0])[1]


def _law(runs: Sequence[BatchRun], critical: float, *, by_time: bool) -> tuple[float, BatchLaw]:
    """Law of one critical batch, the rest fitted by least squares of relative errors; and the sum of these."""
    batches = np.array([run.batch for run in runs], float)
    growth = 1 + batches / critical
    counts = sorted({run.accelerators for run in runs}) if by_time else []
    told = [(run.hours or 0.0) * run.accelerators if by_time else run.samples or 0.0 for run in runs]
    target = np.array(told, float)
    columns = [growth]
    for count in counts:
        used = np.array([run.accelerators == count for run in runs])
        columns.append(np.where(used, growth * count / batches, 0.0))
    table = np.stack(columns, axis=1) / target[:, None]
    found = _not_negative(table, np.ones(len(runs)))
    predicted = table @ found
    errors = np.abs(predicted - 1)
    steps = tuple((count, float(found[1 + n] / found[0]) if found[0] > 0 else 0.0) for n, count in enumerate(counts))
    law = BatchLaw(
        least=float(found[0]), critical=critical, error=float(np.median(errors)), runs=len(runs), step_samples=steps
    )
    return float((np.log(np.maximum(predicted, 1e-9)) ** 2).sum()), law


def _not_negative(table: FloatArray, target: FloatArray) -> FloatArray:
    """Least squares with coefficients that are not negative: those that would be are left out, one at a time."""
    kept = list(range(table.shape[1]))
    while True:
        solved = np.linalg.lstsq(table[:, kept], target, rcond=None)[0]
        if len(kept) == 1 or solved.min() >= 0:
            break
        kept.pop(int(solved.argmin()))
    full = np.zeros(table.shape[1])
    full[kept] = np.maximum(solved, 0.0)
    return full


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChoice:
    """A batch on some accelerators, with its time and cost.

    Parameters
    ----------
    extra_share
        Samples beyond those of a very small batch, as a share of all.
    """

    accelerators: int
    batch: float
    hours: float
    usd: float
    extra_share: float


def batch_frontier(
    law_critical: float,
    *,
    least_samples: float,
    samples_per_s: float,
    usd_per_accelerator_hour: float,
    samples_per_accelerator: float,
    counts: Sequence[int],
) -> list[BatchChoice]:
    """Time and cost by number of accelerators, each with a fixed share of the batch.

    More accelerators make a larger batch, which needs more samples, so one accelerator is always cheapest; what more of
    them buy is time.

    Parameters
    ----------
    samples_per_s
        Speed of one accelerator. [1 / s]
    samples_per_accelerator
        Part of the batch that each works on.
    """
    if law_critical <= 0 or least_samples <= 0 or samples_per_s <= 0:
        raise BadSetting("a critical batch, samples or a speed is not above zero", mend="give values above zero")
    choices = []
    for count in counts:
        batch = samples_per_accelerator * count
        samples = least_samples * (1 + batch / law_critical)
        hours = samples / samples_per_s / count / SECONDS_PER_HOUR
        choices.append(
            BatchChoice(
                accelerators=count, batch=batch, hours=hours, usd=hours * count * usd_per_accelerator_hour,
                extra_share=1 - least_samples / samples,
            )
        )  # fmt: skip
    return choices


def best_choice(
    choices: Sequence[BatchChoice], *, deadline_hours: float | None = None, usd_per_hour_of_time: float | None = None
) -> BatchChoice | None:
    """Cheapest choice that meets a deadline, counting what time is worth; None when none meets it.

    Without a deadline and a value of time the smallest number of accelerators is the answer.
    """
    allowed = [c for c in choices if deadline_hours is None or c.hours <= deadline_hours]
    worth = usd_per_hour_of_time or 0.0
    return min(allowed, key=lambda c: (c.usd + worth * c.hours, c.hours), default=None)
