"""The Azure bill of the sample: MCA actual cost, one row per resource and day, US dates, some tags without braces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from unitcost.samples.calendar import Ints
from unitcost.samples.lines import MICRO, QUANTITY_PLACES, Label, Line, draw, exact_sum, micro, priced, texts
from unitcost.samples.world import World, csv_rows, rows_of_month
from unitcost.units import CENT, HOURS_PER_DAY, LEDGER_PLACES

PROVIDER = "Microsoft"
BILLING_ACCOUNT, BILLING_PROFILE = "3f1b7c52-0000-4000-8000-00000000b001:ml_2019-05-31", "ML01-PROF-AAA-PGB"
#: Subscription of the assistant, and one in which nobody tags anything.
SUBSCRIPTION, LAB = "3f1b7c52-0000-4000-8000-00000000c001", "3f1b7c52-0000-4000-8000-00000000c002"
COLUMNS = """
InvoiceSectionName AccountName AccountOwnerId SubscriptionId SubscriptionName ResourceGroupName ResourceLocation Date
ProductName MeterCategory MeterSubCategory MeterId MeterName MeterRegion UnitOfMeasure Quantity EffectivePrice
CostInBillingCurrency CostCenter ConsumedService ResourceId Tags OfferId AdditionalInfo ServiceInfo1 ServiceInfo2
ResourceName ReservationId ReservationName UnitPrice ProductOrderId ProductOrderName Term PublisherType PublisherName
ChargeType Frequency PricingModel AvailabilityZone BillingAccountId BillingCurrency BillingAccountName
BillingPeriodStartDate BillingPeriodEndDate BillingProfileId BillingProfileName InvoiceSectionId IsAzureCreditEligible
PartNumber PayGPrice PlanName ServiceFamily invoiceId previousInvoiceId resellerName resellerMpnId
servicePeriodEndDate servicePeriodStartDate ProductId publisherId Location pricingCurrency costInPricingCurrency
costInUsd paygCostInBillingCurrency paygCostInUsd exchangeRatePricingToBilling exchangeRateDate
""".split()  # noqa: SIM905
#: Columns that all state the cost here, where nothing is discounted and all is in US dollars.
_COSTS = (
    "CostInBillingCurrency", "costInPricingCurrency", "costInUsd", "paygCostInBillingCurrency", "paygCostInUsd",
)  # fmt: skip
_CENT_PICO = 10**LEDGER_PLACES // int(1 / CENT)
#: Prices at most four places long, so that the traffic of the last day can close the month on a whole cent.
_PRICES = {
    "NC24ads A100 v4": "3.673", "NC4as T4 v3": "0.526", "D8s v5": "0.384", "Hot LRS Data Stored": "0.0184",
    "P30 LRS Disk": "0.1664", "Standard Data Transfer Out": "0.08",
}  # fmt: skip
_SERVICES = {
    "ml": ("Microsoft.MachineLearningServices", "Compute", "Virtual Machines", "workspaces"),
    "vm": ("Microsoft.Compute", "Compute", "Virtual Machines", "virtualMachineScaleSets"),
    "blob": ("Microsoft.Storage", "Storage", "Storage", "storageAccounts"),
    "disk": ("Microsoft.Compute", "Storage", "Storage", "disks"),
    "net": ("Microsoft.Network", "Networking", "Bandwidth", "publicIPAddresses"),
}


def lines(world: World) -> list[Line]:
    """Every line of the Azure bill."""
    days = world.calendar.days()
    weekday = world.calendar.weekday(days)
    tuning = (days // HOURS_PER_DAY % 30 >= 6) & (days // HOURS_PER_DAY % 30 < 18)
    train = Label(team="support", project="assistant", driver="training")
    serve = Label(team="support", project="assistant", driver="serving")
    found = [
        _hours(world, "ml", "assistant-tuning", "NC24ads A100 v4", days[tuning], 24, train, braces=False,
               workload="train"),
        _hours(world, "ml", "assistant-sandbox", "NC4as T4 v3", days[weekday < 5], 9,
               replace(train, driver="development"), workload="dev", control="sandbox on in working hours only"),
        _hours(world, "vm", "assistant-pool", "D8s v5", days, 96, serve, braces=False, workload="serve"),
        _hours(world, "vm", "assistant-gpu", "NC4as T4 v3", days, 48, serve, workload="serve"),
        _hours(world, "vm", "old-prototype", "NC4as T4 v3", days, 24, Label(), tagged=False, waste="untagged GPU"),
        _stored(world, "blob", "assistantdata", "Hot LRS Data Stored", days, 26_000),
        _stored(world, "disk", "assistant-pool-disk", "P30 LRS Disk", days, 1_024),
    ]  # fmt: skip
    return [*found, _traffic(world, days, found)]


def _cells(
    service: str, name: str, meter: str, label: Label, *, tagged: bool, braces: bool, workload: str
) -> dict[str, str]:
    consumed, family, category, kind = _SERVICES[service]
    subscription, group = (SUBSCRIPTION, "rg-assistant") if tagged else (LAB, "rg-lab")
    tags = {"team": label.team, "project": label.project} | ({"workload": workload} if workload else {})
    written = json.dumps(tags) if tagged else ""
    return {
        "BillingAccountId": BILLING_ACCOUNT, "BillingAccountName": "ml", "BillingProfileId": BILLING_PROFILE,
        "BillingProfileName": "ml", "SubscriptionId": subscription,
        "SubscriptionName": "ml-assistant" if tagged else "ml-lab", "ProductName": f"{category} - {meter}",
        "PartNumber": "AAA-00001",
        "MeterId": f"meter-{name}", "ServiceFamily": family, "MeterCategory": category,
        "MeterSubCategory": meter, "MeterRegion": "EU West", "MeterName": meter,
        "EffectivePrice": _PRICES[meter], "UnitPrice": _PRICES[meter], "PayGPrice": _PRICES[meter],
        "BillingCurrency": "USD", "pricingCurrency": "USD", "exchangeRatePricingToBilling": "1",
        "ResourceLocation": "westeurope", "ConsumedService": consumed,
        "ResourceId": f"/subscriptions/{subscription}/resourceGroups/{group}/providers/{consumed}/{kind}/{name}",
        "ResourceName": name, "Tags": written if braces else written[1:-1], "InvoiceSectionName": "ml",
        "UnitOfMeasure": "1 GB" if service == "net" else "1 GB/Month" if family == "Storage" else "1 Hour",
        "ResourceGroupName": group, "Location": "EU West", "IsAzureCreditEligible": "True",
        "PublisherName": "Microsoft", "ChargeType": "Usage", "Frequency": "UsageBased", "PublisherType": "Azure",
        "PricingModel": "OnDemand",
    }  # fmt: skip


def _line(
    name: str, fixed: dict[str, str], days: Ints, quantity: Ints, label: Label, waste: str = "", control: str = ""
) -> Line:
    amounts = priced(quantity, fixed["EffectivePrice"])
    return Line(
        name=name, cells=fixed, starts=days, hours=HOURS_PER_DAY, quantity=quantity, billed=amounts, effective=amounts,
        listed=amounts, label=label, waste=waste, control=control, resource=fixed["ResourceId"],
    )  # fmt: skip


def _hours(
    world: World, service: str, name: str, meter: str, days: Ints, per_day: int, label: Label,
    *, tagged: bool = True, braces: bool = True, workload: str = "", waste: str = "", control: str = "",
) -> Line:  # fmt: skip
    fixed = _cells(service, name, meter, label, tagged=tagged, braces=braces, workload=workload)
    return _line(name, fixed, days, np.full(len(days), per_day * MICRO, dtype=np.int64), label, waste, control)


def _stored(world: World, service: str, name: str, meter: str, days: Ints, gigabytes: int) -> Line:
    label = Label(team="support", project="assistant", driver="storage")
    fixed = _cells(service, name, meter, label, tagged=True, braces=True, workload="")
    quantity = gigabytes * HOURS_PER_DAY * (MICRO // 100) // world.month_hours(days) * 100
    return _line(name, fixed, days, quantity, label)


def _traffic(world: World, days: Ints, others: list[Line]) -> Line:
    """Outbound traffic; that of the last day of a month brings the month to a whole cent."""
    label = Label(team="support", project="assistant", driver="data movement")
    fixed = _cells("net", "assistant-out", "Standard Data Transfer Out", label, tagged=True, braces=False, workload="")
    quantity = draw(world.bits("azure traffic"), len(days), 400_000, 650_000) * (MICRO // 1000)
    line = _line("assistant-out", fixed, days, quantity, label)
    price = micro(fixed["EffectivePrice"])
    for month in range(len(world.calendar.months)):
        billed = sum(exact_sum(x.billed[rows_of_month(x, world.calendar, month)]) for x in [*others, line])
        missing = -billed % _CENT_PICO
        line.quantity[rows_of_month(line, world.calendar, month).stop - 1] += missing // price
    return _line("assistant-out", fixed, days, line.quantity, label)


def invoice_id(month: str) -> str:
    """Number of the invoice of a month."""
    return f"G{month.replace('-', '')}01"


def bill(world: World, found: list[Line], month: int) -> Iterator[str]:
    """Lines of the csv of one month, header first."""
    yield ",".join(COLUMNS)
    dates = world.calendar.stamps("%m/%d/%Y")
    first, after = world.calendar.bounds[month], world.calendar.bounds[month + 1]
    for line in found:
        rows = rows_of_month(line, world.calendar, month)
        fixed = line.cells | {
            "BillingPeriodStartDate": dates[first],
            "BillingPeriodEndDate": dates[after - 1],
            "invoiceId": invoice_id(world.calendar.months[month]),
        }
        varying = {
            "Date": [dates[start] for start in line.starts[rows].tolist()],
            "Quantity": texts(line.quantity[rows], QUANTITY_PLACES),
            **dict.fromkeys(_COSTS, texts(line.billed[rows])),
        }
        yield from csv_rows(COLUMNS, fixed, varying)
