"""Splits that do not do what the settings say: those that never can are errors, the others are said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.attribution.drivers import SHIPPED
from unitcost.attribution.splits import owner_named, pool_of
from unitcost.attribution.tags import PURPOSES
from unitcost.errors import BadSetting, did_you_mean
from unitcost.facts.naming import meant
from unitcost.facts.rules import UNKNOWN_DRIVER, OwnerKind, Settings, SplitRule
from unitcost.facts.spend import BESIDE_LINES
from unitcost.units import PERCENT

#: Sums of fixed shares that need no word.
_WHOLES = (Decimal(1), PERCENT)


def check_splits(settings: Settings) -> None:
    """Raise when a split of the settings can never do what it says, whatever is loaded.

    Raises
    ------
    BadSetting
        With every such split, and the near names.
    """
    problems = [f"`{rule.name}`: {says}" for rule in settings.splits for says in _never(rule, settings)]
    if problems:
        what = problems[0] if len(problems) == 1 else "".join(f"\n  - {problem}" for problem in problems)
        raise BadSetting(what, where=settings.file, mend="docs/how-to/split-shared-costs.md describes splits")


def _never(rule: SplitRule, settings: Settings) -> Iterator[str]:
    if rule.metric and rule.how != "metric":
        yield f'`metric` is for `how = "metric"`, not for "{rule.how}"'
    if rule.shares and rule.how != "fixed":
        yield f'`shares` are for `how = "fixed"`, not for "{rule.how}"'
    driver = rule.of.get("driver")
    if driver is not None and driver not in (known := _drivers(settings)):
        yield f"there is no driver `{driver}`{_near(driver, known)}"
    earlier = settings.splits[: settings.splits.index(rule)]
    if any(rule.of == other.of and rule.by == other.by for other in earlier):
        yield "another split before it takes the same cost for the same kind of owner"
    yield from _receivers_never(rule, settings)


def _receivers_never(rule: SplitRule, settings: Settings) -> Iterator[str]:
    if rule.how == "fixed" and rule.among:
        for name in sorted(rule.shares.keys() ^ set(rule.among)):
            yield f"`{name}` " + ("has no share" if name in rule.among else "has a share and is not in `among`")
    known = known_owners(settings, rule.by)
    if not known:
        return
    for name in sorted({*rule.among, *rule.shares}):
        if meant(name) not in {None, *known}:
            yield f"there is no {rule.by} `{name}` under `known`{_near(name, known)}"


def known_owners(settings: Settings, kind: OwnerKind) -> set[str]:
    """Names of a kind of owner that the settings know; empty when they list none."""
    rules = settings.owners.get(kind)
    if rules is None or not rules.known:
        return set()
    return {*rules.known, *(rule.owner for rule in rules.rules)}


def _drivers(settings: Settings) -> set[str]:
    shipped = {rule.driver for rule in (*SHIPPED, *settings.drivers)}
    return {*shipped, *PURPOSES.values(), *BESIDE_LINES, UNKNOWN_DRIVER}


def notes_of(
    number: int, splits: Sequence[SplitRule], cells: Iterable[Mapping[str, str | None]], *, owners: Collection[str],
    metrics: Mapping[str, Mapping[str, Decimal]],
) -> Iterator[str]:  # fmt: skip
    """What one split cannot do with what is loaded.

    Parameters
    ----------
    number
        Which of the splits.
    cells
        What charges hold in the dimensions that splits select by; see `pool_of`.
    owners
        Owners that exist, spelt as in a report.
    metrics
        Unit of output -> owner -> quantity.
    """
    rule = splits[number]
    listed = list(cells)
    if not any(pool_of(cell, splits) == number for cell in listed):
        yield _takes_nothing(rule, listed)
        return
    if rule.how == "metric":
        yield from _metric_notes(rule, owners, metrics)
    elif rule.how == "fixed" and (whole := money.add(rule.shares.values())) not in _WHOLES:
        yield f"the shares add up to {money.text(whole)}; the cost is divided in their proportion"
    made = metrics.get(rule.metric, {})
    for name in map(owner_named, {**rule.shares, **dict.fromkeys(rule.among)}):
        nothing = name not in made if rule.how == "metric" else rule.how == "proportional"
        if name not in owners:
            what = "receives nothing" if nothing else "receives a part"
            yield f"{name} {what} and has no charges: no such {rule.by} is known{_near(name, owners)}"
        elif rule.how == "metric" and made and nothing:
            yield f"{name} receives nothing: it made no {rule.metric}"


def _takes_nothing(rule: SplitRule, cells: list[Mapping[str, str | None]]) -> str:
    [(dimension, name)] = rule.of.items()
    if any(pool_of(cell, [rule]) == 0 for cell in cells):
        return "takes nothing: the splits before it have taken all that it selects"
    found = sorted({value for cell in cells if (value := cell.get(dimension)) is not None})
    return f"takes nothing: no charge of this range has the {dimension} `{name}`{_near(name, found)}"


def _metric_notes(
    rule: SplitRule, owners: Collection[str], metrics: Mapping[str, Mapping[str, Decimal]]
) -> Iterator[str]:
    made = metrics.get(rule.metric)
    if made is None:
        yield f"no outputs of this range are counted in `{rule.metric}`{_near(rule.metric, metrics)}"
        return
    others = sorted(made.keys() - {*owners, *map(owner_named, rule.among)})
    if others:
        yield f"{', '.join(others)} made {rule.metric} and is no {rule.by}: it receives nothing"


def _near(name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f"; {hint}" if hint else ""
