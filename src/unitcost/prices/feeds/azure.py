"""The Azure Retail Prices API: virtual machines for Linux, on-demand, spot, reserved and savings plan.

A reservation's price is that of the whole term though its unit says one hour; a savings plan's is by the hour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from unitcost import money
from unitcost.facts.offers import Listing
from unitcost.facts.prices import Commitment, Source
from unitcost.prices.feeds.asking import Asked, Fetch, as_json, changed, price_of
from unitcost.units import HOURS_PER_MONTH

NAME = "azure"
URL = "https://prices.azure.com/api/retail/prices"
_VERSION = "2023-01-01-preview"
_FILTER = "serviceName eq 'Virtual Machines' and armRegionName eq '{region}'"
_SOURCE = Source(key="azure-retail", name="Azure Retail Prices API", revision=_VERSION, licence="public API")
_TERMS = {"1 Year": 12, "3 Years": 36, "5 Years": 60}
#: Parts of names of products that are not plain machines for Linux.
_OTHER_PRODUCTS = ("Windows", "Dedicated Host", "Cloud Services", "CloudServices")
_MOST_PAGES = 200


def read(fetch: Fetch, asked: Asked) -> Iterator[Listing]:
    """What the API lists now, region by region.

    Raises
    ------
    BadPrice
        When an answer is not of the known form.
    """
    for region in asked.regions:
        yield from listings(list(items(fetch, region)), asked.day)


def items(fetch: Fetch, region: str) -> Iterator[Mapping[str, Any]]:
    """Items of all pages of a region."""
    url = f"{URL}?api-version={_VERSION}&$filter={quote(_FILTER.format(region=region))}"
    for _ in range(_MOST_PAGES):
        page = as_json(fetch(url), NAME)
        if not isinstance(page, dict) or not isinstance(page.get("Items"), list):
            raise changed(NAME, "an answer has no `Items`")
        yield from page["Items"]
        url = page.get("NextPageLink") or ""
        if not url:
            return
    raise changed(NAME, f"more than {_MOST_PAGES} pages for {region}")


def listings(found: Iterable[Mapping[str, Any]], day: str) -> Iterator[Listing]:
    """Machines with their prices; one with two prices of a kind is listed twice, for the check to see."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for item in found:
        if _is_machine(item):
            groups[str(item["armRegionName"]), str(item["armSkuName"])].append(item)
    for (region, name), group in sorted(groups.items()):
        usual = [item for item in group if item.get("type") == "Consumption" and not _is_spot(item)]
        spots = {_price(item) for item in group if item.get("type") == "Consumption" and _is_spot(item)}
        spot = spots.pop() if len(spots) == 1 else None
        for item in _one_per_price(usual) or [{}]:
            yield Listing(
                source=_SOURCE, observed=day, provider="azure", region=region, instance_type=name,
                currency=str(item.get("currencyCode") or "USD"), on_demand=_price(item) if item else None, spot=spot,
                effective_from=_moment(item.get("effectiveStartDate")), committed=tuple(_promises(item, group)),
            )  # fmt: skip


def _is_machine(item: Mapping[str, Any]) -> bool:
    product = str(item.get("productName", ""))
    return (
        bool(item.get("armSkuName"))
        and item.get("serviceName") == "Virtual Machines"
        and item.get("isPrimaryMeterRegion", True)
        and not item.get("tierMinimumUnits")
        and item.get("unitOfMeasure") == "1 Hour"
        and "Low Priority" not in str(item.get("meterName", ""))
        and not any(part in product for part in _OTHER_PRODUCTS)
    )


def _is_spot(item: Mapping[str, Any]) -> bool:
    return str(item.get("skuName", "")).endswith(" Spot") or str(item.get("meterName", "")).endswith(" Spot")


def _one_per_price(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list({_price(item): item for item in found}.values())


def _price(item: Mapping[str, Any]) -> Decimal | None:
    return price_of(item.get("retailPrice"))


def _promises(usual: Mapping[str, Any], group: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Commitment, Decimal]]:
    for item in group:
        months, total = _TERMS.get(str(item.get("reservationTerm", ""))), _price(item)
        if item.get("type") == "Reservation" and months and total:
            hours = Decimal(months * HOURS_PER_MONTH)
            hourly = money.round_places(money.divide(total, hours), 6)
            yield Commitment(plan="Reservation", term_months=months), hourly
    for plan in usual.get("savingsPlan") or ():
        months, hourly_price = _TERMS.get(str(plan.get("term", ""))), price_of(plan.get("retailPrice"))
        if months and hourly_price:
            yield Commitment(plan="Savings plan", term_months=months), hourly_price


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str) or not text:
        return None
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
