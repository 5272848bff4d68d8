"""`unitcost plan serve --cooldowns`: how long a replica waits before it stops."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import text_option
from unitcost.cli.plan_serve_inputs import trace_files
from unitcost.errors import BadSetting

if TYPE_CHECKING:
    from unitcost.serving.idle_gaps import ColdStartPrice

#: Cold start of a small model, where nothing is said.
COLD_START = "60s"
_OPTIONS = (
    text_option(
        "--cooldowns", metavar="TIME,TIME",
        help="Times without a request after which a replica stops, such as 0,10m,60m,never. With --usd-per-hour and gaps alone "
        "(--trace or --gaps), the cheapest is found for one replica.",
    ),
    text_option("--gaps", metavar="TIME,TIME", help="With --cooldowns: gaps between requests, such as 2m,45m,10h."),
    text_option("--slow-answer-usd", metavar="USD", help="What an answer costs besides that waits for a cold start."),
    click.option("--free-start", is_flag=True, help="A cold start is not paid like ready time."),
)  # fmt: skip


def cooldown_options(command: Any) -> Any:
    """Options of cooldowns."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asks_for_cooldown(said: dict[str, Any]) -> bool:
    """Whether nothing but a cooldown is asked for."""
    return bool(said["cooldowns"] or said["gaps"]) and not said["profile"] and not said["model"]


def plan_of_cooldown(said: dict[str, Any], *, as_json: bool, html: Path | None) -> None:
    """Find the cheapest cooldown and print it."""
    from unitcost.cli.plan_output import deliver
    from unitcost.jobs.plan_cooldown import CooldownAsk, plan_cooldown
    from unitcost.jobs.plan_cooldown_page import cooldown_page
    from unitcost.jobs.plan_words import amount

    for name in ("rps", "curve", "calls", "with_levers", "predictions_per_day"):
        if said[name]:
            raise BadSetting(
                f"--{name.removeprefix('with_').replace('_', '-')} does not go with --cooldowns alone",
                mend="give real gaps: --gaps, or --trace FILE",
            )
    if not said["usd_per_hour"]:
        raise BadSetting("a replica has no price", mend="give --usd-per-hour")
    if bool(said["gaps"]) == bool(said["traces"]):
        raise BadSetting("gaps come from one place", mend="give either --gaps or --trace FILE")
    ask = CooldownAsk(
        price=start_price(said, amount(said["usd_per_hour"], "--usd-per-hour")), cooldowns_s=cooldowns_of(said),
        gaps_s=tuple(_times(said["gaps"], "--gaps")) if said["gaps"] else (), traces=trace_files(said["traces"]),
    )  # fmt: skip
    plan = plan_cooldown(ask)
    deliver("plan-serve-cooldown", plan, cooldown_page(plan), as_json=as_json, html=html)


def start_price(said: dict[str, Any], usd_per_hour: Decimal) -> ColdStartPrice:
    """What waiting and starting cost."""
    from unitcost.jobs.plan_words import amount
    from unitcost.serving.idle_gaps import ColdStartPrice

    slow = amount(said["slow_answer_usd"], "--slow-answer-usd") if said["slow_answer_usd"] else Decimal(0)
    return ColdStartPrice(
        usd_per_hour=usd_per_hour, start_s=_time(said["cold_start"] or COLD_START, "--cold-start"), start_billed=not said["free_start"],
        usd_per_slow_answer=slow,
    )  # fmt: skip


def cooldowns_of(said: dict[str, Any]) -> tuple[Decimal | None, ...]:
    """Cooldowns that are named; None: it never stops."""
    named = [part.strip() for part in said["cooldowns"].split(",")] if said["cooldowns"] else []
    found = tuple(None if part.casefold() == "never" else _time(part, "--cooldowns") for part in named)
    return tuple(dict.fromkeys(found))


def _times(text: str, option: str) -> list[Decimal]:
    return [_time(part, option) for part in text.split(",")]


def _time(text: str, option: str) -> Decimal:
    from unitcost.jobs.plan_words import seconds

    if text.strip() == "0":
        return Decimal(0)
    return Decimal(repr(seconds(text, option)))
