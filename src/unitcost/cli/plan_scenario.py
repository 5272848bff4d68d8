"""A plan's options from a file: the same names, without dashes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import FilePath
from unitcost.errors import BadSetting, UnknownName


def scenario_option(command: Any) -> Any:
    """--scenario: a TOML file whose keys are options of the command; what is said on the command line wins."""
    return click.option(
        "--scenario", type=FilePath(exists=True, dir_okay=False), is_eager=True, expose_value=False, callback=_take,
        help="TOML file with options of this command, such as `tokens = 140e9`.",
    )(command)  # fmt: skip


def _take(context: click.Context, option: click.Parameter, path: Path | None) -> None:
    if path is None:
        return
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(
            f"the file is not TOML ({error})", where=path.name, mend="write `key = value` lines"
        ) from error
    options = {name.lstrip("-").replace("-", "_"): p for p in context.command.params for name in p.opts}
    found = {}
    for key, value in said.items():
        folded = key.replace("-", "_")
        if folded not in options:
            raise UnknownName("option", key, [name.replace("_", "-") for name in options], where=path.name)
        found[options[folded].name or ""] = _value(value, options[folded])
    context.default_map = {**(context.default_map or {}), **found}


def _value(value: Any, option: click.Parameter) -> Any:
    """Value as the command line would give it; an option that may be repeated takes a list, or one value."""
    if isinstance(value, bool):
        return value
    if getattr(option, "multiple", False):
        return [str(one) for one in (value if isinstance(value, list) else [value])]
    return value if isinstance(value, list) else str(value)
