"""The folder that a user works in: its settings, its ledger, its files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from unitcost import config
from unitcost.attribution.named import with_drivers
from unitcost.attribution.split_notes import check_splits
from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.days import check_day
from unitcost.facts.paths import is_text, printable
from unitcost.facts.rules import Settings
from unitcost.ledger import Ledger, can_hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A folder with its settings.

    Parameters
    ----------
    folder
        Where `unitcost.toml` and the ledger live; relative paths start here.
    settings
        What `unitcost.toml` says, or the defaults.
    now
        The moment that counts as now: real, or fixed by `--as-of`.
    """

    folder: Path
    settings: Settings
    now: datetime

    @property
    def ledger_path(self) -> Path:
        """File of the ledger."""
        return self.folder / self.settings.ledger_path

    def name(self, file: Path) -> str:
        """How the ledger calls a file: relative to the workspace where it lies inside, printable in any case.

        A link is called by what it leads to, one that leads nowhere by itself.
        """
        there = "\0" not in str(file) and os.path.exists(file)
        real = Path(os.path.realpath(file) if there else os.path.abspath(str(file).replace("\0", "\\0")))
        base = Path(os.path.realpath(self.folder) if there else os.path.abspath(self.folder))
        return printable((real.relative_to(base) if real.is_relative_to(base) else real).as_posix())

    def open_ledger(self, *, to_write: bool = False) -> Ledger:
        """Open the ledger; reading needs one that exists.

        Raises
        ------
        UnitcostError
            When there is none to read, or none can be made.
        """
        if not to_write and not self.ledger_path.exists() and can_hold(self.ledger_path.parent):
            raise UnitcostError(
                "there is no ledger yet", where=str(self.ledger_path), mend="run `unitcost load` with your bills first"
            )
        return Ledger.open(self.ledger_path)


def open_workspace(folder: Path | str = ".", *, config_file: Path | None = None, as_of: str = "") -> Workspace:
    """Workspace of a folder.

    Parameters
    ----------
    folder
        Where to work.
    config_file
        Settings file, when it is not the folder's own.
    as_of
        ISO date or moment that counts as now; empty = the clock.

    Raises
    ------
    BadSetting
        When the folder does not exist, `as_of` is no date that a bill could have, or a setting is not allowed or can
        never work.
    UnknownName
        When a charge or a split names a driver that there is not.
    """
    base = Path(folder)
    check_folder(base)
    settings = with_drivers(config.read(base, file=config_file))
    check_splits(settings)
    return Workspace(folder=base, settings=settings, now=_moment(as_of))


def check_folder(folder: Path) -> None:
    """Refuse what is no folder to work in.

    Raises
    ------
    BadSetting
        When it does not exist, is something else, or has a name that the engine cannot open.
    """
    name = printable(str(folder))
    if not os.path.isdir(folder):
        what = f"`{name}` is no folder" if os.path.exists(folder) else f"there is no folder `{name}`"
        raise BadSetting(what, mend="give an existing folder with --folder")
    if not is_text(str(folder)):
        raise BadSetting(f"the name of the folder `{name}` is not valid UTF-8", mend="rename it, or work inside of it")


def _moment(as_of: str) -> datetime:
    if not as_of:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(as_of)
    except ValueError:
        raise BadSetting(f"--as-of is {as_of!r}, not a date", mend="write it as 2026-09-30") from None
    check_day(moment.date(), where="--as-of")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
