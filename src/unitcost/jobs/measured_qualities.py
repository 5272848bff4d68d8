"""Qualities of options from the ledger, or from files that its readers know, such as answers of MLflow."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unitcost.economics.quality.metrics import METRICS
from unitcost.errors import BadFile, BadSetting, UnknownName
from unitcost.facts.options import Option
from unitcost.facts.qualities import MeasuredQuality
from unitcost.facts.rules import Settings
from unitcost.jobs.ingest import load
from unitcost.jobs.workspace import Workspace

#: What stands for the ledger among the sources.
LEDGER = "ledger"
#: Parts of names of metrics that are shares of right answers, and of those of which less is better.
_SHARES = ("accuracy", "exact-match", "quality")
_LESS = ("rmse", "mae", "mse", "loss", "error", "perplexity", "wer", "cer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """How a metric is read: whether more is better, and whether it is a share of right answers."""

    is_more_better: bool
    is_share_right: bool


def sense_of(metric: str) -> Sense:
    """Sense of a metric by its name, as `eval/accuracy_score` or `val_loss`."""
    name = metric.casefold().replace("_", "-")
    parts = set(name.replace("/", "-").replace(".", "-").split("-"))
    known = METRICS.get(name)
    is_less = known.sign < 0 if known else bool(parts & set(_LESS))
    return Sense(is_more_better=not is_less, is_share_right=not is_less and any(share in name for share in _SHARES))


def read_qualities(sources: Sequence[str], workspace: Workspace) -> list[MeasuredQuality]:
    """Qualities of all sources.

    Parameters
    ----------
    sources
        `ledger`, or files that a reader of `unitcost load` knows: answers of MLflow, a table `subject, metric, value, n`.

    Raises
    ------
    BadFile
        When a file holds none.
    """
    found: list[MeasuredQuality] = []
    for source in sources:
        mine = _of_ledger(workspace) if source == LEDGER else _of_file(Path(source), workspace)
        if not mine:
            raise BadFile(
                "holds no quality", where=source,
                mend="give runs that log metrics on a data set, or a table with subject, metric, value and n",
            )  # fmt: skip
        found += mine
    return found


def with_measured(
    options: Sequence[Option], found: Sequence[MeasuredQuality], *, metric: str = "", data_set: str = ""
) -> tuple[list[Option], str]:
    """Options with their measured qualities, and the metric.

    An option is found by its name, as the id or name of a run, or the version of a model.

    Parameters
    ----------
    metric, data_set
        Which values; may be empty where only one is known.

    Raises
    ------
    BadSetting
        When it is not told which metric or data set is meant.
    UnknownName
        When there is no such metric or data set, or no option is named.
    """
    names = {option.name for option in options}
    meant = [quality for quality in found if names & set(quality.names)]
    if not meant:
        known = sorted({name for quality in found for name in quality.names})
        raise UnknownName("option with a measured quality", next(iter(sorted(names)), ""), known)
    metric = _only("metric", metric, [quality.metric for quality in meant], "--metric")
    meant = [quality for quality in meant if quality.metric == metric]
    data_set = _only("data set", data_set, [quality.data_set for quality in meant], "--data-set")
    meant = [quality for quality in meant if quality.data_set == data_set]
    return [_with(option, meant) for option in options], metric


def _with(option: Option, meant: Sequence[MeasuredQuality]) -> Option:
    mine = [quality for quality in meant if option.name in quality.names]
    if not mine:
        return option
    if len({(quality.value, quality.items) for quality in mine}) > 1:
        subjects = sorted({quality.names[0] for quality in mine})
        raise BadSetting(
            f"{option.name} is the name of several runs: {', '.join(subjects[:4])}",
            mend="name the option by the id of its run",
        )
    return replace(option, quality=mine[0].value, items=mine[0].items)


def _only(what: str, asked: str, known: Sequence[str], option: str) -> str:
    names = sorted(set(known))
    if asked:
        if asked not in names:
            raise UnknownName(what, asked, names)
        return asked
    if len(names) > 1:
        raise BadSetting(
            f"qualities are known by more than one {what}: {', '.join(names)}", mend=f"say which one with {option}"
        )
    return names[0]


def _of_ledger(workspace: Workspace) -> list[MeasuredQuality]:
    with workspace.open_ledger() as ledger:
        return ledger.work.qualities()


def _of_file(file: Path, workspace: Workspace) -> list[MeasuredQuality]:
    """Qualities of a file, which is read as `unitcost load` reads it, into a ledger of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        apart = Workspace(folder=Path(scratch), settings=Settings(), now=workspace.now)
        outcome = load(apart, [str(file.resolve())])
        for _, error in outcome.failures:
            raise error
        with apart.open_ledger() as ledger:
            return ledger.work.qualities()
