"""The bill of an LLM API in FOCUS 1.2: token lines by class, tax, and a correction of an earlier month."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from unitcost.samples.calendar import Ints
from unitcost.samples.lines import (
    MICRO,
    QUANTITY_PLACES,
    Label,
    Line,
    draw,
    exact_sum,
    one,
    priced,
    texts,
)  # fmt: skip
from unitcost.samples.world import World, csv_rows, rows_of_month
from unitcost.units import CENT, HOURS_PER_DAY, LEDGER_PLACES

PROVIDER = "Token API"
ACCOUNT = "org-4411"
COLUMNS = """
AvailabilityZone BilledCost BillingAccountId BillingAccountName BillingAccountType BillingCurrency BillingPeriodEnd
BillingPeriodStart CapacityReservationId CapacityReservationStatus ChargeCategory ChargeClass ChargeDescription
ChargeFrequency ChargePeriodEnd ChargePeriodStart CommitmentDiscountCategory CommitmentDiscountId
CommitmentDiscountName CommitmentDiscountQuantity CommitmentDiscountStatus CommitmentDiscountType
CommitmentDiscountUnit ConsumedQuantity ConsumedUnit ContractedCost ContractedUnitPrice EffectiveCost InvoiceId
InvoiceIssuerName ListCost ListUnitPrice PricingCategory PricingCurrency PricingCurrencyContractedUnitPrice
PricingCurrencyEffectiveCost PricingCurrencyListUnitPrice PricingQuantity PricingUnit ProviderName PublisherName
RegionId RegionName ResourceId ResourceName ResourceType ServiceCategory ServiceName ServiceSubcategory SkuId SkuMeter
SkuPriceDetails SkuPriceId SubAccountId SubAccountName SubAccountType Tags
""".split()  # noqa: SIM905
_CENT_PICO = 10**LEDGER_PLACES // int(1 / CENT)
#: Model -> price of each class of token [USD per million tokens].
PRICES = {
    "large-2": {"Fresh input": "3", "Cache read": "0.3", "Cache write": "3.75", "Output": "15"},
    "small-2": {"Fresh input": "0.25", "Cache read": "0.025", "Cache write": "0.3125", "Output": "1.25"},
}
_DETAILS = {
    "Fresh input": ("Input", "Uncached"), "Cache read": ("Input", "Read"), "Cache write": ("Input", "Write"),
    "Output": ("Output", ""),
}  # fmt: skip
#: Tokens of a class in a hundred tokens of a workspace that caches, and of one that does not.
_MIX = {True: {"Fresh input": 22, "Cache read": 58, "Cache write": 8, "Output": 12},
        False: {"Fresh input": 84, "Cache read": 0, "Cache write": 0, "Output": 16}}  # fmt: skip
#: Workspace -> (model, tags, tokens per day in millions from and to, whether it caches).
_WORKSPACES = {
    "assistant": ("large-2", {"team": "support", "project": "assistant"}, 90, 140, True),
    "assistant-triage": ("small-2", {"team": "support", "project": "assistant"}, 200, 320, True),
    "query-rewrite": ("small-2", {"team": "search", "project": "ranking"}, 400, 520, False),
    "fraud-notes": ("large-2", {"team": "risk", "project": "fraud"}, 4, 9, False),
    "unnamed-key": ("large-2", {}, 6, 12, False),
}


def lines(world: World) -> list[Line]:
    """Every line of the token bill."""
    found = [line for name in _WORKSPACES for line in _workspace(world, name)]
    if len(world.calendar.months) > 1:
        found.append(_correction(world, found[0]))
    return [*found, _tax(world, found)]


def _workspace(world: World, name: str) -> Iterator[Line]:
    model, tags, low, high, caches = _WORKSPACES[name]
    tokens = draw(world.bits("tokens", name), world.calendar.day_count, low * MICRO, high * MICRO)
    for token_class, share in _MIX[caches].items():
        if share:
            yield _line(name, model, token_class, world.calendar.days(), tokens * share // 100, tags)


def _line(name: str, model: str, token_class: str, starts: Ints, tokens: Ints, tags: dict[str, str]) -> Line:
    """Tokens of one class; a count of tokens is the same integer as millions of tokens in millionths."""
    price = PRICES[model][token_class]
    direction, cache = _DETAILS[token_class]
    details = {"ModelId": model, "TokenDirection": direction} | ({"TokenCacheAction": cache} if cache else {})
    slug = token_class.lower().replace(" ", "-")
    fixed = {
        "ChargeCategory": "Usage", "ChargeDescription": f"{token_class} tokens of {model}",
        "ChargeFrequency": "Usage-Based", "ConsumedUnit": "Tokens", "ContractedUnitPrice": price,
        "ListUnitPrice": price, "PricingCategory": "Standard", "PricingUnit": "1000000 Tokens",
        "PricingCurrencyContractedUnitPrice": price, "PricingCurrencyListUnitPrice": price,
        "ResourceId": f"workspace/{name}", "ResourceName": name, "ResourceType": "Workspace",
        "ServiceCategory": "AI and Machine Learning", "ServiceName": "Model API",
        "ServiceSubcategory": "Generative AI", "SkuId": f"{model}-{slug}", "SkuMeter": f"{token_class} tokens",
        "SkuPriceDetails": json.dumps(details), "SkuPriceId": f"{model}-{slug}-standard", "Tags": json.dumps(tags),
        "SubAccountId": f"ws-{name}", "SubAccountName": name, "SubAccountType": "Workspace",
    }  # fmt: skip
    amounts = priced(tokens, price)
    label = Label(team=tags.get("team", ""), project=tags.get("project", ""), driver="LLM API")
    return Line(
        name=f"{name} {token_class}", cells=fixed, starts=starts, hours=HOURS_PER_DAY, quantity=tokens, billed=amounts,
        effective=amounts, listed=amounts, label=label, resource=fixed["ResourceId"],
        control="workspace that caches its prompts" if name == "assistant" else "",
    )  # fmt: skip


def _correction(world: World, wrong: Line) -> Line:
    """Five days of the first month were billed twice over; the last month's bill takes them back."""
    first_days = wrong.starts < 5 * HOURS_PER_DAY
    amount = -exact_sum(wrong.billed[first_days])
    count = -exact_sum(wrong.quantity[first_days])
    return replace(
        wrong, name="correction", cells=wrong.cells | {"ChargeClass": "Correction"}, starts=one(0),
        hours=5 * HOURS_PER_DAY, quantity=one(count), billed=one(amount), effective=one(amount), listed=one(amount),
        billed_later=len(world.calendar.months) - 1, waste="correction", control="",
    )  # fmt: skip


def _tax(world: World, found: list[Line]) -> Line:
    amounts = []
    for month in range(len(world.calendar.months)):
        billed = sum(exact_sum(x.billed[rows_of_month(x, world.calendar, month)]) for x in found)
        amounts.append(-(-billed * 105 // 100 // _CENT_PICO) * _CENT_PICO - billed)
    fixed = {
        "ChargeCategory": "Tax", "ChargeDescription": "Sales tax", "ChargeFrequency": "Recurring",
        "ServiceCategory": "Other", "ServiceName": "Tax", "ServiceSubcategory": "Other (Other)",
    }  # fmt: skip
    column = one(*amounts)
    return Line(
        name="tax", cells=fixed, starts=one(*world.calendar.bounds[:-1]), hours=0, quantity=np.zeros_like(column),
        billed=column, effective=column, listed=column, label=Label(line="tax"),
    )  # fmt: skip


def invoice_id(month: str) -> str:
    """Number of the invoice of a month."""
    return f"TA-{month}"


def bill(world: World, found: list[Line], month: int) -> Iterator[str]:
    """Lines of the csv of one month, header first."""
    yield ",".join(COLUMNS)
    stamps = world.calendar.stamps("%Y-%m-%dT%H:%M:%SZ")
    bounds = world.calendar.bounds
    whole_bill = {
        "BillingAccountId": ACCOUNT, "BillingAccountName": "ml", "BillingAccountType": "Organisation",
        "BillingCurrency": "USD", "PricingCurrency": "USD", "InvoiceIssuerName": PROVIDER, "ProviderName": PROVIDER,
        "PublisherName": PROVIDER, "BillingPeriodStart": stamps[bounds[month]],
        "BillingPeriodEnd": stamps[bounds[month + 1]], "InvoiceId": invoice_id(world.calendar.months[month]),
    }  # fmt: skip
    for line in found:
        rows = rows_of_month(line, world.calendar, month)
        starts = line.starts[rows].tolist()
        length = line.hours or bounds[month + 1] - bounds[month]
        cost = texts(line.billed[rows])
        varying = dict.fromkeys(
            ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "PricingCurrencyEffectiveCost"), cost
        )
        varying["ChargePeriodStart"] = [stamps[start] for start in starts]
        varying["ChargePeriodEnd"] = [stamps[start + length] for start in starts]
        if line.cells["ChargeCategory"] == "Usage":
            varying["ConsumedQuantity"] = texts(line.quantity[rows], 0)
            varying["PricingQuantity"] = texts(line.quantity[rows], QUANTITY_PLACES)
        yield from csv_rows(COLUMNS, whole_bill | line.cells, varying)
