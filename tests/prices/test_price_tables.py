"""The shipped tables are what the script makes of the facts, and the facts' known faults are caught."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest
from tools.price_tables import make
from tools.price_tables.origins import Tables

from unitcost.facts.offers import Listing
from unitcost.facts.prices import Source
from unitcost.prices import Wanted, bundled
from unitcost.prices.history import changes
from unitcost.prices.recording import record

SOURCE = Source(key="raw", licence="Apache-2.0")


@pytest.fixture(scope="module")
def made(shared_prices: Path) -> tuple[dict[str, str], Tables]:
    return make(shared_prices)


def facts(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def number(text: str) -> Decimal | None:
    return Decimal(text) if text else None


def test_the_shipped_tables_are_those_of_the_script(made: tuple[dict[str, str], Tables]) -> None:
    folder = files("unitcost.prices") / "tables"
    for name, text in made[0].items():
        assert (folder / name).read_text(encoding="utf-8") == text, f"run `python -m tools.price_tables` for {name}"


def test_rows_without_a_stated_permission_are_left_out(made: tuple[dict[str, str], Tables]) -> None:
    assert sum(made[1].left_out.values()) == 47 + 15  # instances; data movement
    assert not any("api-evangelist" in str(r.source) for r in made[1].records)
    assert "coreweave" not in {r.provider for r in made[1].records}


def test_the_prices_of_aws_that_moved_are_those_that_were_seen_to_move(shared_prices: Path) -> None:
    records = bundled().records(Wanted(provider="aws", region="us-east-1", category="Standard", kind="instance"))
    moved = {
        c.after.sku: (c.before.price, c.after.price)
        for c in changes(records, datetime(2025, 4, 5, tzinfo=UTC), datetime(2026, 7, 21, tzinfo=UTC))
        if c.before and c.after
    }
    seen = {
        row["instance_type"]: (Decimal(row["usd_h_2025-04-04"]), Decimal(row["usd_h_2026-07-20"]))
        for row in facts(shared_prices / "drift_aws_us-east-1.csv")
    }
    priced = {r.sku for r in records}
    assert moved == {name: prices for name, prices in seen.items() if name in priced}
    assert "p5.48xlarge" in moved


def test_placeholders_among_the_spot_prices_of_aws(shared_prices: Path) -> None:
    rows = list(facts(shared_prices / "files/skypilot_v8_aws_p-family_excerpt.csv"))
    done = record([
        Listing(source=SOURCE, observed="2025-12", provider="aws", region=row["Region"], zone=row["AvailabilityZone"],
                instance_type=row["InstanceType"], on_demand=number(row["Price"]), spot=number(row["SpotPrice"]))
        for row in rows
    ])  # fmt: skip
    assert sum(bool(row["SpotPrice"]) for row in rows) == 116
    assert Counter(f.check for f in done.findings)["spot-placeholder"] == 13


def test_spot_of_tpus_above_on_demand(shared_prices: Path) -> None:
    kinds = json.loads((shared_prices / "files/gpuhunt_tpu_pricing.json").read_text(encoding="utf-8"))
    done = record([
        Listing(source=SOURCE, observed="2024-12-23", provider="gcp", region=region, instance_type=kind,
                on_demand=number(str(row.get("On Demand (USD)") or "")), spot=number(str(row.get("Spot (USD)") or "")))
        for kind, regions in kinds.items() for region, row in regions.items()
    ])  # fmt: skip
    assert Counter(f.check for f in done.findings if "dearer" in f.what) == {"spot-placeholder": 6}


def test_zeros_and_names_of_azure(shared_prices: Path) -> None:
    done = record([
        Listing(source=SOURCE, observed="2026-06-18", provider="azure", region=row["region"],
                instance_type=row["vm_size"], on_demand=number(row["on_demand_usd_h"]))
        for row in facts(shared_prices / "files/azure_ondemand_2026-06-18_8regions.csv")
    ])  # fmt: skip
    found = Counter(f.check for f in done.findings)
    assert found["zero-means-none"] == sum(
        Decimal(row["on_demand_usd_h"]) == 0
        for row in facts(shared_prices / "files/azure_ondemand_2026-06-18_8regions.csv")
        if "PLACEHOLDER" not in row["vm_size"]
    )
    dropped = {f.instance_type for f in done.findings if f.check == "no-machine"}
    assert {"Dadsv5_Type1", "DCadsv5 Type 1", "Standard_NC6_Promo", "ARM_SKU_NAME_PLACEHOLDER"} <= dropped
    assert not any(r.sku != r.sku.strip() or "Type" in r.sku for r in done.records)


def test_holes_and_memory_of_a_marketplace(shared_prices: Path) -> None:
    rows = list(facts(shared_prices / "files/skypilot_v8_vast_vms.csv"))
    done = record([
        Listing(source=SOURCE, observed="2025-12", provider="vast", region=row["Region"],
                instance_type=row["InstanceType"], accelerator=row["AcceleratorName"],
                accelerator_count=Decimal(row["AcceleratorCount"]), on_demand=number(row["Price"]),
                spot=number(row["SpotPrice"]), device_memory_gib=memory_gib(row["GpuInfo"]))
        for row in rows
    ])  # fmt: skip
    found = Counter(f.check for f in done.findings)
    assert found["zero-means-none"] == len(rows) == 67
    several = [row for row in rows if int(row["AcceleratorCount"]) > 1]
    mislabelled = {f.instance_type for f in done.findings if f.check == "memory-odd"}
    assert mislabelled == {
        "2x-RTX_4070S_Ti-32-65536", "2x-RTX_3060_Ti-32-65536", "1x-RTX_4060_Ti-32-65536", "1x-RTX_4090-32-65536",
    }  # fmt: skip
    [unsure] = [f.instance_type for f in done.findings if f.check == "memory-unsure"]
    assert unsure == "2x-A100_SXM4-32-65536"  # 80 GiB: two of 40, or each of 80?
    assert found["memory-of-all"] == len([r for r in several if r["InstanceType"] not in {unsure, *mislabelled}])
    assert found["names"] == sum(row["Region"].startswith(",") for row in rows)


def memory_gib(text: str) -> Decimal:
    import ast

    return Decimal(ast.literal_eval(text)["Gpus"][0]["MemoryInfo"]["SizeInMiB"]) / 1024


def test_a_machine_with_twelve_accelerators_has_eight(shared_prices: Path) -> None:
    rows = facts(shared_prices / "files/skypilot_v6_azure_gpu_excerpt.csv")
    done = record(
        [
            Listing(source=SOURCE, observed="2025-02", provider="azure", region=row["Region"],
                    instance_type=row["InstanceType"], accelerator=row["AcceleratorName"], vcpus=number(row["vCPUs"]),
                    accelerator_count=number(row["AcceleratorCount"]), on_demand=number(row["Price"]),
                    spot=number(row["SpotPrice"]))
            for row in rows
        ],
        shapes=bundled().machines(),
    )  # fmt: skip
    wrong = {f.instance_type for f in done.findings if f.check == "count"}
    assert {"Standard_ND96isr_H100_v5", "Standard_NV4as_v4", "Standard_NCC40ads_H100_v5"} <= wrong
    assert "Standard_NC8ads_A10_v4" in {f.instance_type for f in done.findings if f.check == "accelerator-missing"}
