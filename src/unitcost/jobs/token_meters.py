"""Tokens that bills count by meters of their own, and what a million of them was billed at."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from unitcost import money
from unitcost.attribution.token_meters import token_meter, tokens_of
from unitcost.economics.token_costs import amount_per_mtok, mix_of
from unitcost.facts.token_answers import MeteredTokens
from unitcost.facts.tokens import INPUT_CLASSES
from unitcost.jobs.sellers import seller

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking

_Amounts = list[tuple[Decimal, Decimal]]


def metered_tokens(asking: Asking) -> list[MeteredTokens]:
    """Tokens by provider, model and variant, the dearest first; meters that do not say what they count are left out."""
    if asking.selection.place == "charge" and (asking.selection.start or asking.selection.end):
        return []  # meters are summed by billing period
    billed = asking.selection.cost == "billed"
    found: dict[tuple[str, str, str, str], dict[bool, _Amounts]] = defaultdict(lambda: defaultdict(list))
    for charge in asking.ledger.work.metered(asking.selection):
        meter = token_meter(charge)
        tokens = tokens_of(charge) if meter is not None else None
        cost = charge.billed_cost if billed else charge.effective_cost
        if meter is None or tokens is None or cost is None or asking.currency not in ("", charge.currency):
            continue
        key = (seller(charge.provider), meter.model, meter.variant, charge.currency)
        found[key][meter.token_class in INPUT_CLASSES].append((tokens, cost))
    lines = [_line(key, sides.get(True, []), sides.get(False, [])) for key, sides in found.items()]
    return sorted(lines, key=lambda line: (-line.cost, line.provider, line.model))


def _line(key: tuple[str, str, str, str], taken: _Amounts, made: _Amounts) -> MeteredTokens:
    (input_tokens, input_cost), (output_tokens, output_cost) = (
        (money.add(tokens for tokens, _ in side), money.add(cost for _, cost in side)) for side in (taken, made)
    )
    provider, model, variant, currency = key
    cost, tokens = money.add([input_cost, output_cost]), money.add([input_tokens, output_tokens])
    return MeteredTokens(
        provider=provider, model=model, variant=variant, currency=currency, input_tokens=input_tokens,
        output_tokens=output_tokens, input_cost=input_cost, output_cost=output_cost,
        per_input=amount_per_mtok(input_cost, input_tokens), per_output=amount_per_mtok(output_cost, output_tokens),
        cost=cost, blended=amount_per_mtok(cost, tokens), blend=mix_of(input_tokens, output_tokens),
    )  # fmt: skip
