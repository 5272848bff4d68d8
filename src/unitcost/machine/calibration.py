"""Constants of an engine, from what a benchmark measured and what its step times alone would give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unitcost.errors import BadSetting
from unitcost.machine.steps import Array, Constants

#: Rows that a belief from elsewhere is worth.
PRIOR_ROWS = 3.0
_ROUNDS = 20
#: Relative errors below this count alike: the fit is of least absolute errors beyond it.
_EXACT = 0.02
#: Longest over shortest input from which time per token is told from time per request.
_TOLD_APART = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Benchmarked rows, one value each: mean input length, times measured and times worked out. [tokens], [s]."""

    input_tokens: Array
    real_ttft_s: Array
    real_tpot_s: Array
    told_ttft_s: Array
    told_tpot_s: Array

    def __post_init__(self) -> None:
        columns = (self.input_tokens, self.real_ttft_s, self.real_tpot_s, self.told_ttft_s, self.told_tpot_s)
        if len({len(column) for column in columns}) != 1 or not len(self.input_tokens):
            raise BadSetting("there is nothing to calibrate with", mend="give a benchmark with finished requests")
        if not all(np.isfinite(column).all() and (column > 0).all() for column in columns):
            raise BadSetting("a benchmarked time is not above zero", mend="leave out failed requests")


def fit_speed(timed: Timed, prior: Constants | None = None, *, prior_rows: float = PRIOR_ROWS) -> Constants:
    """Scale and time per step that turn worked-out times per token into measured ones.

    Notes
    -----
    Least absolute relative error of ``scale * told + per_step``, neither below zero; a prior counts as `prior_rows` rows.
    """
    believed = prior or Constants()
    weight = prior_rows if prior is not None else 0.0
    scale, per_step_s = _two_terms(
        timed.told_tpot_s,
        np.ones_like(timed.told_tpot_s),
        timed.real_tpot_s,
        (believed.scale, believed.per_step_s),
        weight,
    )
    if scale <= 0:
        scale, per_step_s = float(np.median(timed.real_tpot_s / timed.told_tpot_s)), 0.0
    return replace(believed, scale=scale, per_step_s=per_step_s)


def fit_outside(timed: Timed, speed: Constants, prior: Constants | None = None) -> Constants:
    """Time outside the engine, from first tokens that came later than worked out with `speed`.

    Notes
    -----
    Least absolute error, relative to the measured time, of ``told + per_request + per_input_token * input``. Where inputs
    are all of about one length the two cannot be told apart, and all of it counts for each request.
    """
    weight = PRIOR_ROWS if prior is not None else 0.0
    believed = prior or Constants()
    late_s = np.maximum(timed.real_ttft_s - timed.told_ttft_s, 0.0)
    inputs = timed.input_tokens
    varied = inputs if inputs.max() > _TOLD_APART * inputs.min() else np.zeros_like(inputs)
    per_request_s, per_token_s = _two_terms(
        np.ones_like(late_s), varied, late_s, (believed.per_request_s, believed.per_input_token_s), weight,
        relative_to=timed.real_ttft_s,
    )  # fmt: skip
    return replace(speed, per_request_s=per_request_s, per_input_token_s=per_token_s)


def _two_terms(
    first: Array,
    second: Array,
    real: Array,
    prior: tuple[float, float],
    prior_rows: float,
    relative_to: Array | None = None,
) -> tuple[float, float]:
    """Weights of two terms, not below zero, of least absolute relative error."""
    unit = real if relative_to is None else relative_to
    rows = np.stack([first / unit, second / unit], axis=1)
    wanted = real / unit
    size = np.maximum(np.abs(rows).mean(axis=0), 1e-30)
    pull = np.sqrt(prior_rows) * np.diag(size)
    weights = np.ones(len(wanted))
    found = np.zeros(2)
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        stacked = np.vstack([rows * root[:, None], pull])
        found = _not_below_zero(stacked, np.concatenate([wanted * root, pull @ np.array(prior)]))
        weights = 1.0 / np.maximum(np.abs(rows @ found - wanted), _EXACT)
        weights /= weights.mean()
    return float(found[0]), float(found[1])


def _not_below_zero(rows: Array, wanted: Array) -> Array:
    """Least squares of two terms, neither below zero."""
    found = np.asarray(np.linalg.lstsq(rows, wanted, rcond=None)[0], dtype=np.float64)
    if (found >= 0).all():
        return found
    choices = []
    for kept in (0, 1):
        column = rows[:, kept]
        alone = np.zeros(2)
        alone[kept] = max(0.0, float(column @ wanted) / max(float(column @ column), 1e-30))
        choices.append(alone)
    return min(choices, key=lambda choice: float(((rows @ choice - wanted) ** 2).sum()))
