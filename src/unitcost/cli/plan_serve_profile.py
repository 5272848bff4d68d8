"""`unitcost plan serve --profile`: models that answer in one step."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import FilePath, text_option
from unitcost.cli.plan_serve_inputs import trace_files
from unitcost.errors import BadSetting

#: Of a small model, where nothing is said.
_COLD_START, _WAKE = "60s", "1s"
_OPTIONS = (
    click.option(
        "--profile",
        type=FilePath(exists=True, dir_okay=False),
        help="Latency by batch size of a model that answers in one step, csv or JSON; instead of --model.",
    ),
    text_option(
        "--predictions-per-day", metavar="N", help="With --profile: a volume, such as 40m, instead of --trace."
    ),
    text_option(
        "--usd-per-hour", metavar="USD", help="With --profile: price of a replica, where the file states none."
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
    from unitcost.cli.plan_serve_words import watching
    from unitcost.jobs.plan_serve_profile import ProfileAsk, plan_profile
    from unitcost.jobs.plan_serve_profile_page import profile_page
    from unitcost.jobs.plan_words import amount, quantity, seconds

    for name in ("model", "ttft_p95", "tpot_p95", "rps", "calls", "with_levers", "with_fleets"):
        if said[name]:
            raise BadSetting(
                f"--{name.removeprefix('with_').replace('_', '-')} does not go with --profile",
                mend="a model that answers in one step has --e2e-p95, --trace or --predictions-per-day",
            )

    def usd(name: str) -> Decimal | None:
        return amount(said[name], f"--{name.replace('_', '-')}") if said[name] else None

    files = trace_files(said["traces"])
    ask = ProfileAsk(
        profile=said["profile"], trace=files[0] if files else None, more_traces=files[1:], most_replicas=said["max_replicas"],
        e2e_p95_s=seconds(said["e2e_p95"], "--e2e-p95") if said["e2e_p95"] else None,
        per_day=quantity(said["predictions_per_day"], "--predictions-per-day") if said["predictions_per_day"] else 0.0,
        usd_per_hour=usd("usd_per_hour"), standby_usd_per_hour=usd("standby_usd_per_hour"),
        spot_usd_per_hour=usd("spot_usd_per_hour"), max_delay_s=seconds(said["max_delay"], "--max-delay"),
        cold_start_s=seconds(said["cold_start"] or _COLD_START, "--cold-start"), wake_s=seconds(said["wake"] or _WAKE, "--wake"),
    )  # fmt: skip
    with watching() as watch:
        plan = plan_profile(ask, watch=watch)
    deliver("plan-serve-profile", plan, profile_page(plan), as_json=as_json, html=html)
