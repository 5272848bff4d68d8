"""What the company runs on AWS: endpoints, notebooks, training on spot, builds on demand, storage, traffic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unitcost.samples.aws import ADS, PRODUCTION, RESEARCH, SHARED, arn, cells, instance_id, usage, whole
from unitcost.samples.calendar import Ints
from unitcost.samples.lines import MICRO, Label, Line, daily_shape, draw, micro, priced
from unitcost.samples.world import World
from unitcost.units import HOURS_PER_DAY

#: List prices in us-east-1, mid 2026 [USD per hour, GB-month or GB].
PRICES = {
    "p5.48xlarge": "55.04", "p4d.24xlarge": "21.957642", "g6e.xlarge": "1.861", "g5.2xlarge": "1.212",
    "ml.g5.xlarge": "1.408", "ml.g5.2xlarge": "1.515", "ml.g4dn.xlarge": "0.7364", "ml.m5.4xlarge": "0.922",
    "ml.p4d.24xlarge": "25.251", "gp3": "0.08", "s3": "0.023", "s3-ia": "0.0125", "egress": "0.09",
    "between zones": "0.01", "nat": "0.045", "eks": "0.1",
}  # fmt: skip
_DAYS_PER_WEEK = 7
#: Usual spot prices of the accelerators [10^-6 USD per hour]; the price of a week is drawn around them.
SPOT = {"p5.48xlarge": 19_253_100, "g6e.xlarge": 781_600}
#: Spot runs: name -> (instance type, nodes, first day, days, tags).
RUNS = {
    "ranker-l12": ("p5.48xlarge", 2, 4, 9, {"team": "search", "project": "ranking", "experiment": "ranker-l12"}),
    "ranker-l24": ("p5.48xlarge", 4, 36, 12, {"team": "search", "project": "ranking", "experiment": "ranker-l24"}),
    "bidder-v5": ("g6e.xlarge", 3, 12, 12, {"team": "ads", "project": "bidding", "experiment": "bidder-v5"}),
    "bidder-v6": ("g6e.xlarge", 3, 55, 14, {"team": "ads", "project": "bidding", "experiment": "bidder-v6"}),
    "fraud-sweep-3": ("g6e.xlarge", 6, 20, 6, {"team": "risk", "project": "fraud", "experiment": "fraud-sweep-3"}),
}
_HUNDREDTH = MICRO // 100  # of an hour, in millionths


def lines(world: World) -> Iterator[Line]:
    """Every line of use on AWS, commitments apart."""
    yield from _endpoints(world)
    yield from _notebooks(world)
    yield from _training(world)
    yield from _on_demand(world)
    yield from _storage(world)
    yield from _traffic(world)
    yield from _platform(world)


def _host(
    world: World, name: str, kind: str, label: Label, tags: dict[str, str], **more: str
) -> tuple[dict[str, str], Label]:
    account = more.get("account", PRODUCTION)
    fixed = cells(
        "sagemaker", f"USE1-Host:{kind}", account=account, resource=arn("endpoint", name, account),
        operation="RunInstance", price=PRICES[kind], tags=tags,
        text=f"${PRICES[kind]} per Hosting {kind} hour in US East (N. Virginia)",
    )  # fmt: skip
    return fixed, label


def _endpoints(world: World) -> Iterator[Line]:
    hours = world.calendar.hours()
    fraud = Label(team="risk", project="fraud", driver="serving")
    ranking = Label(team="search", project="ranking", driver="serving")
    bidding = Label(team="ads", project="bidding", driver="serving")
    fixed, label = _host(world, "fraud-scorer", "ml.g5.xlarge", fraud, {"team": "risk", "project": "fraud"})
    yield usage("fraud-scorer", fixed, hours, whole(hours, 2), label, control="busy endpoint, all day")
    canary = {"team": "search", "project": "ranking", "experiment": "ranking-canary"}
    fixed, label = _host(world, "ranking-canary", "ml.g5.xlarge", ranking, canary)
    yield usage("ranking-canary", fixed, hours, whole(hours), label, waste="idle endpoint")
    fixed, label = _host(world, "search-ranker", "ml.g5.2xlarge", ranking, {"Team": "Search", "project": "ranking"})
    yield usage(
        "search-ranker", fixed, hours, whole(hours, 3), label,
        waste="over-provisioned replicas", wasted=priced(whole(hours), PRICES["ml.g5.2xlarge"]),
    )  # fmt: skip
    awake = hours[(hours % HOURS_PER_DAY >= 6) & (hours % HOURS_PER_DAY < 23)]
    fixed, label = _host(
        world, "bidder", "ml.g5.xlarge", bidding, {"cost-center": "ads", "project": "bidding"}, account=ADS
    )
    yield usage("bidder", fixed, awake, whole(awake), label, control="endpoint that scales to zero at night")


def _notebooks(world: World) -> Iterator[Line]:
    calendar = world.calendar
    hours = calendar.hours()
    at_work = calendar.at_work(hours)
    for name, team, project, always in (
        ("research-1", "risk", "fraud", True),
        ("research-2", "search", "embeddings", True),
        ("research-3", "search", "ranking", False),
        ("research-4", "ads", "bidding", False),
    ):
        price = PRICES["ml.g4dn.xlarge"]
        fixed = cells(
            "sagemaker", "USE1-Notebk:ml.g4dn.xlarge", account=RESEARCH, operation="RunInstance", price=price,
            resource=arn("notebook-instance", name, RESEARCH), tags={"team": team, "project": project},
        )  # fmt: skip
        label = Label(team=team, project=project, driver="development")
        on = hours if always else hours[at_work]
        spared = np.where(at_work, 0, micro(price) * MICRO)
        yield usage(
            f"notebook {name}", fixed, on, whole(on), label,
            waste="notebook on at night" if always else "", wasted=spared if always else None,
            control="" if always else "notebook on in working hours only",
        )  # fmt: skip


def _training(world: World) -> Iterator[Line]:
    for run, (kind, nodes, first, days, tags) in RUNS.items():
        for node in range(nodes):
            yield from _spot_node(world, run, node, kind, world.days_between(first, days), tags)
    for name, first, days, tags in (
        ("fraud-weekly", 2, 1, {"team": "risk", "project": "fraud"}),
        ("fraud-weekly", 33, 1, {"team": "risk", "project": "fraud"}),
        ("fraud-weekly", 64, 1, {"team": "risk", "project": "fraud"}),
        ("embedder-base", 16, 5, {"team": "search", "project": "embeddings"}),
        ("embedder-large", 70, 6, {"team": "search", "project": "embeddings"}),
    ):
        hours = world.days_between(first, days)
        fixed = cells(
            "sagemaker", "USE1-Train:ml.p4d.24xlarge", account=RESEARCH, operation="RunInstance",
            resource=arn("training-job", f"{name}-{first:03d}", RESEARCH), price=PRICES["ml.p4d.24xlarge"], tags=tags,
        )  # fmt: skip
        label = Label(team=tags["team"], project=tags["project"], driver="training")
        yield usage(f"train {name} {first}", fixed, hours, whole(hours), label)


def lives(world: World, run: str, node: int, hours: int) -> list[tuple[int, int]]:
    """When the instances of one spot node lived: (start, end) in hundredths of an hour of its run."""
    bits = world.bits("spot", run, str(node))
    lasting = draw(bits, 400, 250, 3600).tolist()
    waiting = draw(bits, 400, 5, 240).tolist()
    found, at, end = [], waiting[-1], hours * 100
    for life, wait in zip(lasting, waiting, strict=True):
        if at >= end:
            break
        found.append((at, min(at + life, end)))
        at += life + wait
    return found


def _spot_node(world: World, run: str, node: int, kind: str, span: Ints, tags: dict[str, str]) -> Iterator[Line]:
    label = Label(team=tags["team"], project=tags["project"], driver="training")
    weeks = world.calendar.day_count // _DAYS_PER_WEEK + 1
    price_by_week = SPOT[kind] * draw(world.bits("spot price", kind), weeks, 930, 1080) // 1000
    for number, (start, end) in enumerate(lives(world, run, node, len(span))):
        within = np.arange(start // 100, (end + 99) // 100, dtype=np.int64)
        used = np.minimum(end, (within + 1) * 100) - np.maximum(start, within * 100)
        hours = span[within]
        quantity = used * _HUNDREDTH
        amounts = quantity * price_by_week[hours // (HOURS_PER_DAY * _DAYS_PER_WEEK)]
        fixed = cells(
            "ec2", f"SpotUsage:{kind}", account=RESEARCH, resource=instance_id(world, run, str(node), str(number)),
            operation="RunInstances:SV052", price=PRICES[kind], zone="us-east-1a",
            text=f"{kind} Linux/UNIX Spot Instance-hour in US East (Virginia) in VPC Zone #52",
            tags=tags | {"workload": "train", "run": run},
        )  # fmt: skip
        fixed |= {"line_item_unblended_rate": "", "pricing_term": "Spot"}
        yield Line(
            name=f"spot {run} {node} {number}", cells=fixed, starts=hours, hours=1, quantity=quantity, billed=amounts,
            effective=amounts, listed=priced(quantity, PRICES[kind]), label=label,
            resource=fixed["line_item_resource_id"],
        )  # fmt: skip


def _on_demand(world: World) -> Iterator[Line]:
    for name, kind, first, days, tags, driver, waste in (
        ("nobody", "p4d.24xlarge", 24, 12, {}, "", "untagged GPU"),
        ("embed-builder", "g6e.xlarge", 0, 400, {"team": "search", "project": "embeddings", "workload": "prep"},
         "preprocessing", ""),
        ("evaluation", "g5.2xlarge", 8, 60, {"team": "support", "project": "assistant", "workload": "eval"},
         "evaluation", ""),
        ("summariser", "g6e.xlarge", 10, 400, {"team": "support", "project": "assistant", "workload": "serve"}, "serving",
         "idle endpoint"),
        ("misspelt", "g5.2xlarge", 40, 9, {"team": "serach", "project": "ranking", "workload": "train"},
         "training", ""),
    ):  # fmt: skip
        hours = world.days_between(first, days)
        fixed = cells(
            "ec2", f"BoxUsage:{kind}", account=RESEARCH, resource=instance_id(world, name), operation="RunInstances",
            price=PRICES[kind], zone="us-east-1b", tags=tags,
            text=f"${PRICES[kind]} per On Demand Linux {kind} Instance Hour",
        )  # fmt: skip
        label = Label(team=tags.get("team", ""), project=tags.get("project", ""), driver=driver)
        yield usage(f"on demand {name}", fixed, hours, whole(hours), label, waste=waste)


def storage_quantity(world: World, days: Ints, gigabytes: Ints | int) -> Ints:
    """GB-months [10^-6] that some gigabytes make in each day."""
    return np.asarray(gigabytes * HOURS_PER_DAY * MICRO // world.month_hours(days), dtype=np.int64)


def _storage(world: World) -> Iterator[Line]:
    days = world.calendar.days()
    count = np.arange(len(days), dtype=np.int64)
    for bucket, size_gb, growth_gb, kind, tags, waste, control in (
        ("ml-checkpoints-2025", 96_000, 0, "s3", {"team": "search", "project": "ranking"}, "forgotten checkpoints", ""),
        ("training-data", 41_000, 120, "s3", {"team": "search", "project": "embeddings"}, "", "data in use"),
        (
            "training-data-old",
            60_000,
            0,
            "s3-ia",
            {"team": "risk", "project": "fraud"},
            "",
            "archive on a cheaper tier",
        ),
        ("feature-store", 9_500, 35, "s3", {"team": "risk", "project": "fraud"}, "", ""),
        ("ads-logs", 22_000, 210, "s3", {}, "", ""),
        ("platform-logs", 14_000, 90, "s3", {"team": "platform", "project": "platform"}, "", ""),
    ):
        account = ADS if bucket == "ads-logs" else PRODUCTION
        fixed = cells(
            "s3", "TimedStorage-ByteHrs" if kind == "s3" else "TimedStorage-SIA-ByteHrs", account=account,
            resource=bucket, operation="StandardStorage" if kind == "s3" else "StandardIAStorage", unit="GB-Mo",
            price=PRICES[kind], tags=tags,
        )  # fmt: skip
        owner = Label(team=tags.get("team", "ads"), project=tags.get("project", ""), driver="storage")
        quantity = storage_quantity(world, days, size_gb + growth_gb * count)
        yield usage(f"bucket {bucket}", fixed, days, quantity, owner, hours=HOURS_PER_DAY, waste=waste, control=control)


def _traffic(world: World) -> Iterator[Line]:
    hours = world.calendar.hours()
    per_day = draw(world.bits("traffic"), world.calendar.day_count, 620_000_000, 780_000_000)  # [10^-6 GB]
    fixed = cells(
        "transfer", "DataTransfer-Out-Bytes", account=PRODUCTION, resource="search-frontend", unit="GB",
        operation="RunInstances", price=PRICES["egress"], tags={"team": "search", "project": "ranking"},
    )  # fmt: skip
    moving = Label(team="search", project="ranking", driver="data movement")
    yield usage("egress", fixed, hours, daily_shape(hours, per_day), moving)
    for run in ("ranker-l12", "ranker-l24"):
        _, _, first, days, tags = RUNS[run]
        span = world.days_between(first, days)
        fixed = cells(
            "transfer", "DataTransfer-Regional-Bytes", account=RESEARCH, resource=f"shards-{run}", unit="GB",
            operation="InterZone-In", price=PRICES["between zones"], tags=tags,
        )  # fmt: skip
        quantity = draw(world.bits("between zones", run), len(span), 900 * MICRO, 1_400 * MICRO)
        yield usage(f"between zones {run}", fixed, span, quantity, moving, waste="traffic between zones")
    for zone, own in (("us-east-1a", SHARED), ("us-east-1b", SHARED)):
        shared = Label(team="platform", project="platform", driver="data movement")
        tags = {"team": "platform", "project": "platform"}
        gateway = cells(
            "nat", "NatGateway-Hours", account=own, resource=f"nat-{zone}", operation="NatGateway",
            price=PRICES["nat"], tags=tags,
        )  # fmt: skip
        yield usage(f"nat hours {zone}", gateway, hours, whole(hours), shared)
        through = cells(
            "nat", "NatGateway-Bytes", account=own, resource=f"nat-{zone}", operation="NatGateway", unit="GB",
            price=PRICES["nat"], tags=tags,
        )  # fmt: skip
        yield usage(f"nat bytes {zone}", through, hours, daily_shape(hours, per_day), shared)


def _platform(world: World) -> Iterator[Line]:
    hours = world.calendar.hours()
    tags = {"team": "platform", "project": "platform"}
    label = Label(team="platform", project="platform", driver="shared platform")
    for service, usage_type, resource, price, units in (
        ("eks", "USE1-AmazonEKS-Hours:perCluster", "cluster/ml", PRICES["eks"], 2),
        ("cloudwatch", "CW:MetricMonitorUsage", "metrics", "0.3", 0),
    ):
        fixed = cells(
            service, usage_type, account=SHARED, resource=resource, operation="CreateOperation", price=price, tags=tags
        )
        quantity = whole(hours, units) if units else 4_200 * MICRO // world.month_hours(hours)
        yield usage(f"platform {service}", fixed, hours, quantity, label)


def late_usage(world: World) -> Iterator[Line]:
    """Use of the last two days of the first month that is billed with the month after it."""
    first_month_days = world.calendar.bounds[1] // HOURS_PER_DAY
    hours = world.days_between(first_month_days - 2, 2)
    if len(world.calendar.months) == 1:
        return
    fixed = cells(
        "ec2", "BoxUsage:g5.2xlarge", account=RESEARCH, resource=instance_id(world, "late"), operation="RunInstances",
        price=PRICES["g5.2xlarge"], tags={"team": "risk", "project": "fraud", "workload": "train"},
    )  # fmt: skip
    label = Label(team="risk", project="fraud", driver="training")
    yield usage("late", fixed, hours, whole(hours, 4), label, waste="late charge", billed_later=1)
