"""Compare options at fixed quality: measured models, variants of a language model, models behind an API."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost.economics.quality import several
from unitcost.economics.quality.bootstrap import Pair, verdict
from unitcost.economics.quality.choosing import choose
from unitcost.economics.quality.metrics import Metric, metric
from unitcost.errors import BadSetting, UnitcostError, UnknownName
from unitcost.facts.options import Choice, Demand, Limits, Option
from unitcost.facts.verdicts import Verdict
from unitcost.measure.item_table import Items

#: Machine -> price of an hour, or None when none is known. [USD/h]
PriceOf = Callable[[str], Decimal | None]
#: How several options are judged together.
HOLM, CONFIRM = "holm", "confirm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How quality is judged.

    Parameters
    ----------
    metric
        Name of a metric, or `FILE.py:FUNCTION` with `function(answers, truth)` of which more is better; empty = accuracy
        where there are labels, else the mean score.
    margin
        Loss against the reference that is allowed; None = no paired test.
    several
        `holm`: all options are judged on all items, strictly enough for their number. `confirm`: the cheapest is chosen on
        one half of the items and judged on the other.
    """

    metric: str = ""
    margin: float | None = None
    several: str = HOLM


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What options are ranked by: traffic, limits, how quality is judged, and what machines cost."""

    demand: Demand
    limits: Limits
    judging: Judging
    price: PriceOf


def compare(options: Sequence[Option], items: Items | None, demand: Demand, limits: Limits, judging: Judging) -> Choice:
    """Cheapest option that keeps every limit.

    Raises
    ------
    BadSetting
        When a margin is given without a reference or without answers per item.
    """
    if judging.margin is not None and (items is None or not limits.reference):
        raise BadSetting(
            "a margin needs a reference and answers per item",
            mend="give --reference NAME and --items FILE, or use --bar",
        )
    if not options:
        raise UnitcostError("there is no option to compare", mend="give a table of options, or files of measurements")
    if items is None:
        return choose(options, demand, limits)
    judged = metric_of(judging.metric, items)
    options = [_with_quality(option, items, judged) for option in options]
    limits = replace(limits, is_more_better=judged.sign > 0)
    if judging.margin is None:
        return choose(options, demand, limits)
    verdicts = _verdicts(options, items, judged, (demand, limits), judging)
    return choose(options, demand, limits, verdicts if judging.several == CONFIRM else several.holm(verdicts))


def metric_of(name: str, items: Items) -> Metric:
    """Metric by name, or one of the user's own; without a name the one that fits the items."""
    if not name:
        return metric("accuracy" if items.truth is not None or _is_right_or_wrong(items) else "score")
    if ".py:" in name:
        return Metric(name=name, score=_own_function(name))
    found = metric(name)
    if items.truth is None and found.name != "score" and not (found.is_share_right and _is_right_or_wrong(items)):
        raise BadSetting(f"{name} needs labels", mend="add a column `truth`, or use --metric score")
    return found


def judge(items: Items, judged: Metric, reference: str, option: str, margin: float, seed: int = 0) -> Verdict:
    """Paired verdict of one option."""
    for name in (reference, option):
        if name not in items.answers:
            raise UnknownName("option with answers per item", name, items.answers)
    pair = Pair(reference=items.answers[reference], option=items.answers[option], truth=truth_of(items, option))
    return verdict(judged, pair, margin, seed=seed)


def truth_of(items: Items, option: str) -> Any:
    """Labels; where answers say right or wrong themselves, "right" is the label of each."""
    return items.truth if items.truth is not None else items.answers[option] * 0 + 1


def _is_right_or_wrong(items: Items) -> bool:
    return all(a.dtype.kind == "f" and set(a.tolist()) <= {0.0, 1.0} for a in items.answers.values())


def _with_quality(option: Option, items: Items, judged: Metric) -> Option:
    if option.name not in items.answers:
        return option
    value = judged.score(items.answers[option.name], truth_of(items, option.name))
    return replace(option, quality=float(round(value, 12)), items=len(items.names))


def _verdicts(
    options: Sequence[Option], items: Items, judged: Metric, asked: tuple[Demand, Limits], judging: Judging
) -> dict[str, Verdict]:
    demand, limits = asked
    names = [o.name for o in options if o.name in items.answers and o.name != limits.reference]
    margin = judging.margin or 0.0
    if judging.several != CONFIRM or len(names) < 2:
        return {name: judge(items, judged, limits.reference, name, margin) for name in dict.fromkeys(names)}
    first, second = (_part(items, for_choice) for for_choice in (True, False))
    tried = {name: judge(first, judged, limits.reference, name, margin) for name in dict.fromkeys(names)}
    hopeful = {name: replace(v, outcome="not worse") for name, v in tried.items() if v.loss <= margin}
    chosen = choose(options, demand, replace(limits, error_cost_usd=None), tried | hopeful).cheapest.partition("@")[0]
    return {
        name: judge(second, judged, limits.reference, name, margin) if name == chosen else several.unchosen(found)
        for name, found in tried.items()
    }


def _part(items: Items, for_choice: bool) -> Items:
    kept = [place for place, name in enumerate(items.names) if several.is_for_choice(name) == for_choice]
    return Items(
        names=tuple(items.names[place] for place in kept),
        answers={name: answers[kept] for name, answers in items.answers.items()},
        truth=None if items.truth is None else items.truth[kept],
    )


def _own_function(name: str) -> Callable[[Any, Any], float]:
    """Function of a Python file that the user has written; it is run."""
    file, _, function = name.rpartition(":")
    spec = importlib.util.spec_from_file_location("own_metric", Path(file))
    if spec is None or spec.loader is None or not Path(file).is_file():
        raise BadSetting(f"there is no Python file `{file}`", mend="write --metric FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    known: Mapping[str, Any] = {key: value for key, value in vars(module).items() if callable(value)}
    if function not in known:
        raise UnknownName("function", function, known, where=file)
    return lambda answers, truth: float(known[function](answers, truth))
