"""Feeds: each reads its format from a small file in the true layout; what the format hides is caught."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial

import pytest
from tests.prices.recorded import answers, serve

from unitcost.errors import BadPrice
from unitcost.facts.offers import Listing
from unitcost.prices.feeds import FEEDS, aws, azure, gcp, gpuhunt
from unitcost.prices.feeds.asking import Asked, Fetch
from unitcost.prices.recording import record

DAY = "2026-11-30"


def by_name(listings: list[Listing]) -> dict[str, list[Listing]]:
    found: dict[str, list[Listing]] = {}
    for item in listings:
        found.setdefault(item.instance_type, []).append(item)
    return found


def test_azure_reads_all_pages_and_tells_the_kinds_of_price_apart() -> None:
    found = by_name(list(azure.read(serve(answers()), Asked(day=DAY, regions=("eastus",)))))
    [h100] = found["Standard_NC40ads_H100_v5"]
    assert (h100.on_demand, h100.spot, h100.region, h100.currency) == (Decimal("7.1"), Decimal("2.3"), "eastus", "USD")
    assert h100.effective_from == datetime(2026, 9, 1, tzinfo=UTC)
    promises = {(c.plan, c.term_months): price for c, price in h100.committed}
    assert promises == {
        ("Reservation", 12): Decimal(5),  # 43,800 for the year, not for the hour
        ("Savings plan", 12): Decimal("5.5"), ("Savings plan", 36): Decimal("4.2"),
    }  # fmt: skip
    assert "Dsv5_Type1" not in found
    assert len(found["Standard_D2s_v5"]) == 2
    done = record([item for items in found.values() for item in items])
    assert {f.check for f in done.findings} == {"spot-placeholder", "accelerator-missing", "two-prices"}
    assert "Standard_D2s_v5" not in {r.sku for r in done.records}


def test_aws_takes_day_and_revision_from_the_publication() -> None:
    found = by_name(list(aws.read(serve(answers()), Asked(day=DAY, regions=("us-east-1", "moon-1")))))
    [p5] = found["p5.48xlarge"]
    assert (p5.on_demand, p5.memory_gib, p5.observed) == (Decimal(51), 2048, "2026-11-20")
    assert p5.source.revision == "2026-11-20T17:52:47Z"


def test_aws_may_be_gzip_without_saying_so() -> None:
    packed = {part: gzip.compress(body) for part, body in answers().items()}
    assert list(aws.read(serve(packed), Asked(day=DAY, regions=("us-east-1",))))


def test_aws_spot_unwraps_its_callback_and_old_names_of_regions() -> None:
    found = list(aws.read_spot(serve(answers()), Asked(day=DAY, regions=("us-east-1",))))
    spots = {(item.region, item.instance_type): item.spot for item in found}
    assert spots == {
        ("us-east-1", "p5.48xlarge"): Decimal("17.5"), ("us-east-1", "g6.xlarge"): Decimal("0.8048"),
        ("us-east-1", "p4d.24xlarge"): None,
    }  # fmt: skip
    linux = {
        ("aws", "us-east-1", "p5.48xlarge"): Decimal("55.04"),
        ("aws", "us-east-1", "g6.xlarge"): Decimal("0.8048"),
    }
    done = record(found, linux=linux)
    assert [(r.sku, r.category, r.price) for r in done.records] == [("p5.48xlarge", "Dynamic", Decimal("17.5"))]
    assert {f.check for f in done.findings} == {"spot-placeholder", "no-price"}
    everywhere = list(aws.read_spot(serve(answers()), Asked(day=DAY)))
    assert ("eu-west-1", "g5.xlarge") in {(item.region, item.instance_type) for item in everywhere}


def test_gcp_takes_a_repeated_price_for_no_commitment_and_zero_for_no_spot() -> None:
    found = by_name(list(gcp.read(serve(answers()), Asked(day=DAY, regions=("us-*",)))))
    assert set(found) == {"a3-highgpu-8g", "g2-standard-4", "m2-ultramem-208"}
    [a3] = found["a3-highgpu-8g"]
    assert {c.term_months: price for c, price in a3.committed} == {12: Decimal("58.8"), 36: Decimal("36.96")}
    assert (a3.accelerator, a3.accelerator_count, a3.spot) == ("h100-80gb", 8, Decimal("24.5"))
    assert found["g2-standard-4"][0].committed == ()
    assert found["m2-ultramem-208"][0].spot is None
    done = record([item for items in found.values() for item in items])
    assert {s.instance_type: s.accelerator for s in done.shapes}["a3-highgpu-8g"] == "H100-80GB"


def test_gpuhunt_joins_the_on_demand_and_spot_rows_of_a_machine() -> None:
    found = by_name(list(gpuhunt.read(serve(answers()), Asked(day=DAY), catalogue="runpod")))
    [h100] = found["NVIDIA H100 80GB HBM3"]
    assert (h100.provider, h100.on_demand, h100.spot, h100.accelerator_count) == (
        "runpod", Decimal("23.92"), Decimal("15.6"), 8,
    )  # fmt: skip
    assert h100.source.revision == "20261129-1"
    done = record([item for items in found.values() for item in items])
    assert [f.check for f in done.findings] == ["spot-placeholder"]


Reader = Callable[[Fetch, Asked], object]


@pytest.mark.parametrize(
    ("read", "address", "body"),
    [
        (azure.read, "azure", b"<html>"),
        (azure.read, "azure", b'{"error": "busy"}'),
        (aws.read, "awsstatic", b"{}"),
        (aws.read, "awsstatic", b'{"manifest": {"hawkFilePublicationDate": "2026-11-20"}}'),
        (aws.read_spot, "spot.js", b"callback(oops);"),
        (aws.read_spot, "spot.js", b'callback({"config": {}});'),
        (gcp.read, "csv", b"a,b\n1,2\n"),
        (partial(gpuhunt.read, catalogue="runpod"), "runpod", b"no archive"),
    ],
)
def test_another_form_is_an_error_that_says_so(read: Reader, address: str, body: bytes) -> None:
    with pytest.raises(BadPrice, match="older prices are kept"):
        list(read(serve({address: body}), Asked(day=DAY, regions=("us-east-1",))))  # type: ignore[call-overload]


def test_a_loop_of_pages_ends() -> None:
    page = b'{"Items": [], "NextPageLink": "https://prices.azure.com/again"}'
    with pytest.raises(BadPrice, match="more than 200 pages"):
        list(azure.read(serve({"azure": page}), Asked(day=DAY, regions=("eastus",))))


def test_each_feed_has_a_name_a_provider_and_a_licence() -> None:
    assert {"aws", "aws-spot", "azure", "gcp", "gpuhunt-runpod"} <= FEEDS.keys()
    assert all(name == feed.name and feed.provider and feed.licence for name, feed in FEEDS.items())
