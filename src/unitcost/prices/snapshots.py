"""Readings of one list of models, one after the other: a later reading does not rewrite what an earlier one said.

A list may change a price without saying from when. Then the later reading holds from its day on, and the earlier one before.
A price whose beginning the later reading states holds from that beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from unitcost.facts.prices import first_day, midnight
from unitcost.facts.tokens import ModelPrice
from unitcost.prices.entries import Found, ModelEntry
from unitcost.prices.genai import GenaiPrices
from unitcost.prices.intervals import in_gaps


class ModelSnapshots:
    """A list of models in several readings.

    Parameters
    ----------
    readings
        At least one, in any order.
    """

    def __init__(self, readings: Sequence[GenaiPrices]) -> None:
        self.readings = sorted(readings, key=lambda reading: reading.observed, reverse=True)
        self.name = self.readings[0].name

    def entries(self) -> Iterable[ModelEntry]:
        """All models of the newest reading."""
        return [self._joined(entry) for entry in self.readings[0].entries()]

    def names(self, provider: str) -> Iterable[str]:
        """Names that any reading knows."""
        return dict.fromkeys(name for reading in self.readings for name in reading.names(provider))

    def find(self, provider: str, model: str) -> Found | str:
        """The model of a name in the newest reading that knows it; else why the newest has none."""
        answers = [reading.find(provider, model) for reading in self.readings]
        for answer in answers:
            if not isinstance(answer, str):
                return replace(answer, entry=self._joined(answer.entry))
        return answers[0]

    def _joined(self, entry: ModelEntry) -> ModelEntry:
        if len(self.readings) == 1:
            return entry
        makers = {variant: partial(self._prices, entry, variant) for variant in entry.variants}
        return replace(entry, variants=makers)

    def _prices(self, entry: ModelEntry, variant: str) -> tuple[ModelPrice, ...]:
        said = [(reading, reading.entry(entry.provider, entry.model)) for reading in self.readings]
        told = [
            (reading, made)
            for reading, known in said
            if known is not None and variant in known.variants and (made := known.variants[variant]())
        ]
        prices: list[ModelPrice] = []
        for place, (reading, made) in enumerate(told):
            is_oldest = place == len(told) - 1
            prices += in_gaps(prices, made if is_oldest else _from_reading(made, reading.observed))
        return tuple(prices)


def _from_reading(prices: Iterable[ModelPrice], observed: str) -> list[ModelPrice]:
    """Prices, those without a stated beginning from the day of the reading on."""
    day = midnight(first_day(observed))
    kept = []
    for price in prices:
        if price.effective_from is not None:
            kept.append(price)
        elif price.effective_to is None or price.effective_to > day:
            kept.append(replace(price, effective_from=day))
    return kept
