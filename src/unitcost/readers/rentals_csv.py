"""Own table of prices by the hour: `accelerator, count, usd_per_hour`, and perhaps where, as what and since when."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import get_args

from unitcost.errors import BadFile, UnknownName
from unitcost.facts.rentals import PricingCategory, Rental
from unitcost.readers.planning_table import Line, read_lines


def read(path: Path, *, today: date) -> list[Rental]:
    """Rentals of a table with `accelerator, count, usd_per_hour[, machine, category, region, source, as_of]`.

    Parameters
    ----------
    today
        Date of rows that state none.

    Raises
    ------
    BadFile
        When a column is missing, or a price is no amount.
    UnknownName
        When a category is not known.
    """
    found = [_rental(line, today) for line in read_lines(path, needs=("accelerator", "count", "usd_per_hour"))]
    if not found:
        raise BadFile("the table has no rows", where=path.name, mend="give accelerator, count and usd_per_hour")
    return found


def _rental(line: Line, today: date) -> Rental:
    currency = line.text("currency").upper()
    if currency not in ("", "USD"):
        raise BadFile(
            f"the price is in {currency}, the column is `usd_per_hour`", where=line.where,
            mend="convert the amount to USD, and leave the currency out",
        )  # fmt: skip
    category = line.text("category") or "on-demand"
    known: tuple[PricingCategory, ...] = get_args(PricingCategory)
    matching = [name for name in known if name == category]
    if not matching:
        raise UnknownName("category", category, known, where=line.where)
    return Rental(
        accelerator=line.text("accelerator"), machine=line.text("machine"), count=int(line.needed("count", least=1)),
        usd_per_hour=line.amount("usd_per_hour"), category=matching[0], region=line.text("region"),
        source=line.text("source") or line.where, as_of=line.day("as_of") if line.text("as_of") else today,
    )  # fmt: skip
