"""How long spot capacity stays and stays away.

Spells of spot capacity have heavy tails: the longer a state has lasted, the longer it will last. A table of chances by age
is therefore all that the model knows. `lookahead` turns it
into choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.training.market import FloatArray, IntArray, Market

#: Where the classes of age begin. [s]
AGES_S = (0.0, 600.0, 1200.0, 2400.0, 4800.0, 9600.0, 19200.0, 38400.0)
#: Step in which chances were counted. [s]
STEP_S = 600.0
#: Chance that a state of that age has ended a step later: capacity that is away, capacity that is there. Counted in the
#: eleven single-node GPU zones of skypilot-org/spot-traces (AWS, 2022 and 2023), each zone with equal weight.
AWAY_ENDS = (0.310, 0.217, 0.153, 0.097, 0.054, 0.039, 0.021, 0.019)
THERE_ENDS = (0.291, 0.202, 0.145, 0.088, 0.048, 0.033, 0.023, 0.012)
#: A recording weighs as much as this many steps, however long it is.
_STEPS_A_RECORDING = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Chance that capacity of an age class goes or comes within a step of `step_s`."""

    away_ends: tuple[float, ...] = AWAY_ENDS
    there_ends: tuple[float, ...] = THERE_ENDS
    step_s: float = STEP_S

    def stretched(self, step_s: float, *, zones: int = 1) -> Outlook:
        """The same for another step, and for the best of several zones that are alike and independent."""
        power = step_s / self.step_s
        return Outlook(
            away_ends=tuple(1 - (1 - p) ** (power * zones) for p in self.away_ends),
            there_ends=tuple(1 - (1 - p) ** power for p in self.there_ends),
            step_s=step_s,
        )

    def remaining_s(self) -> FloatArray:
        """Expected time that capacity which is there stays, by age class. [s]."""
        widths = np.append(np.diff(AGES_S), np.inf) / self.step_s
        chances = np.maximum(self.there_ends, _LEAST_CHANCE)
        expected = np.zeros(len(chances))
        later = 0.0
        for place in range(len(chances) - 1, -1, -1):
            survives = (1 - chances[place]) ** widths[place]
            expected[place] = later = (1 - survives) / chances[place] + survives * later
        return expected * self.step_s


#: A chance is not taken for smaller than this: no recording is long enough to know. [share]
_LEAST_CHANCE = 1e-4


def age_class(ages_s: FloatArray) -> IntArray:
    """Class of each age."""
    return np.searchsorted(AGES_S, ages_s, side="right") - 1


def observed(markets: Sequence[Market], *, prior: Outlook | None = None, weight: float = 1.0) -> Outlook:
    """Outlook counted in recordings, each with equal weight, on top of a prior that weighs as `weight` recordings."""
    ends = np.zeros((2, len(AGES_S)))
    steps = np.zeros((2, len(AGES_S)))
    for market in markets:
        for zone in range(len(market.zones)):
            ended, seen = _counts(market, zone)
            scale = _STEPS_A_RECORDING / max(float(seen.sum()), 1.0)
            ends, steps = ends + ended * scale, steps + seen * scale
    known = prior or Outlook()
    per_class = max(weight, 0.0) * _STEPS_A_RECORDING / steps.size if prior else 1.0
    ends += per_class * np.array([known.away_ends, known.there_ends])
    chances = ends / (steps + per_class)
    return Outlook(away_ends=tuple(map(float, chances[0])), there_ends=tuple(map(float, chances[1])))


def _counts(market: Market, zone: int) -> tuple[FloatArray, FloatArray]:
    """How often a state of each age class ended a step later, and how often it was looked at: (away, there) x class."""
    there = market.available[zone]
    ahead = max(1, round(STEP_S / market.gap_s))
    classes = age_class(market.ages_s()[zone])[:-ahead] + len(AGES_S) * there[:-ahead]
    ended = there[ahead:] != there[:-ahead]
    shape = (2, len(AGES_S))
    seen = np.bincount(classes, minlength=2 * len(AGES_S)).reshape(shape)
    gone = np.bincount(classes, weights=ended, minlength=2 * len(AGES_S)).reshape(shape)
    return gone / ahead, seen / ahead
