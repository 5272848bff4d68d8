"""`unitcost plan`: before spending. A table of plans, each loaded when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from unitcost.errors import UnknownName

#: Plan -> (module, line of help).
PLANS: dict[str, tuple[str, str]] = {
    "train": ("unitcost.cli.plan_train", "Time and cost of a training run, on which accelerators and how many."),
    "spot": ("unitcost.cli.plan_spot", "A job with a deadline on spot capacity, and how often it saves."),
    "serve": ("unitcost.cli.plan_serve", "The cheapest way to serve a model inside a latency target."),
    "sweep": ("unitcost.cli.plan_sweep", "What a sweep costs, and what stopping early saves and loses."),
    "cache": ("unitcost.cli.plan_cache", "Whether preprocessed data is worth keeping."),
    "lifetime": ("unitcost.cli.plan_lifetime", "The day on which serving has cost more than training."),
}


class _Plans(click.Group):
    """Group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(PLANS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one plan, or return None when there is none by that name."""
        if cmd_name not in PLANS:
            return None
        command = import_module(PLANS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the plan; an unknown one is answered with the near names."""
        if args and not args[0].startswith("-") and args[0] not in PLANS and not ctx.resilient_parsing:
            raise UnknownName("plan", args[0], PLANS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the plans from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in PLANS.items()])


@click.command("plan", cls=_Plans)
def command() -> None:
    """Plan before spending: training, spot, serving, sweeps, caching, a model's life.

    Every answer is an estimate with a low and a high value, its basis, and what was ruled out and why.
    """
