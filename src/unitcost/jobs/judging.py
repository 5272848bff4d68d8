"""How the quality of options is judged: by answers per item, or by what was measured apart."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unitcost.economics.quality import several
from unitcost.economics.quality.bootstrap import Pair, verdict
from unitcost.economics.quality.choosing import choose, label
from unitcost.economics.quality.metrics import METRICS, Metric, metric
from unitcost.economics.quality.unpaired import cache_verdict, unpaired
from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.options import Demand, Limits, Option
from unitcost.facts.verdicts import Verdict
from unitcost.measure.item_table import Items

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
        Loss against the reference that is allowed; None = no test against a reference.
    several
        `holm`: all options are judged on all items, strictly enough for their number. `confirm`: the cheapest is chosen on
        one half of the items and judged on the other.
    """

    metric: str = ""
    margin: float | None = None
    several: str = HOLM


def metric_of(name: str, items: Items) -> Metric:
    """Metric by name, or one of the user's own; without a name the one that fits the items."""
    if not name or (name in items.scored_by and name not in METRICS):
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


def with_quality(option: Option, items: Items, judged: Metric) -> Option:
    """Option with its quality on the items, where it has answered them."""
    if option.name not in items.answers:
        return option
    value = judged.score(items.answers[option.name], truth_of(items, option.name))
    return replace(option, quality=float(round(value, 12)), items=len(items.names))


def paired_verdicts(
    options: Sequence[Option], items: Items, judged: Metric, asked: tuple[Demand, Limits], judging: Judging
) -> dict[str, Verdict]:
    """Verdicts of the options that have answers per item."""
    demand, limits = asked
    reference = name_of_reference(options, limits)
    names = list(dict.fromkeys(o.name for o in options if o.name in items.answers and o.name != reference))
    margin = judging.margin or 0.0
    if judging.several != CONFIRM or len(names) < 2:
        return {name: judge(items, judged, reference, name, margin) for name in names}
    first, second = (_part(items, for_choice) for for_choice in (True, False))
    if not first.names or not second.names:
        raise BadSetting(
            f"{len(items.names)} items cannot be parted in two halves", mend="give more items, or leave --several out"
        )
    tried = {name: judge(first, judged, reference, name, margin) for name in names}
    hopeful = {name: replace(v, outcome="not worse") for name, v in tried.items() if v.loss <= margin}
    best = choose(options, demand, replace(limits, error_cost_usd=None), tried | hopeful).cheapest
    chosen = next((option.name for option in options if label(option) == best), "")
    return {
        name: judge(second, judged, reference, name, margin) if name == chosen else several.unchosen(found)
        for name, found in tried.items()
    }


def verdicts_apart(
    options: Sequence[Option], paired: Mapping[str, Verdict], limits: Limits, margin: float
) -> dict[str, Verdict]:
    """Verdicts of options of which no answers per item are known: from shares and numbers of items, or behind a cache."""
    name = name_of_reference(options, limits)
    reference = next(option for option in options if option.name == name)
    found = dict(paired)
    for option in options:
        if option.name not in found and option.name != name and not option.fronts and _has_share(option, reference):
            shares = [(o.quality or 0.0, o.items) for o in (reference, option)]
            found[option.name] = unpaired(shares[0], shares[1], margin)
    for option in options:
        if option.cache is not None and option.name not in found and (option.fronts == name or option.fronts in found):
            found[option.name] = cache_verdict(found.get(option.fronts), option.cache, margin)
    return found


def name_of_reference(options: Sequence[Option], limits: Limits) -> str:
    """Name of the reference without its machine.

    Raises
    ------
    UnknownName
        When there is no such option.
    """
    for option in options:
        if limits.reference in (option.name, label(option)):
            return option.name
    raise UnknownName("option", limits.reference, sorted({o.name for o in options} | {label(o) for o in options}))


def _has_share(option: Option, reference: Option) -> bool:
    return all(o.items > 0 and o.quality is not None and 0 <= o.quality <= 1 for o in (option, reference))


def _is_right_or_wrong(items: Items) -> bool:
    return all(a.dtype.kind == "f" and bool(((a == 0) | (a == 1)).all()) for a in items.answers.values())


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
