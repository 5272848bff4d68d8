"""`unitcost plan serve --profile`: models that answer in one step."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import FilePath, text_option
from unitcost.cli.plan_serve_cooldown import COLD_START, cooldowns_of
from unitcost.cli.plan_serve_inputs import cache_terms, trace_files
from unitcost.errors import BadSetting

#: From the warm pool to ready, where nothing is said.
_WAKE = "1s"
_OPTIONS = (
    click.option(
        "--profile",
        type=FilePath(exists=True, dir_okay=False),
        help="Latency by batch size of a model that answers in one step, csv or JSON; instead of --model. Or speed, p95 and "
        "quality of options at several loads (a column `concurrency`).",
    ),
    text_option("--concurrency", metavar="N", help="With --profile by load: only this load."),
    text_option(
        "--predictions-per-day", metavar="N", help="With --profile: a volume, such as 40m, instead of --trace."
    ),
    text_option(
        "--usd-per-hour",
        metavar="USD",
        help="With --profile or --cooldowns: price of a replica, where no file states one.",
    ),
    text_option("--spot-usd-per-hour", metavar="USD", help="With --profile: of a spot replica."),
    text_option("--max-delay", default="0s", metavar="TIME", help="With --profile: how long a batch waits to fill."),
)


def profile_options(command: Any) -> Any:
    """Options of models that answer in one step."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def plan_of_profile(said: dict[str, Any], *, as_json: bool, html: Path | None) -> None:
    """Plan from a profile and print it."""
    from unitcost.cli.plan_output import deliver
    from unitcost.cli.plan_serve_words import qualities, watching
    from unitcost.jobs.plan_serve_loads import is_by_load
    from unitcost.jobs.plan_serve_profile import ProfileAsk, plan_profile
    from unitcost.jobs.plan_serve_profile_page import profile_page
    from unitcost.jobs.plan_words import amount, quantity, seconds

    for name in (
        "model",
        "ttft_p95",
        "tpot_p95",
        "rps",
        "calls",
        "curve",
        "gpus",
        "gaps",
        "with_levers",
        "with_fleets",
    ):
        if said[name]:
            raise BadSetting(
                f"--{name.removeprefix('with_').replace('_', '-')} does not go with --profile",
                mend="a model that answers in one step has --e2e-p95, --trace or --predictions-per-day",
            )

    if is_by_load(said["profile"]):
        _plan_of_loads(said, as_json=as_json, html=html)
        return

    def usd(name: str) -> Decimal | None:
        return amount(said[name], f"--{name.replace('_', '-')}") if said[name] else None

    files = trace_files(said["traces"])
    ask = ProfileAsk(
        profile=said["profile"], trace=files[0] if files else None, more_traces=files[1:], most_replicas=said["max_replicas"],
        e2e_p95_s=seconds(said["e2e_p95"], "--e2e-p95") if said["e2e_p95"] else None,
        per_day=quantity(said["predictions_per_day"], "--predictions-per-day") if said["predictions_per_day"] else 0.0,
        usd_per_hour=usd("usd_per_hour"), standby_usd_per_hour=usd("standby_usd_per_hour"),
        spot_usd_per_hour=usd("spot_usd_per_hour"), max_delay_s=seconds(said["max_delay"], "--max-delay"),
        cold_start_s=seconds(said["cold_start"] or COLD_START, "--cold-start"), wake_s=seconds(said["wake"] or _WAKE, "--wake"),
        start_billed=not said["free_start"], usd_per_slow_answer=usd("slow_answer_usd") or Decimal(0),
        cooldowns_s=cooldowns_of(said), cache=cache_terms(said), qualities=qualities(said["qualities"]),
        quality_bar=usd("quality_bar"),
    )  # fmt: skip
    with watching() as watch:
        plan = plan_profile(ask, watch=watch)
    deliver("plan-serve-profile", plan, profile_page(plan), as_json=as_json, html=html)


def _plan_of_loads(said: dict[str, Any], *, as_json: bool, html: Path | None) -> None:
    from unitcost.cli.plan_output import deliver
    from unitcost.cli.plan_serve_words import qualities
    from unitcost.jobs.plan_serve_loads import LoadsAsk, plan_loads
    from unitcost.jobs.plan_serve_loads_page import loads_page
    from unitcost.jobs.plan_words import amount, quantity, seconds

    if said["traces"]:
        raise BadSetting(
            "--trace does not go with a profile by load",
            mend="give --concurrency, or --predictions-per-day, or neither",
        )
    ask = LoadsAsk(
        profile=said["profile"], concurrency=said["concurrency"], qualities=qualities(said["qualities"]),
        per_day=quantity(said["predictions_per_day"], "--predictions-per-day") if said["predictions_per_day"] else 0.0,
        p95_s=seconds(said["e2e_p95"], "--e2e-p95") if said["e2e_p95"] else None,
        quality_bar=amount(said["quality_bar"], "--quality-bar") if said["quality_bar"] else None,
        usd_per_hour=amount(said["usd_per_hour"], "--usd-per-hour") if said["usd_per_hour"] else None,
    )  # fmt: skip
    plan = plan_loads(ask)
    deliver("plan-serve-loads", plan, loads_page(plan), as_json=as_json, html=html)
