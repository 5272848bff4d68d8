"""Measure the user's own model on the user's own data, in every runtime and setting asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile, BadSetting, UnitcostError, UnknownName
from unitcost.facts.options import Choice, Limits
from unitcost.jobs.compare import Judging, Terms, compare, metric_of
from unitcost.jobs.measured_options import options_of
from unitcost.jobs.workspace import Workspace
from unitcost.measure.bench_run import Session, run_session, runtimes_for
from unitcost.measure.eval_data import read_eval
from unitcost.measure.item_table import Items
from unitcost.measure.result_files import ResultFile, items_of, named
from unitcost.measure.result_writing import unfinished, write_result
from unitcost.measure.runtimes import RUNTIMES

#: Metrics that want the score of the positive class, not a label.
_SCORED = ("auc",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A session and its answer.

    Parameters
    ----------
    result
        What the file holds.
    choice
        Cheapest at fixed quality; without a price and limits it names nothing.
    quality_metric
        What the quality is; empty where there are no labels.
    limits
        Limits, the reference by its full name.
    """

    result: ResultFile
    choice: Choice
    quality_metric: str
    limits: Limits


def models_of(sources: Sequence[str]) -> dict[str, Path]:
    """Name -> file of `[NAME=]PATH` texts.

    Raises
    ------
    BadFile
        When a file does not exist, or two models have one name.
    """
    found: dict[str, Path] = {}
    for source in sources:
        name, mark, rest = source.partition("=")
        path = Path(rest if mark and not Path(source).exists() else source)
        if not path.is_file():
            raise BadFile(
                "there is no such model", where=str(path), mend="give the path of an .onnx, .pt2 or TorchScript file"
            )
        name = name if mark and path == Path(rest) else path.stem
        if name in found:
            raise BadFile(f"two models are called `{name}`", where=str(path), mend="name them: NAME=PATH")
        found[name] = path.resolve()
    return found


def runtimes_of(text: str, models: Iterable[Path] = ()) -> list[str]:
    """Runtimes of a text like `ort,openvino`; empty = those that are installed and open some of the models."""
    names = [name.strip() for name in text.split(",") if name.strip()] or runtimes_for(models)
    for name in names:
        if name not in RUNTIMES:
            raise UnknownName("runtime", name, RUNTIMES)
    return list(dict.fromkeys(names))


def measure_model(
    workspace: Workspace, session: Session, terms: Terms, *, out: Path | None = None,
    said: Callable[[str], None] = lambda _: None,
) -> Measured:  # fmt: skip
    """Run a session, keep its file, and rank what was measured.

    Parameters
    ----------
    out
        File for the result; it is written before anything is ranked. What is known while the session runs stands beside
        it, in a file that ends in `.part`.

    Raises
    ------
    BadSetting
        When a margin is asked for and there are no labels.
    UnitcostError
        When nothing could be measured; the file is written all the same.
    """
    if terms.judging.margin is not None and read_eval(session.data, label=session.label).labels is None:
        raise BadSetting("a margin needs labels", mend="give labels in --data, or leave --margin out")
    scored = replace(session, is_score=session.is_score or terms.judging.metric in _SCORED)
    if out is None:
        found = run_session(scored, workspace.now, said)
    else:
        part = unfinished(out)
        write_result({}, part)  # fails before anything is measured
        found = run_session(scored, workspace.now, said, lambda so_far: write_result(so_far, part))
        write_result(found, out)
        part.unlink(missing_ok=True)
        said(f"wrote {out}")
    result = ResultFile(path=out or Path("measured"), found=found)
    if not result.options:
        reasons = "; ".join(dict.fromkeys([*(reason for _, reason in result.failures), *found["failures"]]))
        mend = "" if "Mend: " in reasons else "check the model and its inputs, or ask for other --runtimes"
        raise UnitcostError(f"nothing could be measured: {reasons or 'no option ran'}", mend=mend)
    return ranked(result, terms)


def ranked(result: ResultFile, terms: Terms) -> Measured:
    """A session with its options ranked."""
    judging = terms.judging
    items = items_of([result]) if result.found.get("truth") is not None else None
    limits = replace(terms.limits, reference=_reference(result, terms.limits.reference, judging))
    choice = compare(options_of(result, limits, terms.price), items, terms.demand, limits, judging)
    return Measured(result=result, choice=choice, quality_metric=_metric_name(items, judging), limits=limits)


def _reference(result: ResultFile, asked: str, judging: Judging) -> str:
    """Full name of the reference: as asked, also by the name of the model or option; else the first option."""
    names = {named(result, option): option for option in result.options}
    if not asked:
        return next(iter(names)) if judging.margin is not None else ""
    for name, option in names.items():
        if asked in (name, option["name"], option["model"]):
            return name
    raise UnknownName("option", asked, names)


def _metric_name(items: Items | None, judging: Judging) -> str:
    return metric_of(judging.metric, items).name if items is not None else ""


def summary_rows(result: ResultFile) -> list[dict[str, Any]]:
    """What was timed of each option, without the bulk."""
    return [
        {
            **{key: value for key, value in option.items() if key not in ("timing", "answers")},
            "timing": {key: value for key, value in (option.get("timing") or {}).items() if key != "quantiles_s"},
        }
        for option in result.found["options"]
    ]
