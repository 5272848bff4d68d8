"""In which currency a source of calls reports costs."""

from __future__ import annotations

from unitcost.errors import NeedsAnswer
from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.complete import currency_said

_COSTS = ("reported_cost", "estimated_cost", "avoided_cost")


def currency_of(mapping: m.Mapping, options: ReadOptions, known: str = "") -> None:
    """Complete a mapping of calls with the currency of its costs.

    Parameters
    ----------
    known
        Currency that the format has.

    Raises
    ------
    NeedsAnswer
        When there are costs, and neither the file nor the user names their currency.
    """
    if not any(name in mapping for name in _COSTS) or "reported_currency" in mapping:
        return
    code = known or options.currency
    if not code:
        raise NeedsAnswer(
            "the file states costs and not their currency", where="reported_currency",
            mend='say currency = "USD" in [[load]], or --currency USD',
        )  # fmt: skip
    mapping["reported_currency"] = m.Const(currency_said(code, "currency"))
