"""The folder that a user works in: its settings, its ledger, its files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from unitcost import config
from unitcost.attribution.named import with_drivers
from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.days import check_day
from unitcost.facts.rules import Settings
from unitcost.ledger import Ledger


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
        """How the ledger calls a file: relative to the workspace where it lies inside."""
        resolved = file.resolve()
        base = self.folder.resolve()
        return resolved.relative_to(base).as_posix() if resolved.is_relative_to(base) else resolved.as_posix()

    def open_ledger(self, *, to_write: bool = False) -> Ledger:
        """Open the ledger; reading needs one that exists.

        Raises
        ------
        UnitcostError
            When there is none to read.
        """
        if not to_write and not self.ledger_path.exists():
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
        When the folder does not exist or `as_of` is no date that a bill could have.
    UnknownName
        When a charge or a split names a driver that there is not.
    """
    base = Path(folder)
    if not base.is_dir():
        raise BadSetting(f"there is no folder `{folder}`", mend="give an existing folder with --folder")
    settings = with_drivers(config.read(base, file=config_file))
    return Workspace(folder=base, settings=settings, now=_moment(as_of))


def _moment(as_of: str) -> datetime:
    if not as_of:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(as_of)
    except ValueError:
        raise BadSetting(f"--as-of is {as_of!r}, not a date", mend="write it as 2026-09-30") from None
    check_day(moment.date(), where="--as-of")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
