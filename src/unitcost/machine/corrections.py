"""What step times leave unexplained in measured runs, as factors that depend on the work, with bands of error.

A factor's logarithm is a sum over levels of knowledge: the backend, backend and model, backend and GPU, all with the
precision, and the very deployment. Each level has coefficients of the work's features, shrunk towards zero where few rows
speak (a Gaussian prior, fitted for least absolute error). A name never measured gets nothing from its level, and a wider band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.machine.steps import Array, Served, StepGrid, between, between2

#: Levels, widest first.
LEVELS = ("backend", "backend and model", "backend and gpu", "measured group", "deployment")
#: Shares of a distribution that a band names.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: How much is known of a deployment; each has its band of error.
KNOWN = ("deployment", "measured group", "backend", "nothing")
_SIZES, _CROSSED, _WORKED = 4, 4, 5
_COUNT = 1 + _SIZES + _CROSSED + _WORKED
_ROUNDS = 6
#: Residual beyond which the relative loss gets no steeper, in logarithms.
_STEEPEST = 1.5
_STEP_TOKENS = 8192


def _prior(constant: float, size: float, crossed: float, worked: float) -> Array:
    return np.array([constant, *[size] * _SIZES, *[crossed] * _CROSSED, *[worked] * _WORKED])


#: Standard deviations of the coefficients at each level, set by cross-validation over configurations.
_PRIORS: dict[str, Array] = {
    "backend": _prior(3.0, 0.5, 0.25, 0.3),
    "backend and model": _prior(0.7, 0.2, 0.1, 0.1),
    "backend and gpu": _prior(0.5, 0.0, 0.0, 0.0),
    "measured group": _prior(0.7, 0.2, 0.1, 0.1),
    "deployment": _prior(0.1, 0.1, 0.0, 0.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A closed loop on a deployment, and what step times alone say of it. [s]."""

    served: Served
    concurrency: int
    input_tokens: int
    output_tokens: int
    told_ttft_s: float
    told_tpot_s: float


def level_keys(served: Served) -> tuple[str, ...]:
    """Name of a deployment at each level."""
    layout = f"tp{served.tensor_parallel} dp{served.attention_data_parallel} ep{served.expert_parallel}"
    group = f"{served.backend} {served.model} {served.gpu} {served.precision}"
    return (
        served.backend, f"{served.backend} {served.model}", f"{served.backend} {served.gpu}", group, f"{group} {layout}",
    )  # fmt: skip


def features(work: Work, grid: StepGrid) -> Array:
    """Features of the work, each near zero for usual work and about one wide.

    Notes
    -----
    Beside sizes and their products stand, relative to the worked-out times: the wait if all prompts came at once, the mean
    time between two ends, and the prefill of all over the life of a request.
    """
    c = (np.log2(work.concurrency) - 4.5) / 2
    i = (np.log2(work.input_tokens) - 11) / 1.5
    o = (np.log2(work.output_tokens) - 9.5) / 1.5
    g = np.log2(work.served.gpus) - 1.7
    prompt = 0.9 * work.input_tokens
    alone_s = between(grid.tokens_axis, grid.shared_s, prompt) + _attention_s(grid, prompt)
    together = max(int(_STEP_TOKENS // prompt), 1)
    in_step = min(together, work.concurrency)
    full_s = between(grid.tokens_axis, grid.shared_s, prompt * in_step) + in_step * _attention_s(grid, prompt)
    burst_s = full_s * (np.ceil(work.concurrency / together) + 1) / 2
    life_s = work.told_tpot_s * 0.9 * work.output_tokens
    worked = (
        (np.log(burst_s / work.told_ttft_s) - 0.8) / 0.7,
        (np.log(life_s / work.concurrency / work.told_ttft_s) - 1.0) / 1.7,
        (np.log(alone_s * work.concurrency / life_s) + 1.0) / 1.2,
        np.log(work.told_ttft_s) + 1.9,
        (np.log(work.told_tpot_s) + 4.4) / 0.7,
    )
    return np.array([1.0, c, i, o, g, c * i, c * c, i * o, c * o, *worked])


def _attention_s(grid: StepGrid, prompt: float) -> float:
    return between2(grid.chunk_axis, grid.past_axis, grid.chunk_attention_s, prompt, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A fitted factor.

    Parameters
    ----------
    coefficients
        By level and name, over the features.
    low, high
        Range of each feature where it was fitted; beyond it the nearest value counts.
    bands
        Quantiles (5, 25, 50, 75, 95 %) of measured over predicted, by how much is known.
    """

    coefficients: dict[str, dict[str, Array]]
    low: Array
    high: Array
    bands: dict[str, tuple[float, ...]]

    def factor(self, served: Served, seen: Array) -> float:
        """Factor on the worked-out time."""
        held = np.clip(seen, self.low, self.high)
        parts = (self.coefficients[level].get(key) for level, key in zip(LEVELS, level_keys(served), strict=True))
        return float(np.exp(sum(float(part @ held) for part in parts if part is not None)))

    def known(self, served: Served) -> str:
        """How much is known of a deployment: one of `KNOWN`."""
        keys = dict(zip(LEVELS, level_keys(served), strict=True))
        return next((level for level in KNOWN[:3] if keys[level] in self.coefficients[level]), KNOWN[-1])

    def band(self, served: Served) -> tuple[float, ...]:
        """Quantiles of measured over predicted for what is known of a deployment."""
        return self.bands[self.known(served)]


def fit_correction(
    served: Sequence[Served],
    seen: Array,
    gap: Array,
    configurations: Sequence[str],
    *,
    noise: float,
    relative: bool = False,
) -> Correction:
    """Correction that best explains logarithms of measured over worked-out times.

    Parameters
    ----------
    seen, gap
        Features of each row, and the logarithm to explain.
    configurations
        Name of each row's configuration: rows that share one are never used to judge each other.
    noise
        Standard deviation of what cannot be explained, in logarithms.
    relative
        Whether the error made least is that of predicted over measured, in which twice too much counts twice as much as
        half; otherwise that of the logarithm.

    Notes
    -----
    The posterior mean of a linear model with Gaussian priors, solved in its dual form, with the rows weighted again until
    the error is the least absolute one. Bands come from leaving out each configuration, deployment, group and backend in
    turn, in closed form: the residuals of a block b left out are ``inv(inv(K)_bb) (inv(K) y)_b``.
    """
    keys = [level_keys(one) for one in served]
    kernel = _kernel(keys, seen)
    inverse, weights = _solved(kernel, gap, noise, relative=relative)
    coefficients = {
        level: {key: _PRIORS[level] ** 2 * (seen[rows].T @ weights[rows]) for key, rows in _rows_of(names).items()}
        for level, names in zip(LEVELS, zip(*keys, strict=True), strict=True)
    }
    blocks = (configurations, [key[4] for key in keys], [key[3] for key in keys], [key[0] for key in keys])
    bands = _widening([_band(inverse, weights, block) for block in blocks])
    return Correction(coefficients=coefficients, low=seen.min(axis=0), high=seen.max(axis=0), bands=bands)


def _kernel(keys: Sequence[tuple[str, ...]], seen: Array) -> Array:
    kernel = np.zeros((len(seen), len(seen)))
    for level, names in zip(LEVELS, zip(*keys, strict=True), strict=True):
        number = np.unique(np.array(names), return_inverse=True)[1]
        weighted = seen * _PRIORS[level]
        kernel += (number[:, None] == number[None, :]) * (weighted @ weighted.T)
    return kernel


def _solved(kernel: Array, gap: Array, noise: float, *, relative: bool) -> tuple[Array, Array]:
    """Inverse of the kernel with the noise, and the dual weights.

    Notes
    -----
    The loss ``|exp(-e) - 1|`` of a residual e has the slope ``exp(-e)``: what was predicted too high weighs more.
    """
    variance = np.full(len(gap), noise**2)
    for _ in range(_ROUNDS):
        inverse = np.asarray(np.linalg.inv(kernel + np.diag(variance)), dtype=np.float64)
        weights = inverse @ gap
        residual = variance * weights
        spread = 1.4826 * float(np.median(np.abs(residual))) + 1e-3
        variance = noise**2 * np.maximum(np.abs(residual) / spread, 0.5)
        if relative:
            variance = variance * np.exp(np.clip(residual, -_STEEPEST, _STEEPEST))
    return inverse, weights


def _rows_of(names: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        rows.setdefault(name, []).append(index)
    return rows


def _band(inverse: Array, weights: Array, block: Sequence[str]) -> tuple[float, ...]:
    left_out = np.zeros(len(weights))
    for rows in _rows_of(block).values():
        left_out[rows] = np.linalg.solve(inverse[np.ix_(rows, rows)], weights[rows])
    return tuple(float(value) for value in np.exp(np.quantile(left_out, QUANTILES)))


def _widening(bands: list[tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Bands by how much is known: knowing less never makes one narrower."""
    middle = len(QUANTILES) // 2
    low = np.minimum.accumulate([band[:middle] for band in bands], axis=0)
    high = np.maximum.accumulate([band[middle + 1 :] for band in bands], axis=0)
    whole = [(*low[i], band[middle], *high[i]) for i, band in enumerate(bands)]
    return {name: tuple(float(value) for value in band) for name, band in zip(KNOWN, whole, strict=True)}
