"""`unitcost init`: settings for the files that are here."""

from __future__ import annotations

from pathlib import Path

import click

from unitcost.cli.options import text_option


@click.command("init")
@text_option("--folder", "-C", default=".", metavar="DIR", help="Folder to look at.", show_default=True)
@click.option("--force", is_flag=True, help="Write the settings anew when there are some already.")
def command(folder: str, force: bool) -> None:
    """Look at the files here and write unitcost.toml."""
    from unitcost.facts.paths import printable
    from unitcost.jobs.init import init

    outcome = init(Path(folder), force=force)
    for pattern, reader in outcome.found:
        click.echo(f"{printable(pattern)}: {reader}")
    for name, reason in outcome.unread:
        click.echo(f"{name}: not read ({reason})", err=True)
    click.echo(f"wrote {outcome.path}; next: unitcost load", err=True)
