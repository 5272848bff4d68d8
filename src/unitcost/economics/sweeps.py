"""What a sweep cost, by what became of its trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from unitcost import money
from unitcost.economics.runs import decimal_of, in_order, split_by, usd_of
from unitcost.facts.runs import NEVER_STARTED, Life, SweepCost, Trial
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

_US_PER_HOUR = MICROSECONDS_PER_SECOND * SECONDS_PER_HOUR
_PARTS = ("completed", "duplicate", "pruned", "failed", "stopped")
_PART_OF = {"completed": "completed", "pruned": "pruned", "failed": "failed", "crashed": "failed", "timeout": "failed"}


def sweep_cost(trials: Sequence[Trial], full_hours: Decimal | None = None, own: Sequence[Life] = ()) -> SweepCost:
    """Cost of a sweep: all its trials, whatever became of them, over what was accepted.

    Pruning saved only what pruned trials had still before them, up to full length. A trial of a configuration that an
    earlier one has completed is a duplicate; one that repeats a failed trial is not.

    Parameters
    ----------
    full_hours
        Full length of a trial; without it the median of those that ran to their end. [hours]
    own
        What the sweep held itself, besides its trials.
    """
    duplicates = duplicates_of(trials)
    of_part = {part: Fraction(0) for part in _PARTS}
    for trial in trials:
        of_part["duplicate" if trial.trial_id in duplicates else _part_of(trial)] += _usd_of(trial.lives)
    weights = [*of_part.values(), _usd_of(own)]
    usd = decimal_of(sum(weights, Fraction(0)))
    completed, duplicate, pruned, failed, stopped, own_usd = split_by(usd, weights)
    full = Fraction(full_hours) if full_hours is not None else _full_hours(trials)
    accepted = sum(trial.accepted is True for trial in trials)
    return SweepCost(
        usd=usd, accepted=accepted, usd_per_accepted=money.divide(usd, Decimal(accepted)) if accepted else None,
        completed_usd=completed, duplicate_usd=duplicate, pruned_usd=pruned, failed_usd=failed, stopped_usd=stopped,
        own_usd=own_usd, pruning_saved_usd=_pruning_saved_usd(trials, full),
        full_hours=None if full is None else decimal_of(full), duplicates=tuple(sorted(duplicates.items())),
        never_started=_ids(trials, _never_started), open_trials=_ids(trials, _is_open),
        unpriced_trials=_ids(trials, _is_unpriced),
    )  # fmt: skip


def duplicates_of(trials: Sequence[Trial]) -> dict[str, str]:
    """Completed trials whose configuration an earlier one has completed -> that trial."""
    firsts: dict[str, str] = {}
    found: dict[str, str] = {}
    known = [trial for trial in trials if trial.config_key and trial.status == "completed"]
    for trial in sorted(known, key=lambda t: (t.started_at is None, t.started_at, t.trial_id)):
        first = firsts.setdefault(trial.config_key, trial.trial_id)
        if first != trial.trial_id:
            found[trial.trial_id] = first
    return found


def median_length(lengths: Sequence[Fraction]) -> Fraction | None:
    """Full length of a trial: the lower median of those that ran to their end; None when none did."""
    return sorted(lengths)[(len(lengths) - 1) // 2] if lengths else None


def _part_of(trial: Trial) -> str:
    return _PART_OF.get(trial.status, "stopped")


def _usd_of(lives: Sequence[Life]) -> Fraction:
    return sum(map(usd_of, lives), Fraction(0))


def _hours_of(trial: Trial) -> Fraction:
    return sum((Fraction(life.held_us or 0, _US_PER_HOUR) for life in trial.lives), Fraction(0))


def _full_hours(trials: Sequence[Trial]) -> Fraction | None:
    return median_length([_hours_of(t) for t in trials if t.status == "completed" and t.lives and not _is_open(t)])


def _pruning_saved_usd(trials: Sequence[Trial], full_hours: Fraction | None) -> Decimal | None:
    if full_hours is None:
        return None
    saved = Fraction(0)
    for trial in trials:
        if trial.status == "pruned" and trial.lives and not _is_open(trial):
            last = in_order(trial.lives)[-1]
            left = max(Fraction(0), full_hours - _hours_of(trial))
            saved += left * Fraction(last.quantity) * Fraction(last.usd_per_hour or 0)
    return decimal_of(saved)


def _never_started(trial: Trial) -> bool:
    return trial.status == NEVER_STARTED


def _is_open(trial: Trial) -> bool:
    return any(life.held_us is None for life in trial.lives)


def _is_unpriced(trial: Trial) -> bool:
    nothing_known = not trial.lives and not _never_started(trial)
    return nothing_known or any(life.held_us and life.usd_per_hour is None for life in trial.lives)


def _ids(trials: Sequence[Trial], holds: Callable[[Trial], bool]) -> tuple[str, ...]:
    return tuple(sorted(trial.trial_id for trial in trials if holds(trial)))
