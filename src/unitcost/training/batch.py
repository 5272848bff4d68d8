"""How many more samples a larger batch needs.

References
----------
.. [1] S. McCandlish et al., "An Empirical Model of Large-Batch Training", 2018: equation 5.11, samples to a target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.errors import UnitcostError
from unitcost.facts.training_runs import BatchRun
from unitcost.training.market import FloatArray

#: Critical batches that are tried, around the batches that were measured.
_STEPS, _REACH = 400, 100.0


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
