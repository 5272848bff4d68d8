"""What stopping trials early saved: what they would have cost more at the full length of a trial of their sweep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from unitcost import money
from unitcost.economics.runs import decimal_of
from unitcost.economics.sweeps import median_length
from unitcost.facts.runs import RunAnswer
from unitcost.figure import Figure, figure_id

_PRUNED = "pruned"
_FULL = ("completed", "duplicate")


def with_pruning(answers: Sequence[RunAnswer], *, at: str) -> list[RunAnswer]:
    """The same answers, each pruned run with what its end saved.

    Notes
    -----
    ``cost * (full - lasted) / lasted``, never negative. The full length is the median of the runs of the same sweep and
    kind that ran to their end.
    """
    lengths: dict[tuple[str, str, str], list[Fraction]] = defaultdict(list)
    for answer in answers:
        if answer.outcome in _FULL and answer.lasted_us:
            lengths[_sweep(answer)].append(Fraction(answer.lasted_us))
    return [
        replace(answer, pruning_saved=_saved(answer, median_length(lengths.get(_sweep(answer), ())), at))
        if answer.outcome == _PRUNED
        else answer
        for answer in answers
    ]


def _sweep(answer: RunAnswer) -> tuple[str, str, str]:
    return answer.group, answer.run.parent or "", answer.run.kind


def _saved(answer: RunAnswer, full: Fraction | None, at: str) -> Figure:
    steps = ("run", answer.run.workload, "pruning")
    reason = _doubt(answer, full)
    if reason or full is None or not answer.lasted_us:
        return Figure(
            id=figure_id(*steps, at=at), value=None, unit=answer.cost.unit, basis="unknown", op="none", formula="no value",
            note=reason, label="saved by pruning",
        )  # fmt: skip
    left = Figure(
        id=figure_id(*steps, "left", at=at), value=decimal_of(max(Fraction(0), full / answer.lasted_us - 1)), unit="",
        basis="estimated", op="given", label="part left",
        formula="(full length - its length) / its length; full: median of the sweep's trials that ran to their end",
    )  # fmt: skip
    return Figure(
        id=figure_id(*steps, at=at), value=money.multiply(answer.cost.value or money.ZERO, left.value or money.ZERO),
        unit=answer.cost.unit, basis="estimated", op="product", formula="cost x part left", inputs=(answer.cost, left),
        label="saved by pruning",
    )  # fmt: skip


def _doubt(answer: RunAnswer, full: Fraction | None) -> str:
    if answer.cost.value is None:
        return answer.cost.note or "its cost is not known"
    if not answer.lasted_us:
        return "nothing tells how long it lasted"
    return "" if full is not None else "no trial of its sweep ran to its end"
