"""Write the pages of `docs/reference` that are made from the program: commands, readers, metrics, drivers.

    python docs/make_reference.py

`tests/test_docs.py` fails when a page on disk is not what this makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import groupby
from pathlib import Path

import click

from unitcost.cli import COMMANDS, cli

FOLDER = Path(__file__).resolve().parent / "reference"
_MADE = "<!-- made by docs/make_reference.py; do not edit -->"


def commands() -> str:
    """Page of the commands: the help of each."""
    parts = ["# Commands", _MADE, _help(cli, "unitcost")]
    for name, (module, _) in COMMANDS.items():
        command = import_module(module).command
        parts += [f"## `unitcost {name}`", _help(command, f"unitcost {name}")]
        for inner, subcommand in _inner(command):
            parts += [f"### `unitcost {name} {inner}`", _help(subcommand, f"unitcost {name} {inner}")]
    return _page(parts)


def readers() -> str:
    """Page of the readers: what each takes for granted."""
    from unitcost.readers import READERS

    parts = [
        "# Readers",
        _MADE,
        "A file is read by the reader that knows most of its columns; its name plays no part. Force one with"
        ' `reader = "NAME"` in a `[[load]]` entry or with `--reader NAME`. Other packages add readers through the'
        " entry point `unitcost.readers`.",
    ]
    for name, reader in sorted(READERS.items()):
        known = ", ".join(f"`{column}`" for column in reader.DEFINING)
        parts += [f"## `{name}`", f"Known by: {known}." if known else "", _list(reader.CONVENTIONS)]
    return _page(parts)


def drivers() -> str:
    """Page of the shipped driver rules, in the order in which they are tried."""
    from unitcost.attribution.drivers import SHIPPED

    parts = [
        "# Drivers",
        _MADE,
        "Rules of `[[drivers]]` in the settings come first, then these, in this order. The first match wins. The report"
        " names the rule beside the rows it placed. A charge that no rule knows has the driver `unknown`.",
    ]
    for group, rules in groupby(SHIPPED, key=lambda rule: rule.name.partition("/")[0]):
        rows = [f"| {rule.name} | {rule.driver} | `{rule.when.text.replace('|', chr(92) + '|')}` |" for rule in rules]
        parts += [f"## {group}", "\n".join(["| rule | driver | condition |", "| --- | --- | --- |", *rows])]
    return _page(parts)


def prices() -> str:
    """Page of the price book: its sources with their licences, and the checks that stand before it."""
    from unitcost.prices import bundled
    from unitcost.prices.feeds import FEEDS
    from unitcost.prices.recording import CHECKS

    book = bundled()
    feeds = [f"| {feed.name} | {feed.provider} | {feed.licence} |" for feed in FEEDS.values()]
    rows = [f"| {s.name} | {s.revision} | {s.licence} |" for _, s in sorted(book.sources.items())]
    checks = [f"`{check.__name__}`: {_first_line(check)}" for check in CHECKS]
    return _page(
        [
            "# Prices",
            _MADE,
            "The tables that ship hold figures from these sources, at these revisions. A row whose source does not state"
            " that it may be used is left out.",
            "\n".join(["| source | revision | licence |", "| --- | --- | --- |", *rows]),
            "## Feeds",
            "`unitcost prices refresh` reads these again; `genai-prices` reads the list of models.",
            "\n".join(["| feed | provider | licence |", "| --- | --- | --- |", *feeds]),
            "## Checks",
            "What a source lists passes these checks, in this order, before it becomes a price record. A listing is"
            " repaired, loses a value, is flagged or is dropped; each finding is said.",
            _list(checks),
        ]
    )


def metrics() -> str:
    """Page of the metrics that are read from Prometheus."""
    from unitcost.readers.work.prometheus_metrics import KUBE, METRICS, parts_of

    rows = [
        f"| {', '.join(f'`{native}`' for native in part.natives)} | `{part.name}` | {part.kind} | {part.unit or 'none'} |"
        f" {part.counts} |"
        for metric in METRICS
        for part in parts_of(metric)
    ]
    kube = [f"| `{name}` | {meaning} |" for name, meaning in KUBE.items()]
    return _page([
        "# Metrics",
        _MADE,
        "What the reader `prometheus` takes from answers and scrapes; see [Read metrics](../how-to/read-metrics.md). Numbers"
        " are kept in the unit of the source. A name may also be written with `_` for `:`, and with or without `_total`.",
        "\n".join(["| name at the source | our name | kind | unit | what it says |", "| --- | --- | --- | --- | --- |", *rows]),
        "## kube-state-metrics",
        "\n".join(["| name at the source | what is made of it |", "| --- | --- |", *kube]),
    ])  # fmt: skip


PAGES = {
    "commands.md": commands, "readers.md": readers, "metrics.md": metrics, "drivers.md": drivers, "prices.md": prices,
}  # fmt: skip


def _inner(command: click.Command) -> list[tuple[str, click.Command]]:
    """Commands of a group by name, those too that are imported only when they are called."""
    if not isinstance(command, click.Group):
        return []
    context = click.Context(command)
    found = ((name, command.get_command(context, name)) for name in sorted(command.list_commands(context)))
    return [(name, inner) for name, inner in found if inner is not None]


def _help(command: click.Command, name: str) -> str:
    context = click.Context(
        command, info_name=name, max_content_width=100, terminal_width=100, help_option_names=["-h", "--help"]
    )
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return "\n".join(["```text", *lines, "```"])


def _first_line(thing: Callable[..., object]) -> str:
    return (thing.__doc__ or "").splitlines()[0]


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page, make in PAGES.items():
        (FOLDER / page).write_text(make(), encoding="utf-8")
