"""Traces made from a rate and lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unitcost.errors import BadSetting
from unitcost.facts.arrivals import LengthQuantiles, RateCurve
from unitcost.serving.traces import Floats, Ints, Trace
from unitcost.units import SECONDS_PER_HOUR

#: More requests than this are not drawn: they would not fit into the memory of a usual machine.
MOST_REQUESTS = 50_000_000


def constant(
    *, per_s: float, input_tokens: int, output_tokens: int, duration_s: float = SECONDS_PER_HOUR, seed: int = 0
) -> Trace:
    """Requests of one length as a Poisson process.

    Parameters
    ----------
    per_s
        Mean rate. [1 / s]
    """
    if not 0 < per_s < float("inf") or min(input_tokens, output_tokens) < 1 or not 0 < duration_s < float("inf"):
        raise BadSetting(
            "a rate, a length or a duration that is not above zero", mend="such as 5 a second, 1500 and 300"
        )
    curve = RateCurve(name=f"{per_s:g} requests a second", step_s=duration_s, per_s=[per_s])
    at = _arrivals(curve, 1.0, np.random.default_rng(seed))
    return Trace(
        arrival_s=at, input_tokens=np.full(len(at), input_tokens), output_tokens=np.full(len(at), output_tokens),
        duration_s=duration_s, name=curve.name,
    )  # fmt: skip


def from_curve(
    curve: RateCurve,
    inputs: Sequence[LengthQuantiles],
    outputs: Sequence[LengthQuantiles],
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> Trace:
    """Requests that follow a rate curve, with lengths drawn from quantiles.

    Parameters
    ----------
    inputs, outputs
        Lengths by client; each request takes those of one client, all equally likely. A client needs both.
    scale
        Factor on the rate.

    Notes
    -----
    A Poisson process of piecewise constant rate; lengths by inverting the piecewise linear distribution, from 1 token at
    share 0. Burstiness beyond the curve and the dependence of answers on prompts are left out.
    """
    both = sorted({q.client for q in inputs} & {q.client for q in outputs})
    if not both or not scale > 0:
        raise BadSetting("no client has lengths of both prompts and answers, or the scale is not above zero")
    rng = np.random.default_rng(seed)
    at = _arrivals(curve, scale, rng)
    client = rng.integers(0, len(both), len(at))
    return Trace(
        arrival_s=at, input_tokens=_lengths(inputs, both, client, rng),
        output_tokens=_lengths(outputs, both, client, rng), duration_s=curve.step_s * len(curve.per_s), name=curve.name,
    )  # fmt: skip


def _arrivals(curve: RateCurve, scale: float, rng: np.random.Generator) -> Floats:
    expected = np.asarray(curve.per_s, np.float64) * scale * curve.step_s
    if not expected.sum() <= MOST_REQUESTS:
        raise BadSetting(
            f"{expected.sum():,.0f} requests are more than can be played ({MOST_REQUESTS:,})",
            mend="give a shorter --duration or a lower rate",
        )
    counts = rng.poisson(expected)
    begins = np.repeat(np.arange(len(counts)) * curve.step_s, counts)
    at = np.sort(begins + rng.uniform(0, curve.step_s, len(begins)))
    if not len(at):
        raise BadSetting("the rate is so low that no request comes", mend="give a higher rate or a longer time")
    return at


def _lengths(
    quantiles: Sequence[LengthQuantiles], clients: Sequence[str], client: Ints, rng: np.random.Generator
) -> Ints:
    by_client = {q.client: q for q in quantiles}
    found = np.empty(len(client), np.int64)
    for number, name in enumerate(clients):
        mine, q = client == number, by_client[name]
        shares, tokens = [0.0, *q.shares], [min(1.0, q.tokens[0]), *q.tokens]
        found[mine] = np.maximum(np.rint(np.interp(rng.uniform(size=int(mine.sum())), shares, tokens)), 1)
    return found
