"""Options of `unitcost plan serve` about cold starts, and about fleets over the whole traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import FilePath, text_option
from unitcost.errors import BadSetting

if TYPE_CHECKING:
    from unitcost.jobs.fleet_answers import FleetAsk
    from unitcost.jobs.plan_serve_cold import ColdAsk

_OPTIONS = (
    click.option(
        "--fleets",
        "with_fleets",
        is_flag=True,
        help="Also fleets over all of the traffic: fixed, autoscaled, with a warm pool, spot with and without fallback.",
    ),
    text_option("--cold-start", metavar="TIME", help="From nothing to ready.  [default: the parts; --profile and --cooldowns: 60s]"),
    text_option("--provision", metavar="TIME", help="Part of it: until the machine is there.  [default: 60s]"),
    text_option("--image", metavar="TIME", help="Part of it: fetching the image.  [default: 60s]"),
    text_option("--warm-up", metavar="TIME", help="Part of it: compiling, capturing graphs.  [default: 60s]"),
    text_option("--load-gb-per-s", metavar="N", help="Part of it: weights read by each GPU.  [default: 2]"),
    text_option("--wake", metavar="TIME", help="From the warm pool to ready.  [default: 2s; --profile: 1s]"),
    text_option(
        "--standby-usd-per-hour",
        metavar="USD",
        help="In the warm pool, per GPU (--profile: per replica).  [default: the same as in service]",
    ),
    click.option("--warm-pool", type=click.IntRange(min=1), help="With --fleets.  [default: the fewest that do]"),
    click.option(
        "--kills-per-hour", type=click.FloatRange(min=0), default=0.5, show_default=True,
        help="With --fleets: losses of one spot replica.",
    ),
    text_option("--away", default="90m", show_default=True, metavar="TIME", help="With --fleets: until it is back."),
    text_option("--notice", default="2m", show_default=True, metavar="TIME", help="With --fleets: warning before."),
    click.option(
        "--spot-trace", type=FilePath(exists=True, dir_okay=False),
        help="With --fleets: recorded spot capacity instead, as `plan spot` reads it.",
    ),
    click.option(
        "--spot-trace-means", type=click.Choice(["available", "preempted"]),
        help="What a 1 means, where it does not say it.",
    ),
    click.option("--spot-gap-seconds", type=float, help="Length of its tick, where it does not say it."),
)  # fmt: skip
_PARTS = ("provision", "image", "warm_up", "load_gb_per_s")


def fleet_options(command: Any) -> Any:
    """Options about cold starts and fleets."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def cold_ask(said: dict[str, Any]) -> ColdAsk:
    """What is said of cold starts."""
    from unitcost.jobs.plan_serve_cold import ColdAsk
    from unitcost.jobs.plan_words import quantity, seconds

    parts = [name for name in _PARTS if said[name]]
    if said["cold_start"] and parts:
        raise BadSetting(
            f"--cold-start and --{parts[0].replace('_', '-')} are both given", mend="give the whole, or its parts"
        )
    given: dict[str, float] = {
        f"{name}_s": seconds(said[name], f"--{name.replace('_', '-')}")
        for name in ("provision", "image", "warm_up", "wake")
        if said[name]
    }
    if said["load_gb_per_s"]:
        given["load_gb_per_s"] = quantity(said["load_gb_per_s"], "--load-gb-per-s")
    if said["cold_start"]:
        given["total_s"] = seconds(said["cold_start"], "--cold-start")
    return ColdAsk(**given)


def fleet_ask(said: dict[str, Any]) -> FleetAsk:
    """What is asked of fleets."""
    from unitcost.jobs.fleet_answers import FleetAsk
    from unitcost.jobs.plan_words import amount, seconds

    standby = said["standby_usd_per_hour"]
    away_s = seconds(said["away"], "--away")
    if not away_s > 0:
        raise BadSetting("--away is no time at all", mend="give the mean time until lost capacity is back, such as 90m")
    return FleetAsk(
        warm_pool=said["warm_pool"] or 0, kills_per_hour=said["kills_per_hour"], away_s=away_s,
        standby_usd_per_gpu_hour=amount(standby, "--standby-usd-per-hour") if standby else None,
        notice_s=seconds(said["notice"], "--notice"), spot_trace=said["spot_trace"],
        trace_means=said["spot_trace_means"], gap_s=said["spot_gap_seconds"],
    )  # fmt: skip
