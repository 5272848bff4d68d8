"""Amounts and prices that price pages show, through the whole book."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from unitcost.economics.tiers import tiered_amount
from unitcost.prices import Wanted, bundled

TIB_IN_GB = 1024  # the bill counts 1 TB as 1,024 GB


@pytest.mark.parametrize(("tebibytes", "usd"), [(10, "921.60"), (50, "4403.20"), (150, "11571.20")])
def test_aws_internet_egress_from_us_east_1(tebibytes: int, usd: str) -> None:
    at = datetime(2026, 7, 21, tzinfo=UTC)
    [item] = bundled().find(Wanted(sku="internet_egress", provider="aws", region="us-east-1"), at)
    quantity = Decimal(tebibytes * TIB_IN_GB)
    assert tiered_amount(quantity, item.record.tiers, mode=item.record.mode) == Decimal(usd)


#: On-demand [USD/h], read independently of the sources of the tables.
KNOWN = {
    ("aws", "us-east-1"): {
        "p4d.24xlarge": "21.957642", "p4de.24xlarge": "27.44705", "p5.48xlarge": "55.04", "g5.xlarge": "1.006",
        "g6e.xlarge": "1.861", "p6-b200.48xlarge": "113.9328", "p6-b300.48xlarge": "142.416",
        "trn1.32xlarge": "21.50",
    },
    ("gcp", "us-central1"): {
        "a2-highgpu-1g": "3.673385", "a2-ultragpu-1g": "5.0688", "a3-highgpu-8g": "88.49", "g2-standard-4": "0.7068",
        "e2-standard-4": "0.1340",
    },
    ("azure", "eastus"): {
        "Standard_ND96asr_v4": "27.197", "Standard_ND96amsr_A100_v4": "32.77", "Standard_ND96isr_H100_v5": "98.32",
        "Standard_NC24ads_A100_v4": "3.673", "Standard_NC4as_T4_v3": "0.526",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "region", "name", "usd"),
    [(*place, name, usd) for place, prices in KNOWN.items() for name, usd in prices.items()],
)
def test_known_on_demand_prices(provider: str, region: str, name: str, usd: str) -> None:
    item = bundled().price(name, provider=provider, region=region, at=datetime(2026, 11, 9, tzinfo=UTC))
    # e2-standard-4 is quoted to four places, the table has more
    assert abs(item.record.price - Decimal(usd)) < Decimal("0.00005")


def test_the_price_of_a_p5_before_and_after_its_cut() -> None:
    book = bundled()
    for day, usd in ((datetime(2025, 5, 1, tzinfo=UTC), "98.32"), (datetime(2026, 7, 21, tzinfo=UTC), "55.04")):
        item = book.price("p5.48xlarge", region="us-east-1", at=day)
        assert item.record.price == Decimal(usd)
        assert item.record.source.licence in ("MIT", "Apache-2.0")
