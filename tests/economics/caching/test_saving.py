"""What a cache of predictions saves, by hand."""

from __future__ import annotations

from decimal import Decimal

from unitcost.economics.caching.saving import CacheCosts, net_saving_usd_per_1k, running_usd_per_month


def test_a_cache_pays_after_lookups_storage_and_wrong_hits() -> None:
    # a million requests a month, a fifth of them hits worth 0.001; lookups 10, storage 20, wrong answers 100
    costs = CacheCosts(
        usd_per_1k=Decimal(1), lookup_usd_per_1k=Decimal("0.01"), usd_per_gb_month=Decimal(10), entry_bytes=2_000,
        error_cost_usd=Decimal("0.05"),
    )  # fmt: skip
    saved = net_saving_usd_per_1k(costs, 0.2, entries=1_000_000, requests_per_month=1e6, changed_share=0.002)
    assert saved * 1_000 == Decimal(200 - 10 - 20 - 100)
    assert running_usd_per_month(costs, entries=1_000_000, requests_per_month=Decimal(1_000_000)) == 30
