"""`unitcost measure`: the bench. A table of measurements, each loaded when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from unitcost.errors import UnknownName

#: Measurement -> (module, line of help).
MEASUREMENTS: dict[str, tuple[str, str]] = {
    "model": (
        "unitcost.cli.measure_model",
        "Profile your own model: speed, memory, precision and quality on your data.",
    ),
    "endpoint": (
        "unitcost.cli.measure_endpoint",
        "Load an endpoint: latency from when requests are due, and the highest rate.",
    ),
    "merge": ("unitcost.cli.measure_merge", "Join results of many machines into one table, with prices."),
    "cache": ("unitcost.cli.measure_cache", "What a cache of predictions would do to a log of requests."),
}


class _Measurements(click.Group):
    """Group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(MEASUREMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one measurement, or return None when there is none by that name."""
        if cmd_name not in MEASUREMENTS:
            return None
        command = import_module(MEASUREMENTS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the near names."""
        if args and not args[0].startswith("-") and args[0] not in MEASUREMENTS and not ctx.resilient_parsing:
            raise UnknownName("measurement", args[0], MEASUREMENTS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the measurements from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in MEASUREMENTS.items()])


@click.command("measure", cls=_Measurements)
def command() -> None:
    """Measure a real model or endpoint. Needs `pip install 'unitcost[measure]'`."""
