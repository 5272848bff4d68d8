"""What stands on the AWS bill besides use: commitments, marketplace, credits, tax, and small lines in great number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from unitcost.samples.aws import MARKETPLACE_SELLER, PAYER, PRODUCTION, RESEARCH, cells, instance_id, usage, whole
from unitcost.samples.calendar import Ints
from unitcost.samples.lines import MICRO, Label, Line, draw, exact_sum, one, pico, priced
from unitcost.samples.world import World, rows_of_month
from unitcost.units import CENT, HOURS_PER_DAY, LEDGER_PLACES

_PLAN = f"arn:aws:savingsplans::{PAYER}:savingsplan/5d1f0c7e-0000-4000-8000-0000000000a1"
_RESERVATION = f"arn:aws:ec2:us-east-1:{PRODUCTION}:reserved-instances/7c2e9b10-0000-4000-8000-0000000000b2"
#: Savings Plan: what is paid per hour, used or not, and the nodes that it covers [10^-6 USD per hour].
COMMITTED_PER_HOUR = 2_400_000
_NODE_PRICE, _NODE_RATE = "0.4032", "0.2915"  # m7i.2xlarge: on demand, and under the plan
_NODES = (("risk", "fraud"), ("search", "ranking"), ("ads", "bidding"), ("platform", "platform"))
#: Reserved instance: price on demand, and what each hour of its year comes to when all is paid up front.
_RESERVED_LIST, _RESERVED_RATE = "1.212", "0.742"
_HOURS_PER_YEAR = 365 * HOURS_PER_DAY
_STAMP = "%Y-%m-%dT%H:%M:%S.000Z"
_CENT_PICO = 10**LEDGER_PLACES // int(1 / CENT)


def commitments(world: World) -> Iterator[Line]:
    """Savings Plan and reserved instance: fees, covered use, and what was left unused."""
    hours = world.calendar.hours()
    nodes = [_node(world, number, team, project, hours) for number, (team, project) in enumerate(_NODES)]
    yield from nodes
    for node in nodes:
        fixed = node.cells | {
            "line_item_line_item_type": "SavingsPlanNegation", "pricing_public_on_demand_rate": "",
            "line_item_line_item_description": "SavingsPlanNegation used by AccountId : " + PRODUCTION,
        }  # fmt: skip
        none = np.zeros_like(node.billed)
        yield replace(
            node,
            name=node.name + " negation",
            cells=fixed,
            billed=-node.billed,
            effective=none,
            listed=none,
            extra={},
            control="",
        )
    used = np.zeros(len(hours), dtype=np.int64)
    for node in nodes:
        used[node.starts] += node.effective
    yield _plan_fee(hours, used)
    yield from _reservation(world, hours)


def _node(world: World, number: int, team: str, project: str, hours: Ints) -> Line:
    """Cluster node under the Savings Plan: up in the day, and every third night."""
    on = hours[(hours % 24 >= 5 + number) | (hours // 24 % 3 == 0)]
    quantity = whole(on, 2)
    listed, effective = priced(quantity, _NODE_PRICE), priced(quantity, _NODE_RATE)
    fixed = cells(
        "ec2", "BoxUsage:m7i.2xlarge", account=PRODUCTION, resource=instance_id(world, "node", team),
        operation="RunInstances", price=_NODE_PRICE,
        tags={"team": team, "project": project, "workload": "serve" if project != "platform" else "platform"},
    )  # fmt: skip
    fixed |= {
        "line_item_line_item_type": "SavingsPlanCoveredUsage", "savings_plan_savings_plan_a_r_n": _PLAN,
        "savings_plan_savings_plan_rate": _NODE_RATE, "savings_plan_start_time": "2026-03-01T00:00:00.000Z",
        "savings_plan_end_time": "2027-03-01T00:00:00.000Z",
    }  # fmt: skip
    driver = "serving" if project != "platform" else "shared platform"
    return Line(
        name=f"node {team}", cells=fixed, starts=on, hours=1, quantity=quantity, billed=listed, effective=effective,
        listed=listed, extra={"savings_plan_savings_plan_effective_cost": effective},
        label=Label(team=team, project=project, driver=driver), resource=fixed["line_item_resource_id"],
        control="covered by a commitment",
    )  # fmt: skip


def _plan_fee(hours: Ints, used: Ints) -> Line:
    fee = np.full(len(hours), COMMITTED_PER_HOUR * MICRO, dtype=np.int64)
    fixed = cells(
        "savings-plan",
        "ComputeSP:1yrNoUpfront",
        account=PAYER,
        resource=_PLAN,
        unit="Hrs",
        text="1 year No Upfront Compute Savings Plan",
    )
    fixed |= {
        "line_item_line_item_type": "SavingsPlanRecurringFee", "savings_plan_savings_plan_a_r_n": _PLAN,
        "savings_plan_start_time": "2026-03-01T00:00:00.000Z", "savings_plan_end_time": "2027-03-01T00:00:00.000Z",
    }  # fmt: skip
    return Line(
        name="savings plan fee", cells=fixed, starts=hours, hours=1, quantity=whole(hours), billed=fee,
        effective=fee - used, listed=np.zeros_like(fee), label=Label(line="unused commitment"), resource=_PLAN,
        extra={"savings_plan_total_commitment_to_date": fee, "savings_plan_used_commitment": used},
        waste="unused commitment",
    )  # fmt: skip


def _reservation(world: World, hours: Ints) -> Iterator[Line]:
    """GPU instance that serves all day: on demand at first, then reserved for a year, all paid up front."""
    bought = world.calendar.bounds[min(1, len(world.calendar.months) - 1)]
    label = Label(team="support", project="assistant", driver="serving")
    fixed = cells(
        "ec2", "BoxUsage:g5.2xlarge", account=PRODUCTION, resource=instance_id(world, "reserved"),
        operation="RunInstances", price=_RESERVED_LIST,
        tags={"team": "support", "project": "assistant", "workload": "serve"},
        text=f"${_RESERVED_LIST} per On Demand Linux g5.2xlarge Instance Hour",
    )  # fmt: skip
    before, after = hours[hours < bought], hours[hours >= bought]
    yield usage("before the reservation", fixed, before, whole(before), label)
    effective = priced(whole(after), _RESERVED_RATE)
    dates = {
        "reservation_reservation_a_r_n": _RESERVATION, "pricing_term": "Reserved",
        "reservation_start_time": world.calendar.stamps(_STAMP)[bought],
        "reservation_end_time": f"{int(world.calendar.months[0][:4]) + 1}{world.calendar.stamps(_STAMP)[bought][4:]}",
    }  # fmt: skip
    reserved = fixed | dates | {
        "line_item_line_item_type": "DiscountedUsage", "line_item_unblended_rate": "0",
        "line_item_line_item_description": "Linux/UNIX (Amazon VPC), g5.2xlarge reserved instance applied",
    }  # fmt: skip
    yield Line(
        name="reserved", cells=reserved, starts=after, hours=1, quantity=whole(after), billed=np.zeros_like(after),
        effective=effective, listed=priced(whole(after), _RESERVED_LIST),
        extra={"reservation_effective_cost": effective}, label=label, resource=fixed["line_item_resource_id"],
        control="reserved instance, used to the full",
    )  # fmt: skip
    yield from _reservation_fees(world, bought, dates)


def _reservation_fees(world: World, bought: int, dates: dict[str, str]) -> Iterator[Line]:
    """The payment up front, and the monthly row that says how much was left unused: nothing."""
    upfront = priced(one(_HOURS_PER_YEAR * MICRO), _RESERVED_RATE)
    monthly = one(*(start for start in world.calendar.bounds[:-1] if start >= bought))
    for name, line_type, starts, billed in (
        ("reservation bought", "Fee", one(bought), upfront),
        ("reservation of the month", "RIFee", monthly, np.zeros_like(monthly)),
    ):
        fixed = cells(
            "ec2", "HeavyUsage:g5.2xlarge", account=PRODUCTION, operation="RunInstances",
            text="Sign up charge for 1 reserved g5.2xlarge" if line_type == "Fee" else "g5.2xlarge, all upfront",
        )  # fmt: skip
        fixed |= {
            "line_item_line_item_type": line_type,
            "bill_bill_type": "Purchase" if line_type == "Fee" else "Anniversary",
        }
        if line_type == "RIFee":
            fixed |= {"reservation_unused_quantity": "0", "reservation_unused_recurring_fee": "0"}
            fixed |= {"reservation_unused_amortized_upfront_fee_for_billing_period": "0"}
        none = np.zeros_like(billed)
        yield Line(
            name=name, cells=fixed | dates, starts=starts, hours=0, quantity=np.full_like(starts, MICRO),
            billed=billed, effective=none, listed=none, label=Label(line="purchase"),
        )  # fmt: skip


def marketplace(world: World) -> Iterator[Line]:
    """Vector index bought through the marketplace, on an invoice of its own."""
    hours = world.calendar.hours()
    fixed = cells(
        "ec2", "SoftwareUsage:vector-index", account=PRODUCTION, resource="vector-index", price="1.25",
        tags={"team": "search", "project": "ranking"}, text="AWS Marketplace hourly software usage|us-east-1",
    )  # fmt: skip
    fixed |= {
        "line_item_product_code": "vector-index", "product_product_family": "", "product": "{}",
        "bill_billing_entity": "AWS Marketplace", "line_item_legal_entity": MARKETPLACE_SELLER,
        "product_servicecode": "", "product_instance_type": "",
    }  # fmt: skip
    label = Label(team="search", project="ranking", line="marketplace")
    yield usage("marketplace", fixed, hours, whole(hours), label)


def credits(world: World) -> Iterator[Line]:
    """A promotional credit per month."""
    starts = np.array(world.calendar.bounds[:-1], dtype=np.int64)
    amount = np.full(len(starts), -pico("1500"), dtype=np.int64)
    fixed = cells("ec2", "", account=PAYER, text="Promotional credit for machine learning work")
    fixed |= {"line_item_line_item_type": "Credit", "pricing_term": "", "pricing_unit": ""}
    none = np.zeros_like(amount)
    yield Line(
        name="credit", cells=fixed, starts=starts, hours=0, quantity=none, billed=amount, effective=amount,
        listed=none, label=Label(line="credit"),
    )  # fmt: skip


def tax(world: World, lines: list[Line], seller: str) -> Line:
    """Tax of 6 % on what a seller bills, so set that the invoice ends on a whole cent."""
    amounts = []
    for month in range(len(world.calendar.months)):
        billed = sum(
            exact_sum(line.billed[rows_of_month(line, world.calendar, month)])
            for line in lines
            if line.cells["line_item_legal_entity"] == seller
        )
        amounts.append(-(-billed * 106 // 100 // _CENT_PICO) * _CENT_PICO - billed)
    fixed = cells("ec2", "Tax:sales", account=PAYER, text="Tax for product code AmazonEC2")
    fixed |= {
        "line_item_line_item_type": "Tax", "line_item_tax_type": "SalesTax", "line_item_legal_entity": seller,
        "pricing_term": "", "pricing_unit": "",
        "bill_billing_entity": "AWS" if "Amazon" in seller else "AWS Marketplace",
    }  # fmt: skip
    column = one(*amounts)
    return Line(
        name=f"tax {seller}", cells=fixed, starts=one(*world.calendar.bounds[:-1]), hours=0,
        quantity=np.full(len(amounts), MICRO, dtype=np.int64), billed=column, effective=column,
        listed=np.zeros_like(column), label=Label(line="tax"),
    )  # fmt: skip


def volumes(world: World, count: int) -> Iterator[Line]:
    """Block storage of cluster nodes by the hour: the long tail of any bill, `count` volumes of it."""
    hours = world.calendar.hours()
    owners = (
        ("risk", "fraud"),
        ("search", "ranking"),
        ("search", "embeddings"),
        ("ads", "bidding"),
        ("support", "assistant"),
    )
    sizes_gb = draw(world.bits("volumes"), max(count, 1), 200, 4_000).tolist()
    for number in range(count):
        team, project = owners[number % len(owners)]
        fixed = cells(
            "ebs", "EBS:VolumeUsage.gp3", account=RESEARCH if number % 2 else PRODUCTION, unit="GB-Mo", price="0.08",
            resource=instance_id(world, "volume", str(number)).replace("i-", "vol-"), operation="CreateVolume-Gp3",
            tags={"team": team, "project": project},
        )  # fmt: skip
        quantity = sizes_gb[number] * MICRO // world.month_hours(hours)
        yield usage(f"volume {number}", fixed, hours, quantity, Label(team=team, project=project, driver="storage"))
