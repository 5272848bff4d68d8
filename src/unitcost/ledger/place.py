"""Where a ledger is or could be made, told from what the engine would open in its stead."""

from __future__ import annotations

import os
from pathlib import Path

from unitcost.errors import LedgerMismatch, UnitcostError
from unitcost.facts.paths import kind_of

#: A ledger that is kept nowhere, for tests and trials.
IN_MEMORY = ":memory:"
_MAGIC, _MAGIC_AT = b"DUCK", 8


def address(file: Path) -> str:
    """Path as the engine takes it: never for the address of a service, such as `md:ledger`."""
    return str(file) if file.is_absolute() or str(file) == IN_MEMORY else os.path.join(os.curdir, file)


def can_hold(folder: Path) -> bool:
    """Whether a folder is there or could be made: nothing on the way to it is a file."""
    nearest = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    return nearest.is_dir() or not os.path.lexists(nearest)


def make_folder(folder: Path) -> None:
    """Make the folder of a ledger, if it is not there.

    Raises
    ------
    UnitcostError
        When it cannot be made.
    """
    if not can_hold(folder):
        raise UnitcostError(
            "the ledger needs a folder of this name, and it is something else", where=str(folder),
            mend="move it away, or set another `store` under [ledger]",
        )  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnitcostError(
            f"the folder of the ledger cannot be made ({error.strerror})", where=str(folder),
            mend="check the rights of the folder around it, or set another `store` under [ledger]",
        ) from error  # fmt: skip


def check_place(file: Path) -> None:
    """Refuse what is there and is no ledger; the engine would open a csv as a table and keep nothing.

    Raises
    ------
    LedgerMismatch
        When something else is there.
    """
    if str(file) == IN_MEMORY or not file.exists():
        return
    mode, size = file.stat().st_mode, file.stat().st_size
    what = f"it is {kind_of(mode)}, not a ledger" if not file.is_file() else ""
    if not what and size and not _is_ledger(file):
        what = "it is a file of another kind, not a ledger"
    if what:
        raise LedgerMismatch(what, where=str(file), mend="set another `store` under [ledger], or move it away")


def _is_ledger(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAGIC_AT + len(_MAGIC)).endswith(_MAGIC)
    except OSError:
        return True  # the engine says what is wrong with it
