"""Machines: prices as last read, earlier ones, spot by zone and by advisor, committed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from statistics import median

from tools.price_tables.origins import SOURCES, Tables, facts, gib, number, source_of
from unitcost import money
from unitcost.facts.offers import Listing
from unitcost.facts.prices import (
    ACCELERATOR_HOUR,
    MACHINE_HOUR,
    Commitment,
    PriceRecord,
    Source,
    first_day,
    flat,
    midnight,
)
from unitcost.prices import recording
from unitcost.units import HOURS_PER_MONTH


def instances(made: Tables) -> None:
    """Machines and their prices as they were last read."""
    listings = []
    for row in facts(made.folder / "instances.csv"):
        source = made.source(row["source"])
        if source is None:
            continue
        spot_origin = row["spot_source"]
        derived = spot_origin.startswith("spotinfo") or "median of" in spot_origin
        spot_source = source if spot_origin in ("", "same") else source_of(spot_origin)
        listings.append(
            Listing(
                source=source,
                observed=row["as_of"],
                provider=row["cloud"],
                region=row["region"],
                instance_type=row["instance_type"],
                vcpus=number(row["vcpus"]),
                memory_gib=number(row["memory_gib"]),
                accelerator=row["accelerator"],
                accelerator_count=number(row["accelerator_count"]),
                device_memory_gib=number(row["accelerator_memory_gib"]),
                unit=ACCELERATOR_HOUR if row["instance_type"].startswith("tpu-") else MACHINE_HOUR,
                on_demand=number(row["on_demand_usd_h"]),
                spot=None if derived else number(row["spot_usd_h"]),
                spot_source=spot_source,
                spot_observed=row["spot_as_of"],
            )
        )
    made.add(listings)


def more_regions(made: Tables) -> None:
    """Accelerator machines of Azure and Google in the other regions of the raw snapshots."""
    have = {(s.provider, s.instance_type) for s in made.shapes if s.accelerator}
    seen = {(r.provider, r.sku, r.region) for r in made.records}
    for provider, name, file in (
        ("azure", "vm_size", "azure_ondemand_2026-06-18_8regions.csv"),
        ("gcp", "machine_type", "gcp_ondemand_spot_2026-08-03_all_regions.csv"),
    ):
        rows = [
            Listing(
                source=SOURCES[f"karpenter-provider-{provider}"],
                observed=row["as_of"],
                provider=provider,
                region=row["region"],
                instance_type=row[name],
                on_demand=number(row["on_demand_usd_h"]),
                spot=number(row.get("spot_usd_h", "")),
            )
            for row in facts(made.folder / "files" / file)
            if (provider, row[name]) in have and (provider, row[name], row["region"]) not in seen
        ]
        made.add(rows)


def earlier_aws(made: Tables) -> None:
    """Prices of 2025 for the machines of AWS in the regions where a later price is known."""
    seen = {(r.sku, r.region) for r in made.records if r.provider == "aws" and r.category == "Standard"}
    now = {(r.sku, r.region, r.observed) for r in made.records if r.provider == "aws"}
    made.add(
        [
            Listing(
                source=SOURCES["yeo/ec2.shop"],
                observed=row["published"][:10],
                provider="aws",
                region=row["region"],
                instance_type=row["instance_type"],
                on_demand=number(row["on_demand_usd_h"]),
            )
            for row in facts(made.folder / "files/aws_ondemand_2025-04-04_ec2shop.csv")
            if (row["instance_type"], row["region"]) in seen
            and (row["instance_type"], row["region"], row["published"][:10]) not in now
        ]
    )


def spot_by_zone(made: Tables) -> None:
    """Spot prices of each zone as they were read, and their median as the price of the region."""
    done = recording.record(_zones(made), shapes={(s.provider, s.instance_type): s for s in made.shapes})
    made.findings += done.findings
    zones: dict[tuple[str, str], list[PriceRecord]] = defaultdict(list)
    on_demand: dict[tuple[str, str], PriceRecord] = {}
    for record in done.records:
        if record.category == "Dynamic":
            zones[record.sku, record.region].append(record)
        else:
            on_demand.setdefault((record.sku, record.region), replace(record, zone="", remarks=()))
    have = {record.id for record in made.records}
    made.records += [record for record in on_demand.values() if record.id not in have]
    for records in zones.values():
        middle = replace(
            records[0], zone="", tiers=flat(median(r.price for r in records)), remarks=(),
            derived_from=f"median of {len(records)} zones", inputs=tuple(sorted(r.id for r in records)),
        )  # fmt: skip
        made.records += [*records, middle]


def _zones(made: Tables) -> list[Listing]:
    source = Source(key="skypilot-00148f2", name="skypilot-catalog", revision="00148f2", licence="Apache-2.0")
    return [
        Listing(
            source=source,
            observed="2025-12",
            provider="aws",
            region=row["Region"],
            zone=row["AvailabilityZone"],
            instance_type=row["InstanceType"],
            accelerator=row["AcceleratorName"],
            vcpus=number(row["vCPUs"]),
            accelerator_count=number(row["AcceleratorCount"]),
            on_demand=number(row["Price"]),
            spot=number(row["SpotPrice"]),
            device_memory_gib=gib(row["GpuMemoryMiB"]),
        )
        for row in facts(made.folder / "files/skypilot_v8_aws_p-family_excerpt.csv")
    ]


def spot_by_advisor(made: Tables) -> None:
    """Spot prices from the discount that the spot advisor states and the on-demand price of that time."""
    source = SOURCES["spotinfo"]
    taken = {(r.sku, r.region) for r in made.records if r.provider == "aws" and r.category == "Dynamic"}
    bases: dict[tuple[str, str], list[PriceRecord]] = defaultdict(list)
    for record in made.records:
        if record.provider == "aws" and record.category == "Standard":
            bases[record.sku, record.region].append(record)
    for row in facts(made.folder / "files/aws_spot_advisor_2025-06-28.csv"):
        key = (row["instance_type"], row["region"])
        if row["os"] != "Linux" or key in taken or key not in bases:
            continue
        day = "2025-06-28"
        before = [record for record in bases[key] if record.observed <= day]
        base = max(before, key=lambda r: r.observed) if before else min(bases[key], key=lambda r: r.observed)
        share = money.divide(Decimal(row["savings_over_on_demand_pct"]), Decimal(100))
        price = money.multiply(base.price, money.subtract(Decimal(1), share))
        made.records.append(
            replace(
                base,
                category="Dynamic",
                tiers=flat(price),
                source=source,
                observed=day,
                remarks=(),
                effective_from=midnight(first_day(day)),
                inputs=(base.id,),
                derived_from=f"on-demand x (1 - {row['savings_over_on_demand_pct']} %)",
            )
        )


def committed(made: Tables) -> None:
    """Reserved and committed prices."""
    for row in facts(made.folder / "committed.csv"):
        source = made.source(row["source"])
        if source is not None and row["upfront_usd"] == "0":
            term = int(row["term_months"])
            made.records.append(
                _committed(
                    row,
                    source,
                    Commitment(plan=row["commitment"], term_months=term, payment=row["payment_option"]),
                    Decimal(row["hourly_usd"]),
                )
            )
    for row in facts(made.folder / "files/gcp_a2-highgpu-1g_2025-03-06_cyclenerd_excerpt.csv"):
        for years, column in ((1, "month_1y"), (3, "month_3y")):
            price = money.round_places(money.divide(Decimal(row[column]), Decimal(HOURS_PER_MONTH)), 6)
            promise = Commitment(plan="Committed use discount", term_months=12 * years, payment="Monthly")
            told = {"cloud": "gcp", "instance_type": row["machine_type"], **row}
            record = _committed(told, SOURCES["Cyclenerd"], promise, price)
            made.records.append(replace(record, derived_from=f"{row[column]} a month / {HOURS_PER_MONTH} h"))


def _committed(row: dict[str, str], source: Source, promise: Commitment, price: Decimal) -> PriceRecord:
    return PriceRecord(
        kind="instance",
        provider=row["cloud"],
        region=row["region"],
        sku=row["instance_type"],
        unit=MACHINE_HOUR,
        currency="USD",
        category="Committed",
        commitment=promise,
        tiers=flat(price),
        observed=row["as_of"],
        effective_from=midnight(first_day(row["as_of"])),
        source=source,
    )
