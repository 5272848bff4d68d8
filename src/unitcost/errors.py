"""One base error; its heirs are what a caller may want to catch.

Every message says what went wrong, where, and how to mend it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UnitcostError(Exception):
    """Something the user can understand and mend.

    Parameters
    ----------
    what
        What is wrong, in one clause.
    where
        File and row, setting, or figure it stands at; empty when there is no place.
    mend
        What to do about it; empty when nothing can be suggested.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(what)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        stop = "" if text.endswith("?") else "."
        return f"{text}{stop} Mend: {self.mend}" if self.mend else text


class BadFile(UnitcostError):
    """A file cannot be read at all: binary, truncated, wrong encoding, no reader knows it."""


class BadBill(UnitcostError):
    """A bill can be opened but what it says is doubtful or contradicts itself."""


class NeedsAnswer(UnitcostError):
    """The data leaves a doubt that only the user can settle: a currency, a date order, a time zone."""


class BadSetting(UnitcostError):
    """`unitcost.toml` or an option holds something that is not allowed."""

    exit_code = 2


class UnknownName(UnitcostError):
    """A name that is not known here; the message names the near ones."""

    exit_code = 2

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "", mend: str = "") -> None:
        names = sorted(set(known))
        hint = did_you_mean(name, names)
        listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        super().__init__(
            f"there is no {kind} `{name}`" + (f"; {hint}" if hint else ""),
            where=where,
            mend=mend or (f"use one of: {listed}" if names else ""),
        )


class LedgerBusy(UnitcostError):
    """Another process holds the ledger."""


class LedgerMismatch(UnitcostError):
    """The ledger on disk is of another schema version, or is damaged."""


class PartOrRestatement(UnitcostError):
    """A new file holds mostly rows that the ledger already has."""


class DoesNotClose(UnitcostError):
    """The ledger and the invoice differ."""

    exit_code = 3


class BadPrice(UnitcostError):
    """A price, or a file of prices, contradicts itself or cannot be read."""


class NoPrice(UnitcostError):
    """There is such a thing, but no price of it for that place, category or time."""


class NotMeasured(UnitcostError):
    """Nobody has measured that model on that hardware in that way, or the package that knows is not installed."""


class DoesNotFit(UnitcostError):
    """A model does not fit into the memory it was given; the mend names the smallest change that fits."""


class CurrencyMix(UnitcostError):
    """Amounts of unlike currencies were about to be added."""


class MissingLibrary(UnitcostError):
    """Something needs a library that is installed with an extra."""

    def __init__(self, library: str, extra: str, what: str) -> None:
        super().__init__(f"{what} needs the library {library}", mend=f"pip install 'unitcost[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Question that names what `name` may have been meant for; empty when nothing looks like it."""
    near = near_names(name, known)
    return f"did you mean {' or '.join(f'`{found}`' for found in near)}?" if near else ""


def near_names(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Known names that look like `name`, nearest first, letter case ignored."""
    by_folded: dict[str, str] = {}
    for known_name in sorted(set(known)):
        by_folded.setdefault(known_name.casefold(), known_name)
    return [by_folded[n] for n in difflib.get_close_matches(name.casefold(), list(by_folded), n=most, cutoff=0.6)]
