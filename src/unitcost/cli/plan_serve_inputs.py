"""Which requests `unitcost plan serve` plays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import text_option
from unitcost.errors import BadSetting, near_names

_OPTIONS = (
    click.option(
        "--trace", "traces", multiple=True, metavar="FILE",
        help="Requests: csv, Azure LLM trace, JSON lines of Mooncake or vLLM, vLLM's log, or a log of calls (OpenTelemetry, "
        "LiteLLM, Langfuse, csv). A pattern in quotes, or the option again, takes several files.",
    ),
    text_option("--calls", metavar="MODEL", help="Instead: calls of this model in the ledger, such as gpt-*, or all."),
)  # fmt: skip


def trace_options(command: Any) -> Any:
    """--trace and --calls."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def trace_files(patterns: Sequence[str]) -> tuple[Path, ...]:
    """Files of the patterns, each once.

    Raises
    ------
    BadSetting
        When one stands for no file.
    """
    from unitcost.jobs.finding import expand

    found: dict[Path, None] = {}
    for pattern in patterns:
        for path in expand(pattern) if pattern.strip() else ():
            found[path] = None
        if not pattern.strip():
            raise BadSetting("--trace is empty", mend="name a file, or leave it out")
    for path in found:
        if not path.is_file():
            there = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
            near = near_names(path.name, there)
            raise BadSetting(
                "there is no such file to take requests from", where=str(path),
                mend=f"did you mean {', '.join(near)}?" if near else "name a file, or a pattern that stands for some",
            )  # fmt: skip
    return tuple(found)
