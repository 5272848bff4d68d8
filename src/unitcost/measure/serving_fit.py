"""A planner of serving fitted on measured runs: constants of engines, then factors for what they leave unexplained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unitcost.machine.calibration import Timed, fit_outside, fit_speed
from unitcost.machine.closed_loop import POLICY_OF_BACKEND, ClosedLoop, closed_loop
from unitcost.machine.corrections import LEVELS, QUANTILES, Correction, Work, features, fit_correction, level_keys
from unitcost.machine.steps import Array, Constants, Served
from unitcost.measure.serving_grids import Grids, key_of
from unitcost.measure.serving_rows import ServingRow

#: What no feature explains, in logarithms: set by cross-validation over configurations.
_TTFT_NOISE, _TPOT_NOISE = 0.35, 0.1
_GROUP = LEVELS.index("measured group")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Constants by backend and by group, and the factors on top of them."""

    by_backend: dict[str, Constants]
    by_group: dict[str, Constants]
    ttft: Correction
    tpot: Correction

    def constants(self, served: Served) -> Constants:
        """Constants of an engine: of its group where measured, else of its backend."""
        group = level_keys(served)[_GROUP]
        return self.by_group.get(group) or self.by_backend.get(served.backend) or Constants()


class Bench:
    """Rows with their grids; each run is worked out once for each set of constants."""

    def __init__(self, rows: Sequence[ServingRow], grids: Grids) -> None:
        self.rows = list(rows)
        self.grids = [grids.found[key_of(row)] for row in self.rows]
        self._seen: dict[tuple[int, Constants], ClosedLoop] = {}

    def told(self, index: int, constants: Constants) -> ClosedLoop:
        """What step times with these constants say of a row."""
        engine = replace(constants, per_request_s=0.0, per_input_token_s=0.0, source="")
        key = (index, engine)
        if key not in self._seen:
            row = self.rows[index]
            self._seen[key] = closed_loop(
                replace(self.grids[index], constants=engine), row.concurrency, row.input_tokens, row.output_tokens,
                policy=POLICY_OF_BACKEND[row.served.backend],
            )  # fmt: skip
        return self._seen[key]


def fit(bench: Bench, chosen: Sequence[int]) -> Fitted:
    """Constants and corrections from the chosen rows of a bench, and from nothing else."""
    by_backend = _constants(bench, chosen, [bench.rows[i].served.backend for i in chosen], {})
    by_group = _constants(
        bench, chosen, [bench.rows[i].group for i in chosen],
        {bench.rows[i].group: by_backend[bench.rows[i].served.backend] for i in chosen},
    )  # fmt: skip
    found = _Told(bench, chosen, [by_group[bench.rows[i].group] for i in chosen])
    rows = [bench.rows[i] for i in chosen]
    served, names = [row.served for row in rows], [row.configuration for row in rows]
    ttft_gap = np.log(np.array([row.ttft_s for row in rows]) / found.ttft_s)
    tpot_gap = np.log(np.array([row.tpot_s for row in rows]) / found.tpot_s)
    return Fitted(
        by_backend=by_backend, by_group=by_group,
        ttft=fit_correction(served, found.features, ttft_gap, names, noise=_TTFT_NOISE, relative=True),
        tpot=fit_correction(served, found.features, tpot_gap, names, noise=_TPOT_NOISE),
    )  # fmt: skip


def predict(fitted: Fitted, bench: Bench, chosen: Sequence[int]) -> Array:
    """Times of the chosen rows, as (row, time to the first token and time per output token). [s]."""
    found = _Told(bench, chosen, [fitted.constants(bench.rows[i].served) for i in chosen])
    served = [bench.rows[i].served for i in chosen]
    pairs = list(zip(served, found.features, strict=True))
    ttft_s = found.ttft_s * np.array([fitted.ttft.factor(one, seen) for one, seen in pairs])
    tpot_s = found.tpot_s * np.array([fitted.tpot.factor(one, seen) for one, seen in pairs])
    return np.stack([ttft_s, tpot_s], axis=1)


def cautious(fitted: Fitted, rows: Sequence[ServingRow], times: Array) -> Array:
    """Predicted times that three of four measured ones stay below: what a target is compared with. [s]."""
    upper = QUANTILES.index(0.75)
    bands = [(fitted.ttft.band(row.served)[upper], fitted.tpot.band(row.served)[upper]) for row in rows]
    return times * np.array(bands, dtype=np.float64).reshape(-1, 2)


class _Told:
    """Times and features of rows under given constants."""

    def __init__(self, bench: Bench, chosen: Sequence[int], constants: Sequence[Constants]) -> None:
        ttft, tpot, seen = [], [], []
        for index, fixed in zip(chosen, constants, strict=True):
            row, loop = bench.rows[index], bench.told(index, fixed)
            outside_s = fixed.per_request_s + fixed.per_input_token_s * 0.9 * row.input_tokens
            ttft.append(loop.ttft_s + outside_s)
            tpot.append(loop.tpot_s)
            work = Work(
                served=row.served, concurrency=row.concurrency, input_tokens=row.input_tokens,
                output_tokens=row.output_tokens, told_ttft_s=loop.ttft_s, told_tpot_s=loop.tpot_s,
            )  # fmt: skip
            seen.append(features(work, bench.grids[index]))
        self.ttft_s, self.tpot_s, self.features = np.array(ttft), np.array(tpot), np.array(seen)


def _constants(
    bench: Bench, chosen: Sequence[int], names: Sequence[str], priors: dict[str, Constants]
) -> dict[str, Constants]:
    """Constants for each name among the chosen rows, pulled towards the prior of that name."""
    found = {}
    for name in sorted(set(names)):
        rows = [index for index, own in zip(chosen, names, strict=True) if own == name]
        prior = priors.get(name)
        speed = fit_speed(_timed(bench, rows, Constants()), prior)
        outside = fit_outside(_timed(bench, rows, speed), speed, prior)
        found[name] = replace(outside, source=f"{len(rows)} measured runs")
    return found


def _timed(bench: Bench, rows: Sequence[int], constants: Constants) -> Timed:
    loops = [bench.told(index, constants) for index in rows]
    chosen = [bench.rows[index] for index in rows]
    return Timed(
        input_tokens=np.array([0.9 * row.input_tokens for row in chosen]),
        real_ttft_s=np.array([row.ttft_s for row in chosen]), real_tpot_s=np.array([row.tpot_s for row in chosen]),
        told_ttft_s=np.array([loop.ttft_s for loop in loops]), told_tpot_s=np.array([loop.tpot_s for loop in loops]),
    )  # fmt: skip
