"""Each fault that price lists have been seen to hold is caught by a check; a sound neighbour is left alone."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from unitcost.facts.offers import Finding, Listing, Shape
from unitcost.facts.prices import Source
from unitcost.prices.recording import Recorded, record

SOURCE = Source(key="list", licence="MIT")
SHAPES = {
    ("azure", "Standard_ND96isr_H100_v5"): Shape(
        provider="azure", instance_type="Standard_ND96isr_H100_v5", accelerator="H100-80GB",
        accelerator_count=Decimal(8), accelerator_memory_gib=Decimal(80),
    ),
    ("aws", "g6e.xlarge"): Shape(
        provider="aws", instance_type="g6e.xlarge", accelerator="L40S", accelerator_count=Decimal(1),
        accelerator_memory_gib=Decimal(48),
    ),
}  # fmt: skip


def listing(**said: Any) -> Listing:
    numbers = ("on_demand", "spot", "vcpus", "accelerator_count", "device_memory_gib")
    told = {k: Decimal(str(v)) if k in numbers and v is not None else v for k, v in said.items()}
    base: dict[str, Any] = {"provider": "p", "region": "r", "instance_type": "m", "on_demand": Decimal(10)}
    return Listing(source=SOURCE, observed="2026-07-20", **{**base, **told})


def checks_of(done: Recorded) -> list[tuple[str, str]]:
    return [(finding.check, finding.done) for finding in done.findings]


def only(done: Recorded) -> Finding:
    [finding] = done.findings
    return finding


@pytest.mark.parametrize("spot", [10, "10.0000", "9.99999", "10.5"])
def test_spot_that_is_on_demand_again_is_left_out(spot: Any) -> None:
    done = record([listing(spot=spot)])
    assert (only(done).check, only(done).done) == ("spot-placeholder", "left out")
    assert [r.category for r in done.records] == ["Standard"]


def test_spot_below_on_demand_stays() -> None:
    done = record([listing(spot=3)])
    assert done.findings == ()
    assert [(r.category, r.price) for r in done.records] == [("Standard", 10), ("Dynamic", 3)]


def test_spot_far_below_on_demand_is_said_and_kept() -> None:
    done = record([listing(spot=1)])
    assert checks_of(done) == [("spot-very-low", "flagged")]
    assert done.records[1].remarks == ("spot is 10 % of on-demand",)


def test_zero_means_none() -> None:
    assert checks_of(record([listing(spot=0)])) == [("zero-means-none", "left out")]
    done = record([listing(on_demand=0)])
    assert checks_of(done) == [("zero-means-none", "left out"), ("no-price", "dropped")]
    assert done.records == ()


def test_spot_without_on_demand_is_said_and_kept() -> None:
    done = record([listing(on_demand=None, spot=3)])
    assert checks_of(done) == [("spot-only", "flagged")]
    assert [r.category for r in done.records] == ["Dynamic"]


@pytest.mark.parametrize(("price", "left_out"), [("0.01", True), ("0.83", True), ("41.8", True), ("8.9", False)])
def test_a_price_far_from_the_other_regions_is_left_out(price: str, left_out: bool) -> None:
    others = [listing(region=f"r{i}", on_demand=p) for i, p in enumerate(("8.34", "8.4", "8.2", "8.34"))]
    done = record([*others, listing(region="odd", on_demand=price)])
    assert ("odd" in {r.region for r in done.records}) != left_out
    assert {f.check for f in done.findings} == ({"outlier", "no-price"} if left_out else set())


def test_two_regions_are_too_few_to_call_one_an_outlier() -> None:
    assert record([listing(on_demand="0.01"), listing(region="s", on_demand="8.34")]).findings == ()


@pytest.mark.parametrize(("price", "left_out"), [("9.554", True), ("7.346", False), ("8.000", False)])
def test_a_price_with_windows_is_not_that_of_the_machine(price: str, left_out: bool) -> None:
    linux = {("azure", "eastus", "Standard_NC48ads_A100_v4"): Decimal("7.346")}
    row = listing(
        provider="azure", region="eastus", instance_type="Standard_NC48ads_A100_v4", vcpus=48, on_demand=price
    )
    checks = {f.check for f in record([row], linux=linux).findings}
    assert ("windows-price" in checks) == left_out


def test_a_list_that_says_windows_is_believed() -> None:
    assert checks_of(record([listing(operating_system="Windows")])) == [("other-system", "dropped")]


def test_another_number_than_the_machine_has_is_repaired_from_its_checked_shape() -> None:
    row = listing(
        provider="azure", instance_type="Standard_ND96isr_H100_v5", accelerator="H100", accelerator_count=12, vcpus=96
    )
    done = record([row], shapes=SHAPES)
    assert checks_of(done) == [("count", "repaired")]
    assert done.shapes[0].accelerator_count == 8


def test_a_wrong_label_is_repaired_from_the_checked_shape() -> None:
    row = listing(provider="aws", instance_type="g6e.xlarge", accelerator="L4", accelerator_count=1)
    done = record([row], shapes=SHAPES)
    assert checks_of(done) == [("label", "repaired")]
    assert done.shapes[0].accelerator == "L40S"


def test_a_list_without_devices_gets_them_silently() -> None:
    done = record([listing(provider="aws", instance_type="g6e.xlarge")], shapes=SHAPES)
    assert done.findings == ()
    assert done.shapes[0].accelerator == "L40S"


def test_a_machine_named_after_a_device_that_is_not_listed_is_said() -> None:
    for name in ("Standard_NC8ads_A10_v4", "Standard_NCC40ads_H100_v5"):
        done = record([listing(instance_type=name, vcpus=8)])
        assert checks_of(done) == [("accelerator-missing", "flagged")]
    assert record([listing(instance_type="t4g.small")]).findings == ()


@pytest.mark.parametrize("label", [0, 1])
def test_a_slice_is_known_by_its_memory(label: int) -> None:
    done = record([listing(accelerator="L4", accelerator_count=label, device_memory_gib="2.98")])
    assert checks_of(done) == [("memory-of-slice", "repaired")]
    assert (done.shapes[0].accelerator_count, done.shapes[0].accelerator_memory_gib) == (Decimal("0.125"), 24)


def test_memory_in_gigabytes_called_mebibytes_is_repaired() -> None:
    done = record([listing(accelerator="A100 PCIe", accelerator_count=1, device_memory_gib="0.078125")])
    assert checks_of(done) == [("memory-unit", "repaired")]
    assert done.shapes[0].accelerator == "A100-80GB"


def test_memory_of_all_devices_is_divided() -> None:
    done = record([listing(accelerator="H200", accelerator_count=4, device_memory_gib="561.6")])
    assert checks_of(done) == [("memory-of-all", "repaired")]
    assert done.shapes[0].accelerator_memory_gib == 141


def test_memory_that_may_be_of_one_or_of_all_is_left_out() -> None:
    done = record([listing(accelerator="A100", accelerator_count=2, device_memory_gib=80)])
    assert checks_of(done) == [("memory-unsure", "left out"), ("accelerator-unknown", "flagged")]
    assert record([listing(accelerator="A100-80GB", accelerator_count=2, device_memory_gib=80)]).findings == ()


def test_memory_that_no_such_device_has_is_said() -> None:
    done = record([listing(accelerator="RTX4090", accelerator_count=1, device_memory_gib="47.99")])
    assert checks_of(done) == [("memory-odd", "flagged")]
    assert done.shapes[0].accelerator == "RTX4090"


def test_an_unknown_device_is_said_and_keeps_its_name() -> None:
    done = record([listing(accelerator="XPU-9", accelerator_count=1, device_memory_gib=48)])
    assert checks_of(done) == [("accelerator-unknown", "flagged")]
    assert done.shapes[0].accelerator == "XPU-9"


@pytest.mark.parametrize(
    "name", ["Dadsv5_Type1", "DCadsv5 Type 1", "Ebdsv5-Type1", "ARM_SKU_NAME_PLACEHOLDER", "Standard_NC6_Promo"]
)
def test_what_is_no_machine_is_dropped(name: str) -> None:
    assert checks_of(record([listing(instance_type=name)])) == [("no-machine", "dropped")]


def test_blanks_and_empty_parts_of_names_are_repaired() -> None:
    done = record([listing(region=", US, NA", instance_type="Standard_NM16ads_MA35D  ")])
    assert checks_of(done) == [("names", "repaired")]
    assert (done.records[0].region, done.records[0].sku) == ("US, NA", "Standard_NM16ads_MA35D")
    foreign = record([listing(region="Hafnarfjarðarkaupstaður, IS, EU")])
    assert foreign.findings == ()
    assert foreign.records[0].region == "Hafnarfjarðarkaupstaður, IS, EU"


def test_one_machine_with_two_prices_is_dropped_and_with_one_price_kept_once() -> None:
    done = record([listing(), listing(on_demand=11), listing(region="s"), listing(region="s")])
    assert {f.check for f in done.findings} == {"two-prices"}
    assert [r.region for r in done.records] == ["s"]


def test_one_price_in_every_region_says_nothing_of_where_it_is_sold() -> None:
    done = record([listing(region=f"r{i}") for i in range(10)])
    assert checks_of(done) == [("everywhere", "flagged")]
    assert all(r.remarks for r in done.records)
    assert record([listing(region=f"r{i}") for i in range(9)]).findings == ()


def test_a_machine_that_differs_by_region_has_a_shape_for_each() -> None:
    rows = [listing(region="a"), replace(listing(region="b"), memory_gib=Decimal(1800))]
    assert [(s.region, s.memory_gib) for s in record(rows).shapes] == [("a", None), ("b", 1800)]


def test_a_stated_beginning_is_kept_and_another_is_the_day_of_reading() -> None:
    from datetime import UTC, datetime

    began = datetime(2026, 6, 1, tzinfo=UTC)
    stated, spot = record([replace(listing(spot=3), effective_from=began)]).records
    assert (stated.dating, stated.effective_from) == ("stated", began)
    assert (spot.dating, spot.effective_from) == ("observed", datetime(2026, 7, 20, tzinfo=UTC))
