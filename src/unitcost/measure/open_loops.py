"""How far open loops may be from a plan: bands of the closed loops of the fit, widened by what open loops were measured.

What carries over from a closed loop is what belongs to a step: the scale, and the times per step, per prefill step and per
sequence. So do those outside the engine, per request and per input token. The factors on the two times do not: they hold the
queue that the closed loop itself makes (all of it begins at once), and an open loop has another.
"""

from __future__ import annotations

from dataclasses import dataclass

from unitcost.machine.corrections import KNOWN
from unitcost.machine.steps import StepGrid
from unitcost.measure.serving_defaults import shipped

#: Time per output token of measured open loops over that foretold with default constants, under vLLM 0.19 on RTX-PRO-6000, of
#: which the fit has no row: the median of the nearer of two models, the 95 % quantile of requests of the other
#: (`default_tpot_ratio`, `default_tpot_ratio_95` of `benchmarks/serving_replay.py`).
OPEN_LOOPS = (1.15, 1.50)
#: The same where one scale was fitted on the first sixty requests that finished.
OPEN_LOOPS_CALIBRATED = (0.98, 0.99)
_CLOSED = "closed loops at fixed concurrency that were kept back from the fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoopBands:
    """Quantiles (5, 25, 50, 75, 95 %) of measured over foretold times.

    Parameters
    ----------
    known
        How much is known of the deployment: one of `machine.corrections.KNOWN`.
    steps
        Of each step, and so of the time per output token.
    first
        Of the time to the first token without a queue; what slower steps make of a queue has to be played.
    measured_on
        What runs the bands stand on, in words.
    """

    known: str
    steps: tuple[float, ...]
    first: tuple[float, ...]
    measured_on: str


def open_loop_bands(grid: StepGrid) -> OpenLoopBands:
    """Bands of a deployment that is played with an open loop.

    Notes
    -----
    A calibrated deployment has the bands of one that was measured. One whose GPU, model and precision were measured has
    those of its closed loops: with the scale right the open loops were within 2 % per token. For any other the scale is
    what is unknown, and the band reaches as far as it was off in the open loops.
    """
    served, fitted = grid.served, shipped()
    if grid.origin == "calibration":
        known = KNOWN[0]
        return OpenLoopBands(
            known=known, steps=fitted.tpot.bands[known], first=fitted.ttft.bands[known],
            measured_on=f"{_CLOSED}; calibrated open loops were {OPEN_LOOPS_CALIBRATED[0]:g} to "
            f"{OPEN_LOOPS_CALIBRATED[1]:g} times as long per token",
        )  # fmt: skip
    known, steps, first = fitted.tpot.known(served), fitted.tpot.band(served), fitted.ttft.band(served)
    if known in KNOWN[:2]:
        return OpenLoopBands(known=known, steps=steps, first=first, measured_on=_CLOSED)
    widened = (min(steps[0], OPEN_LOOPS[0]), *steps[1:-1], max(steps[-1], OPEN_LOOPS[1]))
    said = (
        f"{_CLOSED}, and open loops on a GPU without such rows ({OPEN_LOOPS[0]:g} to {OPEN_LOOPS[1]:g} times as long)"
    )
    return OpenLoopBands(known=known, steps=widened, first=first, measured_on=said)
