"""Whether what is unknown could change the answer."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from unitcost import money
from unitcost.facts.spend import Firmness


def firmness(amounts: Mapping[str, Decimal], unknown: Decimal) -> Firmness:
    """How firm the order of `amounts` is against an unknown amount that might belong to any of them.

    Parameters
    ----------
    amounts
        Known amounts by name, the unknown apart.
    unknown
        What nobody could place, in the same currency.

    Returns
    -------
    Firmness
        The largest, whether it stays the largest even if all of the unknown went to the runner-up, and the
        names that could overtake it.
    """
    order = sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
    if not order:
        return Firmness(largest="", firm=unknown == 0, overtaking=())
    largest, most = order[0]
    reach = max(unknown, money.ZERO)
    overtaking = tuple(name for name, amount in order[1:] if money.add([amount, reach]) > most)
    hidden_larger = reach > most and not overtaking
    return Firmness(largest=largest, firm=not overtaking and not hidden_larger, overtaking=overtaking)
