"""Whether what is unknown could change the answer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise

from unitcost import money
from unitcost.facts.answers import Firmness


def firmness(amounts: Mapping[str, Decimal], unknown: Decimal) -> Firmness:
    """How firm the order of `amounts` is against an unknown amount that might belong to any of them.

    Parameters
    ----------
    amounts
        Known amounts by name, the unknown apart.
    unknown
        What nobody could place, in the same currency. One below zero (credits) might belong to the largest, so
        its size counts.

    Returns
    -------
    Firmness
        The largest; whether it stays the largest even if all of the unknown were another's; the names that could
        reach it; and the neighbours in the order that could change places. Equal amounts are not in a firm order.
    """
    order = sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
    reach = abs(unknown)
    if not order:
        return Firmness(largest="", firm=reach == 0, overtaking=())
    largest, most = order[0]
    overtaking = tuple(name for name, amount in order[1:] if money.add([amount, reach]) >= most)
    flips = tuple(
        (above, below) for (above, more), (below, less) in pairwise(order) if money.add([less, reach]) >= more
    )
    # The unknown might also be one thing that has no name yet.
    hidden_larger = reach >= most and reach > 0
    return Firmness(largest=largest, firm=not overtaking and not hidden_larger, overtaking=overtaking, flips=flips)
