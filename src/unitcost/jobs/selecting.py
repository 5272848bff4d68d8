"""Which charges a question is about: months, cost, time zone, as said on the command line or in a figure's id."""

from __future__ import annotations

from urllib.parse import unquote

from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.charges import COST_COLUMNS, CostKind
from unitcost.facts.days import month_start, next_month
from unitcost.facts.rules import Settings
from unitcost.facts.spend import ONLY, Selection, check_dimensions


def select(
    settings: Settings,
    *,
    month: str = "",
    since: str = "",
    until: str = "",
    cost: str | None = None,
    place: str = "billing",
    timezone: str = "",
) -> Selection:
    """Selection of whole months; what is left out comes from the settings.

    Parameters
    ----------
    month
        `YYYY-MM`, one month.
    since, until
        `YYYY-MM`, first and last month of a range; either may be left out.

    Raises
    ------
    BadSetting
        When a month is not written so, or `month` and a range are both given.
    """
    if month and (since or until):
        raise BadSetting("--month and a range were both given", mend="give --month, or --from and --to")
    first, last = month or since, month or until
    start = month_start(first) if first else None
    end = next_month(month_start(last)) if last else None
    if start and end and start >= end:
        raise BadSetting(f"the range {first}..{last} is empty", mend="put the earlier month into --from")
    if place not in ("billing", "charge"):
        raise UnknownName("place", place, ["billing", "charge"])
    return Selection(
        cost=_cost(cost or settings.cost),
        start=start,
        end=end,
        place="charge" if place == "charge" else "billing",
        timezone=timezone or settings.timezone,
    )


def dimensions(text: str) -> tuple[str, ...]:
    """Dimensions named in a list such as `team,month`; none when nothing is said.

    Raises
    ------
    BadSetting, UnknownName
        As `check_dimensions`.
    """
    return check_dimensions(tuple(name.strip() for name in text.split(","))) if text else ()


def parse_tag(tag: str) -> Selection:
    """Selection that a figure's id carries behind its `@`; the reverse of `Selection.tag`.

    Raises
    ------
    BadSetting
        When the tag is not of that form.
    """
    head, *rest = tag.split(",")
    if not rest or (".." not in head and head != "all"):
        raise BadSetting(f"`@{tag}` is not the end of a figure's id", mend="copy the id as the report prints it")
    first, _, last = head.partition("..") if head != "all" else ("", "", "")
    currencies = [unquote(part.removeprefix(ONLY)) for part in rest[1:] if part.startswith(ONLY)]
    zones = [part for part in rest[1:] if part != "charge" and not part.startswith(ONLY)]
    return Selection(
        cost=_cost(rest[0]),
        start=month_start(first) if first else None,
        end=next_month(month_start(last)) if last else None,
        place="charge" if "charge" in rest[1:] else "billing",
        timezone=zones[0].replace(".", "/") if zones else "UTC",
        currency=currencies[0] if currencies else "",
    )


def _cost(name: str) -> CostKind:
    for kind in COST_COLUMNS:
        if kind == name:
            return kind
    raise UnknownName("cost", name, COST_COLUMNS)
