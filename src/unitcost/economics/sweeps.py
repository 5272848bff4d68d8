"""Trials of a sweep: which repeat others, and what stopping early saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from unitcost import money
from unitcost.economics.runs import decimal_of
from unitcost.facts.runs import Run, RunAnswer
from unitcost.figure import Figure, figure_id

_PRUNED = "pruned"
_FULL = ("completed", "duplicate")


def duplicates_of(runs: Sequence[Run]) -> dict[str, str]:
    """Completed runs whose configuration an earlier one of the same sweep has completed -> that run.

    One that repeats a failed run is no duplicate.
    """
    firsts: dict[tuple[str, str], str] = {}
    found: dict[str, str] = {}
    known = [run for run in runs if run.config_key and run.status == "completed"]
    for run in sorted(known, key=lambda r: (r.started_at is None, r.started_at, r.workload)):
        first = firsts.setdefault((run.parent or run.experiment, run.config_key), run.workload)
        if first != run.workload:
            found[run.workload] = first
    return found


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
        replace(answer, pruning_saved=_saved(answer, _median(lengths.get(_sweep(answer), ())), at))
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


def _median(lengths: Sequence[Fraction]) -> Fraction | None:
    """Full length of a trial: the lower median of those that ran to their end; None when none did."""
    return sorted(lengths)[(len(lengths) - 1) // 2] if lengths else None
