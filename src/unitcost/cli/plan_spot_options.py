"""Options that say what is known of spot capacity, shared by plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import FilePath, text_option

if TYPE_CHECKING:
    from unitcost.jobs.spot_answers import SpotAsk


_OPTIONS = (
    click.option(
        "--trace",
        "traces",
        type=FilePath(exists=True, dir_okay=False),
        multiple=True,
        help="Recording of spot capacity of one zone; several on one clock for failover.",
    ),
    click.option(
        "--trace-means",
        "means",
        type=click.Choice(["available", "preempted"]),
        help="What a 1 means, where the recording does not say it.",
    ),
    click.option("--gap-seconds", type=float, help="Length of a tick, where the recording does not say it."),
    text_option("--mean-up", metavar="TIME", help="Without a recording: how long capacity stays, such as 6h."),
    text_option("--mean-down", default="1h", show_default=True, metavar="TIME", help="How long it stays away."),
    text_option("--changeover", default="12m", show_default=True, metavar="TIME", help="From capacity until at work."),
    text_option("--write", default="2m", show_default=True, metavar="TIME", help="Time of a checkpoint."),
    text_option("--blocking", metavar="TIME", help="Part of it in which the job stands still.  [default: all]"),
    text_option("--notice", default="0s", show_default=True, metavar="TIME", help="Warning before capacity goes."),
    click.option("--no-checkpoints", is_flag=True, help="The job saves nothing."),
    click.option("--checkpoint-gb", type=float, default=0.0, show_default=True, help="Size of a checkpoint."),
    text_option("--egress-usd-per-gb", default="0.02", show_default=True, help="Moving one to another region."),
    text_option("--storage-usd-per-gb-month", default="0.023", show_default=True, help="Keeping one."),
    text_option("--spot-usd", metavar="USD", help="Price of a node by the hour on spot, where no recording has it."),
    text_option("--on-demand-usd", metavar="USD", help="Price of a node by the hour on demand."),
)


def spot_options(command: Any) -> Any:
    """Options that say what is known of spot capacity, and what a checkpoint costs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def spot_ask(hours: float, deadline_hours: float, nodes: int, *, elastic: bool = False, **said: Any) -> SpotAsk:
    """What is asked, from the options above."""
    from unitcost.jobs.plan_words import amount, seconds
    from unitcost.jobs.plan_words import hours as hours_of
    from unitcost.jobs.spot_answers import SpotAsk
    from unitcost.training.checkpoints import Saving

    changeover_s = seconds(said["changeover"], "--changeover")
    saving = Saving(
        write_s=seconds(said["write"], "--write"), notice_s=seconds(said["notice"], "--notice"), restart_s=changeover_s,
        blocking_s=seconds(said["blocking"], "--blocking") if said["blocking"] else None,
    )  # fmt: skip
    return SpotAsk(
        hours=hours, deadline_hours=deadline_hours, nodes=nodes, changeover_s=changeover_s, elastic=elastic,
        saving=None if said["no_checkpoints"] else saving, traces=tuple(Path(trace) for trace in said["traces"]),
        means=said["means"], gap_s=said["gap_seconds"], checkpoint_gb=said["checkpoint_gb"],
        mean_up_hours=hours_of(said["mean_up"], "--mean-up") if said["mean_up"] else None,
        mean_down_hours=hours_of(said["mean_down"], "--mean-down"),
        on_demand_usd_per_hour=amount(said["on_demand_usd"], "--on-demand-usd") if said["on_demand_usd"] else None,
        spot_usd_per_hour=amount(said["spot_usd"], "--spot-usd") if said["spot_usd"] else None,
        egress_usd_per_gb=amount(said["egress_usd_per_gb"], "--egress-usd-per-gb"),
        storage_usd_per_gb_month=amount(said["storage_usd_per_gb_month"], "--storage-usd-per-gb-month"),
    )  # fmt: skip
