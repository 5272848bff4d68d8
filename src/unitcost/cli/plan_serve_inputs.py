"""Which requests `unitcost plan serve` plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import text_option
from unitcost.errors import BadSetting, near_names

if TYPE_CHECKING:
    from unitcost.jobs.serve_cache import CacheTerms

_OPTIONS = (
    click.option(
        "--trace", "traces", multiple=True, metavar="FILE",
        help="Requests: csv, Azure LLM trace, JSON lines of Mooncake or vLLM, vLLM's log, or a log of calls (OpenTelemetry, "
        "LiteLLM, Langfuse, csv). A pattern in quotes, or the option again, takes several files.",
    ),
    text_option("--calls", metavar="MODEL", help="Instead: calls of this model in the ledger, such as gpt-*, or all."),
)  # fmt: skip
_CACHE = (
    click.option(
        "--cache-entries", type=click.IntRange(min=1), default=100_000, show_default=True,
        help="Answers that the prediction cache holds, with --levers or --profile.",
    ),
    text_option("--cache-ttl", default="1h", show_default=True, metavar="TIME", help="How long it may use an answer."),
    text_option("--cache-lookup-usd-per-1k", metavar="USD", help="What 1k lookups cost.  [default: 0.001, assumed]"),
    text_option("--cache-usd-per-gb-month", metavar="USD", help="What its memory costs.  [default: 100, assumed]"),
    text_option("--cache-entry", metavar="SIZE", help="Size of an answer with its key.  [default: 4kib, assumed]"),
)  # fmt: skip


def cache_options(command: Any) -> Any:
    """Options of the prediction cache."""
    for option in reversed(_CACHE):
        command = option(command)
    return command


def cache_terms(said: Mapping[str, Any]) -> CacheTerms:
    """The prediction cache that is tried."""
    from unitcost.jobs.bench_words import memory_bytes
    from unitcost.jobs.plan_words import amount, seconds
    from unitcost.jobs.serve_cache import CacheTerms

    terms = CacheTerms(entries=said["cache_entries"], ttl_s=seconds(said["cache_ttl"], "--cache-ttl"))
    if said["cache_lookup_usd_per_1k"]:
        usd = amount(said["cache_lookup_usd_per_1k"], "--cache-lookup-usd-per-1k")
        terms = replace(terms, lookup_usd_per_1k=usd)
    if said["cache_usd_per_gb_month"]:
        terms = replace(terms, usd_per_gb_month=amount(said["cache_usd_per_gb_month"], "--cache-usd-per-gb-month"))
    if said["cache_entry"]:
        terms = replace(terms, entry_bytes=memory_bytes(said["cache_entry"], "--cache-entry"))
    return terms


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
        if not pattern.strip():
            raise BadSetting("--trace is empty", mend="name a file, or leave it out")
        files = expand(pattern)
        if not files:
            raise BadSetting(
                "the folder holds no file to take requests from", where=pattern, mend="name a file, or another folder"
            )
        found.update(dict.fromkeys(files))
    for path in found:
        if not path.is_file():
            there = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
            near = near_names(path.name, there)
            raise BadSetting(
                "there is no such file to take requests from", where=str(path),
                mend=f"did you mean {', '.join(near)}?" if near else "name a file, or a pattern that stands for some",
            )  # fmt: skip
    return tuple(found)
