"""Optuna's own pruners, driven offline: reports are told to a study in the order of the simulated clock.

What to know of them: trial 0, and whatever comes before the first complete trial, never takes part in Hyperband's halving;
`bootstrap_count` above zero stops everything in the first rung; which bracket of Hyperband a trial belongs to depends on the
name of the study, so the name is fixed here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unitcost.errors import UnitcostError
from unitcost.training.sweeps import RUNGS, Board, Pruner

if TYPE_CHECKING:
    import optuna

_STARTUP_TRIALS = 5
_REDUCTION = 3


def optuna_pruners(name: str) -> dict[str, Callable[[], Pruner]]:
    """Makers of Optuna's pruners with usual settings, by name.

    Parameters
    ----------
    name
        Of the study.

    Raises
    ------
    UnitcostError
        When Optuna is not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import optuna
    except ImportError as error:
        raise UnitcostError(
            "Optuna is not installed, so its pruners cannot be replayed", mend="pip install 'unitcost[sweeps]'"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruners = optuna.pruners
    makers: dict[str, Callable[[], Any]] = {
        "median": lambda: pruners.MedianPruner(n_startup_trials=_STARTUP_TRIALS),
        "percentile 25": lambda: pruners.PercentilePruner(25.0, n_startup_trials=_STARTUP_TRIALS),
        "ASHA": lambda: pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=_REDUCTION),
        "Hyperband": lambda: pruners.HyperbandPruner(
            min_resource=1, max_resource=RUNGS, reduction_factor=_REDUCTION
        ),
    }  # fmt: skip
    return {label: _maker(make, name) for label, make in makers.items()}


def _maker(make: Callable[[], Any], name: str) -> Callable[[], Pruner]:
    return lambda: _Told(make(), name).prune


class _Told:
    """A study that is told what happens."""

    def __init__(self, pruner: Any, name: str) -> None:
        import optuna

        self.optuna = optuna
        self.study: optuna.Study = optuna.create_study(direction="maximize", pruner=pruner, study_name=name)
        self.trials: dict[int, optuna.Trial] = {}
        self.ended: set[int] = set()

    def prune(self, run: int, rung: int, board: Board) -> bool:
        """Whether Optuna would stop the run here."""
        for done in board.done:
            if done in self.trials and done not in self.ended:
                self.study.tell(self.trials[done], board.last[done])
                self.ended.add(done)
        trial = self.trials.setdefault(run, self.study.ask()) if run not in self.trials else self.trials[run]
        trial.report(board.last[run], rung + 1)
        if not trial.should_prune():
            return False
        self.study.tell(trial, state=self.optuna.trial.TrialState.PRUNED)
        self.ended.add(run)
        return True
