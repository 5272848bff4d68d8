"""Google Compute Engine: the csv of gcloud-compute.com, on-demand, spot and committed.

Google's own catalogue needs a key; this list is made from it and needs none. It repeats the on-demand price where there is
no commitment, and writes 0 where there is no spot.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from decimal import Decimal

from unitcost import money
from unitcost.facts.offers import Listing
from unitcost.facts.prices import Commitment, Source
from unitcost.prices.feeds.asking import Asked, Fetch, changed, price_of, unzipped
from unitcost.units import HOURS_PER_MONTH

NAME = "gcp"
URL = "https://gcloud-compute.com/machine-types-regions.csv"
_COLUMNS = ("name", "region", "hour")
_PROMISES = (("month1yCud", 12), ("month3yCud", 36))


def read(fetch: Fetch, asked: Asked) -> Iterator[Listing]:
    """Machines of all regions that are asked for.

    Raises
    ------
    BadPrice
        When the csv lacks a column.
    """
    table = csv.DictReader(io.StringIO(unzipped(fetch(URL)).decode("utf-8"), newline=""))
    missing = [column for column in _COLUMNS if column not in (table.fieldnames or ())]
    if missing:
        raise changed(NAME, f"the csv has no column `{missing[0]}`")
    source = Source(key="gcloud-compute", name="gcloud-compute.com", revision=asked.day, licence="Apache-2.0")
    for row in table:
        if asked.wants(row["region"]):
            on_demand = price_of(row["hour"])
            yield Listing(
                source=source, observed=asked.day, provider="gcp", region=row["region"], instance_type=row["name"],
                vcpus=price_of(row.get("vCpus")), memory_gib=price_of(row.get("memoryGB")),
                accelerator=_none_if_zero(row.get("acceleratorType")),
                accelerator_count=_count(row), on_demand=on_demand, spot=price_of(row.get("hourSpot")) or None,
                committed=tuple(_promises(row, on_demand)),
            )  # fmt: skip


def _promises(row: Mapping[str, str], on_demand: Decimal | None) -> Iterator[tuple[Commitment, Decimal]]:
    for column, months in _PROMISES:
        monthly = price_of(row.get(column))
        if not monthly or on_demand is None:
            continue
        hourly = money.round_places(money.divide(monthly, Decimal(HOURS_PER_MONTH)), 6)
        if hourly < on_demand and money.subtract(on_demand, hourly) > Decimal("0.0001"):
            yield Commitment(plan="Committed use discount", term_months=months, payment="Monthly"), hourly


def _count(row: Mapping[str, str]) -> Decimal | None:
    count = price_of(row.get("acceleratorCount"))
    return count or None


def _none_if_zero(text: str | None) -> str:
    return "" if text in (None, "", "0", "0.0") else str(text).removeprefix("nvidia-").removeprefix("tesla-")
