"""The command line: a table of commands, each loaded when it is called.

A command file has one click command by the name `command`. It reads arguments, calls one job and prints.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from unitcost import __version__
from unitcost.errors import UnitcostError, UnknownName

#: Command -> (module, line of help), in the order of `--help`. The line stands here so that help loads no command.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("unitcost.cli.init", "Look at the files here and write unitcost.toml."),
    "load": ("unitcost.cli.load", "Read bills and outputs into the ledger."),
    "check": ("unitcost.cli.check", "Say what agrees with the invoices, and what cannot be answered yet."),
    "report": ("unitcost.cli.report", "Print drivers, owners, unit costs and waste; the total equals the bill."),
    "explain": ("unitcost.cli.explain", "Unfold one figure down to its rows and its formula."),
    "prices": ("unitcost.cli.prices", "Look up prices of machines, models and services, with date and source."),
    "plan": ("unitcost.cli.plan", "Plan before spending: training, spot, sweeps, caching, a model's life."),
    "calibrate": ("unitcost.cli.calibrate", "Fit the models behind plans to what you measured."),
    "measure": ("unitcost.cli.measure", "Measure a real model or endpoint, and caches of predictions."),
    "compress": ("unitcost.cli.compress", "Bring a model into smaller forms and measure each beside the original."),
    "compare": ("unitcost.cli.compare", "Find the cheapest option at fixed quality; say what is ruled out and why."),
    "demo": ("unitcost.cli.demo", "Write a sample workspace and show its report."),
}
#: New objects after which garbage is looked for; a command lives for seconds and makes hardly any.
_GARBAGE_FROM = 50_000
#: What a shell reports for a program that a signal ended: 128 + SIGINT, 128 + SIGPIPE.
_INTERRUPTED, _PIPE_CLOSED = 130, 141
_SYSTEM_MENDS = {
    errno.ENOSPC: "free some space on the disk, and try again",
    errno.EDQUOT: "free some space on the disk, and try again",
    errno.EROFS: "work where files can be written",
    errno.EISDIR: "name a file, not a folder",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.ENOENT: "check the path; a folder must exist before a file is written into it",
}


class LazyGroup(click.Group):
    """Group whose commands come from a table and are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, or return None when there is none by that name."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the near names."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise UnknownName("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what a user can mend becomes one message on standard error."""
        try:
            return super().invoke(ctx)
        except UnitcostError as error:
            if ctx.params.get("debug"):
                _print_traceback(error)
            click.echo(_printable(str(error)), err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(_INTERRUPTED)
        except BrokenPipeError:
            _close_pipe()
        except OSError as error:
            if ctx.params.get("debug"):
                _print_traceback(error)
            click.echo(str(_of_system(error)), err=True)
            ctx.exit(1)


def _printable(text: str) -> str:
    """Text in which what steers a terminal is spelt out, line by line."""
    from unitcost.facts.paths import printable

    return "\n".join(map(printable, text.split("\n")))


def _of_system(error: OSError) -> UnitcostError:
    """What the system refuses, as a message with what to do about it."""
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else "output"
    mend = _SYSTEM_MENDS.get(error.errno or 0, "check the path and its rights")
    return UnitcostError(error.strerror or str(error), where=where, mend=mend)


def _print_traceback(error: Exception) -> None:
    import traceback

    traceback.print_exception(error, file=sys.stderr)


def _close_pipe() -> NoReturn:
    """End quietly when the reader of standard output has gone; nothing may be flushed into it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(_PIPE_CLOSED)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="unitcost", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show where in the program an error arose.")
def cli(debug: bool) -> None:
    """Say what machine learning costs, what one useful unit costs, and what to change.

    Files in, no account, no key, offline. Answers go to standard output, talk to standard error.
    Exit codes: 0 in order, 1 the tool or the data failed, 2 wrong usage, 3 a threshold was passed.
    """


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(_GARBAGE_FROM)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a sign that the terminal cannot show must not end the program
            stream.reconfigure(errors="backslashreplace")
    try:
        cli.main(prog_name="unitcost")
    finally:
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            _close_pipe()
