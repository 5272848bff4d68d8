"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

from unitcost.errors import BadSetting

Command = TypeVar("Command", bound=Callable[..., Any])

_PRICED = ("instance", "model", "storage", "transfer", "request")
_CATEGORIES = ("Standard", "Dynamic", "Committed", "Other")
#: How many rows are shown; more than anybody prints would be more than the engine counts.
ROW_COUNT = click.IntRange(min=0, max=1_000_000_000)
_COSTS = ("billed", "effective", "list", "contracted")


def text_option(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Option with a text: empty when it is left out; given empty, as by a shell variable that is not set, it is refused."""
    return click.option(*names, callback=_given, **attributes)


def share_option(*names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Option with a share written as `0.01`, `1%` or `1pt`; a number without a mark is taken as it stands."""
    return click.option(*names, callback=_share, metavar="SHARE", **attributes)


def _share(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    text = value.strip()
    bare = text.removesuffix("%").removesuffix("pt").removesuffix("points").removesuffix("point").strip()
    try:
        number = Decimal(bare)
    except ArithmeticError:
        raise BadSetting(f"{option.opts[0]} is {value!r}, no number", mend="write it like 0.01, 1% or 1pt") from None
    return float(number if bare == text else number.scaleb(-2))


def _given(context: click.Context, option: click.Parameter, value: str | None) -> str:
    if value is None:
        return ""
    _refuse_empty(option, value)
    return value


def _refuse_empty(option: click.Parameter | None, value: str | os.PathLike[str]) -> None:
    if not os.fspath(value).strip():
        name = option.opts[0] if option else "a path"
        raise BadSetting(f"{name} is empty", mend="give it a value, or leave it out")


class FilePath(click.Path):
    """Path of a file that is read or written; an empty one is refused, for it would mean the folder itself."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(path_type=Path, **attributes)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Path of the text."""
        _refuse_empty(param, value)
        return super().convert(value, param, ctx)


def workspace_options(command: Command) -> Command:
    """--folder, --config and --as-of: where to work, and when "now" is."""
    for option in (
        text_option("--as-of", metavar="DATE", help="Date that counts as now, for repeatable answers."),
        click.option(
            "--config",
            "config_file",
            type=FilePath(dir_okay=False, exists=True),
            help="Settings file; by default unitcost.toml or pyproject.toml of the folder.",
        ),
        text_option("--folder", "-C", default=".", metavar="DIR", help="Folder to work in.", show_default=True),
    ):
        command = option(command)
    return command


def selection_options(command: Command) -> Command:
    """--month, --from, --to, --cost, --place, --timezone, --currency: which charges, and which cost of theirs."""
    for option in (
        text_option("--currency", help="Only charges billed in this currency."),
        text_option("--timezone", help="Zone of months and days: an IANA name or an offset like -05:00."),
        click.option(
            "--place",
            type=click.Choice(["billing", "charge"]),
            default="billing",
            show_default=True,
            help="Put charges into months by billing period (closes) or by when the usage happened.",
        ),
        click.option(
            "--cost",
            type=click.Choice(_COSTS),
            default=None,
            help="The one cost to add up.  [default: that of the settings, else effective]",
        ),
        text_option("--to", "until", metavar="YYYY-MM", help="Last month of a range."),
        text_option("--from", "since", metavar="YYYY-MM", help="First month of a range."),
        text_option("--month", metavar="YYYY-MM", help="One month; without it, all that is loaded."),
    ):
        command = option(command)
    return command


def json_option(command: Command) -> Command:
    """--json: the answer for a machine, on standard output."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command)


def warn_option(command: Command) -> Command:
    """--warn-only: a passed threshold is said, but the exit code stays 0."""
    return click.option("--warn-only", is_flag=True, help="Exit 0 even when a threshold was passed.")(command)


def price_options(command: Command) -> Command:
    """--provider, --region, --category, --kind: which prices."""
    for option in (
        click.option("--kind", type=click.Choice(_PRICED), default=None, help="Only prices of this kind."),
        click.option(
            "--category",
            type=click.Choice(_CATEGORIES, case_sensitive=False),
            default=None,
            help="Only this category: Standard = on-demand, Dynamic = spot.",
        ),
        click.option("--region", default="", metavar="GLOB", help="Only this region, or those like us-*."),
        click.option("--provider", default="", metavar="NAME", help="Only this provider."),
    ):
        command = option(command)
    return command


def at_option(command: Command) -> Command:
    """--at: the moment whose prices are asked for."""
    return click.option("--at", default="", metavar="DATE", help="Prices in force then.  [default: now]")(command)
