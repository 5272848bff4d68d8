"""Amounts of a model's life as people write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from unitcost import money
from unitcost.economics.lifetime import Lifetime, Spending, Successor
from unitcost.errors import BadSetting
from unitcost.jobs.plan_words import amount, days, quantity

_QUALITY = {"good": True, "below": False, "unknown": None}


def spending(training_usd: str, parts: Sequence[str]) -> Spending:
    """What training cost, and further parts written as `labelling=3000`.

    Raises
    ------
    BadSetting
        When a part is not written so, or an amount is none.
    """
    found = [("training", amount(training_usd, "--training-usd"))] if training_usd else []
    for part in parts:
        name, sign, usd = part.partition("=")
        if not sign or not name.strip():
            raise BadSetting(f"--part is {part!r}", mend="write it like labelling=3000")
        found.append((name.strip(), amount(usd, "--part")))
    return Spending(parts_usd=tuple(found))


def life(training: Spending, said: Mapping[str, str]) -> Lifetime:
    """A life, from options as they are written: `predictions_per_day`, `usd_per_1k`, `life` ...

    Raises
    ------
    BadSetting
        When one of them is no number, amount or time; the message names it.
    """
    again = said["retrain_every"]
    return Lifetime(
        training=training, usd_per_1k=amount(said["usd_per_1k"], "--usd-per-1k"), life_days=days(said["life"], "--life"),
        predictions_per_day=Decimal(repr(quantity(said["predictions_per_day"], "--predictions-per-day"))),
        retrain_every_days=days(again, "--retrain-every") if again else None,
        growth_per_month=_growth(said["growth"]), first_served=day(said["first_served"], "--first-served"),
    )  # fmt: skip


def _growth(text: str) -> Decimal:
    """Share by which traffic grows a month; it shrinks when negative."""
    try:
        return money.parse_amount(text)
    except ValueError as error:
        raise BadSetting(f"--growth is {text!r}, not a share", mend="write it like 0.05, or -0.02") from error


def day(text: str, option: str) -> date | None:
    """Date written as YYYY-MM-DD; None when there is none.

    Raises
    ------
    BadSetting
        When it is no date.
    """
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadSetting(f"{option} is {text!r}, not a date", mend="write it like 2026-09-01") from None


def successor(usd: str, usd_per_1k: str, quality: str, starts_on_day: int) -> Successor | None:
    """A successor, when one is told of.

    Raises
    ------
    BadSetting
        When only half of it is told.
    """
    if not usd and not usd_per_1k:
        return None
    if not usd or not usd_per_1k:
        raise BadSetting("a successor needs both its cost and its unit cost", mend="give both --successor- amounts")
    return Successor(
        spending=Spending(parts_usd=(("making it", amount(usd, "--successor-usd")),)), starts_on_day=starts_on_day,
        usd_per_1k=amount(usd_per_1k, "--successor-usd-per-1k"), good_enough=_QUALITY[quality],
    )  # fmt: skip
