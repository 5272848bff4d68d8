"""Compare options at fixed quality: measured models, variants of a language model, models behind an API."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost.economics.quality import several
from unitcost.economics.quality.cached import quality_behind
from unitcost.economics.quality.choosing import choose, label
from unitcost.economics.quality.metrics import Metric
from unitcost.errors import BadSetting, UnitcostError, UnknownName
from unitcost.facts.options import Choice, Demand, Limits, Option
from unitcost.jobs.judging import (
    CONFIRM,
    Judging,
    judge,
    metric_of,
    name_of_reference,
    paired_verdicts,
    verdicts_apart,
    with_quality,
)
from unitcost.measure.item_table import Items

__all__ = ["Judging", "PriceOf", "Terms", "compare", "judge", "metric_of"]

#: Machine -> price of an hour, or None when none is known. [USD/h]
PriceOf = Callable[[str], Decimal | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What options are ranked by: traffic, limits, how quality is judged, and what machines cost."""

    demand: Demand
    limits: Limits
    judging: Judging
    price: PriceOf


def compare(
    options: Sequence[Option], items: Items | None = None, demand: Demand | None = None, limits: Limits | None = None,
    judging: Judging | None = None,
) -> Choice:  # fmt: skip
    """Cheapest option that keeps every limit.

    Parameters
    ----------
    items
        Answers per item, or None: then the quality of each option stands as it is told.
    demand, limits, judging
        Traffic, limits, and how quality is judged; None = none told.

    Raises
    ------
    BadSetting
        When a margin is given without a reference, or nothing tells how the options do against it.
    UnitcostError
        When there are no options, or two are called the same.
    UnknownName
        When there is no reference by its name, or none of the options has answers per item.
    """
    demand, limits, judging = demand or Demand(), limits or Limits(), judging or Judging()
    _check(options, limits, judging)
    judged: Metric | None = None
    if items is not None:
        if not any(option.name in items.answers for option in options):
            raise UnknownName("option with answers per item", limits.reference or options[0].name, items.answers)
        judged = metric_of(judging.metric, items)
        options = [with_quality(option, items, judged) for option in options]
        is_share = limits.is_share_right and judged.is_share_right
        limits = replace(limits, is_more_better=judged.sign > 0, is_share_right=is_share)
    is_share = limits.is_share_right
    if is_share:
        _check_scale(options, limits, judging)
    options = _behind_caches(options, is_share=is_share, told=items.answers if items else ())
    if judging.margin is None:
        return choose(options, demand, limits)
    paired = paired_verdicts(options, items, judged, (demand, limits), judging) if items and judged else {}
    found = verdicts_apart(options, paired, limits, judging.margin) if is_share else paired
    if not found and len({option.name for option in options}) > 1:
        raise BadSetting(
            "a margin needs answers per item, or the quality of both with the number of items, as shares of right answers",
            mend="give --items FILE, or a column `items` beside `accuracy`; or use --bar",
        )
    return choose(options, demand, limits, found if judging.several == CONFIRM else several.holm(found))


def _check(options: Sequence[Option], limits: Limits, judging: Judging) -> None:
    if judging.margin is not None and not limits.reference:
        raise BadSetting("a margin needs a reference", mend="give --reference NAME, or use --bar")
    if limits.bar is not None and not math.isfinite(limits.bar):
        raise BadSetting(f"a bar of {limits.bar} is no quality", mend="give the least quality that is allowed")
    if not options:
        raise UnitcostError("there is no option to compare", mend="give a table of options, or files of measurements")
    if limits.reference:
        name_of_reference(options, limits)
    labels = [label(option) for option in options]
    twice = next((name for place, name in enumerate(labels) if name in labels[:place]), None)
    if twice is not None:
        raise UnitcostError(
            f"two options are called {twice!r}",
            mend="name each row otherwise, tell their machines, or keep one setting with --at COLUMN=VALUE",
        )


def _check_scale(options: Sequence[Option], limits: Limits, judging: Judging) -> None:
    """Refuse points beside shares: 93 is not more than 0.95."""
    known = [option.quality for option in options if option.quality is not None]
    points = next((quality for quality in known if quality > 1), None)
    told = [*known, *([] if limits.bar is None else [limits.bar])]
    share = next((quality for quality in told if 0 < quality <= 1), None)
    if points is not None and share is not None:
        raise BadSetting(
            f"{points:g} is a quality in points, {share:g} one as a share", mend="write all as shares, like 0.93"
        )
    if points is None and known and judging.margin is not None and judging.margin >= 1:
        raise BadSetting(
            f"a margin of {judging.margin:g} allows every loss of a share", mend="write one point as 0.01, 1% or 1pt"
        )


def _behind_caches(options: Sequence[Option], *, is_share: bool, told: Collection[str]) -> list[Option]:
    """Options, those behind a cache with the quality that follows from that of their model, unless it is `told`."""
    by_name = {option.name: option for option in options}
    return [
        option if option.cache is None or option.name in told or option.fronts not in by_name
        else replace(
            option, quality=quality_behind(by_name[option.fronts].quality, option.cache) if is_share else None,
            items=by_name[option.fronts].items,
        )
        for option in options
    ]  # fmt: skip
