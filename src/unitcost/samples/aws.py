"""How the sample writes an AWS bill: CUR 2.0 columns, one csv per month."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from unitcost.samples.calendar import Ints
from unitcost.samples.lines import QUANTITY_PLACES, Label, Line, draw, priced, texts
from unitcost.samples.world import World, csv_rows, rows_of_month

PROVIDER = "AWS"
PAYER = "210000000001"
PRODUCTION, RESEARCH, SHARED, ADS = "210000000010", "210000000020", "210000000030", "210000000040"
ACCOUNT_NAMES = {
    PAYER: "payer", PRODUCTION: "ml-production", RESEARCH: "ml-research", SHARED: "shared", ADS: "ads",
}  # fmt: skip
SELLER, MARKETPLACE_SELLER = "Amazon Web Services, Inc.", "Vector Index Ltd"

COLUMNS = """
identity_line_item_id identity_time_interval bill_invoice_id bill_invoicing_entity bill_billing_entity bill_bill_type
bill_payer_account_id bill_payer_account_name bill_billing_period_start_date bill_billing_period_end_date
line_item_usage_account_id line_item_usage_account_name line_item_line_item_type line_item_usage_start_date
line_item_usage_end_date line_item_product_code line_item_usage_type line_item_operation line_item_availability_zone
line_item_resource_id line_item_usage_amount line_item_currency_code line_item_unblended_rate
line_item_unblended_cost line_item_line_item_description line_item_tax_type line_item_legal_entity product
product_product_family product_instance_type product_region_code product_servicecode pricing_currency
pricing_public_on_demand_cost pricing_public_on_demand_rate pricing_term pricing_unit reservation_reservation_a_r_n
reservation_effective_cost reservation_start_time reservation_end_time reservation_unused_quantity
reservation_unused_recurring_fee reservation_unused_amortized_upfront_fee_for_billing_period
savings_plan_savings_plan_a_r_n savings_plan_start_time savings_plan_end_time savings_plan_savings_plan_rate
savings_plan_savings_plan_effective_cost savings_plan_total_commitment_to_date savings_plan_used_commitment
resource_tags cost_category discount
""".split()  # noqa: SIM905

#: Service -> (product code, name, family).
_SERVICES = {
    "sagemaker": ("AmazonSageMaker", "Amazon SageMaker", "ML Instance"),
    "ec2": ("AmazonEC2", "Amazon Elastic Compute Cloud", "Compute Instance"),
    "ebs": ("AmazonEC2", "Amazon Elastic Compute Cloud", "Storage"),
    "nat": ("AmazonEC2", "Amazon Elastic Compute Cloud", "NAT Gateway"),
    "transfer": ("AmazonEC2", "Amazon Elastic Compute Cloud", "Data Transfer"),
    "s3": ("AmazonS3", "Amazon Simple Storage Service", "Storage"),
    "eks": ("AmazonEKS", "Amazon Elastic Container Service for Kubernetes", "Compute"),
    "cloudwatch": ("AmazonCloudWatch", "AmazonCloudWatch", "Metric"),
    "savings-plan": ("ComputeSavingsPlans", "Savings Plans for AWS Compute usage", ""),
}


def cells(
    service: str, usage_type: str, *, account: str, resource: str = "", operation: str = "", unit: str = "Hrs",
    price: str = "", text: str = "", tags: dict[str, str] | None = None, zone: str = "",
) -> dict[str, str]:  # fmt: skip
    """Constant cells of one usage line; `tags` gain the prefix that AWS gives to a user's tags."""
    code, name, family = _SERVICES[service]
    return {
        "bill_invoicing_entity": SELLER, "bill_billing_entity": "AWS", "bill_bill_type": "Anniversary",
        "bill_payer_account_id": PAYER, "bill_payer_account_name": ACCOUNT_NAMES[PAYER],
        "line_item_usage_account_id": account, "line_item_usage_account_name": ACCOUNT_NAMES[account],
        "line_item_line_item_type": "Usage", "line_item_product_code": code, "line_item_usage_type": usage_type,
        "line_item_operation": operation, "line_item_availability_zone": zone, "line_item_resource_id": resource,
        "line_item_currency_code": "USD", "line_item_unblended_rate": price,
        "line_item_line_item_description": text or f"{usage_type} {price} USD per {unit}",
        "line_item_legal_entity": SELLER, "product": json.dumps({"product_name": name}),
        "product_product_family": family, "product_instance_type": usage_type.partition(":")[2],
        "product_region_code": "us-east-1", "product_servicecode": code, "pricing_currency": "USD",
        "pricing_public_on_demand_rate": price, "pricing_term": "OnDemand", "pricing_unit": unit,
        "resource_tags": json.dumps({f"user_{key}": value for key, value in (tags or {}).items()}),
        "cost_category": "{}", "discount": "{}",
    }  # fmt: skip


def usage(
    name: str, fixed: dict[str, str], starts: Ints, quantity: Ints, label: Label,
    *, hours: int = 1, waste: str = "", wasted: Ints | None = None, control: str = "", billed_later: int = 0,
) -> Line:  # fmt: skip
    """Line that costs its quantity at the price in its cells, without any discount."""
    amounts = priced(quantity, fixed["line_item_unblended_rate"])
    return Line(
        name=name, cells=fixed, starts=starts, hours=hours, quantity=quantity, billed=amounts, effective=amounts,
        listed=amounts, label=label, waste=waste, wasted=wasted, control=control, billed_later=billed_later,
        resource=fixed["line_item_resource_id"],
    )  # fmt: skip


def arn(kind: str, name: str, account: str) -> str:
    """Resource name of a SageMaker thing."""
    return f"arn:aws:sagemaker:us-east-1:{account}:{kind}/{name}"


def instance_id(world: World, *names: str) -> str:
    """Made-up id of an EC2 instance, the same for the same seed."""
    high, low = draw(world.bits("instance", *names), 2, 0, 2**34 - 1).tolist()
    return f"i-0{(high << 34 | low) % 16**16:016x}"


def invoice_id(month: str, seller: str) -> str:
    """Number of the invoice of a month."""
    return f"{'17' if seller == SELLER else '29'}{month.replace('-', '')}01"


def bill(world: World, lines: list[Line], month: int) -> Iterator[str]:
    """Lines of the csv of one month, header first."""
    yield ",".join(COLUMNS)
    for place, line in enumerate(lines):
        rows = rows_of_month(line, world.calendar, month)
        if rows.start < rows.stop:
            yield from _rows(world, line, month, rows, place)


def _rows(world: World, line: Line, month: int, rows: slice, place: int) -> Iterator[str]:
    calendar = world.calendar
    stamps, short = calendar.stamps("%Y-%m-%dT%H:%M:%S.000Z"), calendar.stamps("%Y-%m-%dT%H:%M:%SZ")
    bounds = calendar.bounds
    starts = line.starts[rows].tolist()
    ends = (
        [start + line.hours for start in starts]
        if line.hours
        else [bounds[month - line.billed_later + 1]] * len(starts)
    )
    row_id = f"{world.seed:x}l{place:04x}r%06x"
    varying = {
        "identity_line_item_id": [row_id % number for number in range(rows.start, rows.stop)],
        "identity_time_interval": [f"{short[s]}/{short[e]}" for s, e in zip(starts, ends, strict=True)],
        "line_item_usage_start_date": [stamps[s] for s in starts],
        "line_item_usage_end_date": [stamps[e] for e in ends],
        "line_item_usage_amount": texts(line.quantity[rows], QUANTITY_PLACES),
        "line_item_unblended_cost": texts(line.billed[rows]),
    }
    if line.cells["pricing_public_on_demand_rate"]:
        varying["pricing_public_on_demand_cost"] = texts(line.listed[rows])
    varying |= {name: texts(values[rows]) for name, values in line.extra.items()}
    fixed = line.cells | {
        "bill_invoice_id": invoice_id(calendar.months[month], line.cells["line_item_legal_entity"]),
        "bill_billing_period_start_date": stamps[bounds[month]],
        "bill_billing_period_end_date": stamps[bounds[month + 1]],
    }
    return csv_rows(COLUMNS, fixed, varying)


def whole(hours: Ints, units: int = 1) -> Ints:
    """Quantity of `units` per row [10^-6]."""
    return np.full(len(hours), units * 10**QUANTITY_PLACES, dtype=np.int64)
