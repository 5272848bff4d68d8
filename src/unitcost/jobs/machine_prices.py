"""What a machine that something was measured on costs an hour."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from unitcost.errors import UnknownName
from unitcost.jobs.compare import PriceOf
from unitcost.jobs.prices import open_book
from unitcost.jobs.workspace import Workspace
from unitcost.prices import Wanted


def price_of(workspace: Workspace, own_usd_per_hour: Mapping[str, Decimal], *, category: str = "Standard") -> PriceOf:
    """Function from the name of a machine to its price: the user's own, else that of the price book, else None.

    Parameters
    ----------
    own_usd_per_hour
        Machine -> price; the key `""` is for all machines. [USD/h]
    category
        Category of the book's prices.

    Notes
    -----
    A name may end in a region: `m7i.large:us-east-1`. Of several prices in force the lowest is taken.
    """
    book = open_book(workspace)

    def found(machine: str) -> Decimal | None:
        own = own_usd_per_hour.get(machine, own_usd_per_hour.get(""))
        if own is not None:
            return own
        sku, _, region = machine.partition(":")
        wanted = Wanted(kind="instance", sku=sku, region=region, category=category)
        try:
            items = [item for item in book.find(wanted, workspace.now) if not item.record.zone]
        except UnknownName:
            return None
        return min((item.record.price for item in items), default=None)

    return found
