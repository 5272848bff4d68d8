"""The price feeds behind the pages of Amazon EC2: on-demand for Linux by region, and spot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from unitcost.facts.offers import Listing
from unitcost.facts.prices import Source
from unitcost.prices.feeds.asking import Asked, Fetch, as_json, changed, price_of, unzipped

NAME = "aws"
SPOT_NAME = "aws-spot"
URL = (
    "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/current/ec2-ondemand-without-sec-sel/"
    "{location}/Linux/index.json"
)
SPOT_URL = "https://spot-price.s3.amazonaws.com/spot.js"
#: Region -> name of its document.
LOCATIONS = {
    "af-south-1": "Africa (Cape Town)", "ap-east-1": "Asia Pacific (Hong Kong)",
    "ap-northeast-1": "Asia Pacific (Tokyo)", "ap-northeast-2": "Asia Pacific (Seoul)",
    "ap-northeast-3": "Asia Pacific (Osaka)", "ap-south-1": "Asia Pacific (Mumbai)",
    "ap-south-2": "Asia Pacific (Hyderabad)", "ap-southeast-1": "Asia Pacific (Singapore)",
    "ap-southeast-2": "Asia Pacific (Sydney)", "ap-southeast-3": "Asia Pacific (Jakarta)",
    "ca-central-1": "Canada (Central)", "eu-central-1": "EU (Frankfurt)", "eu-central-2": "Europe (Zurich)",
    "eu-north-1": "EU (Stockholm)", "eu-south-1": "EU (Milan)", "eu-south-2": "Europe (Spain)",
    "eu-west-1": "EU (Ireland)", "eu-west-2": "EU (London)", "eu-west-3": "EU (Paris)",
    "il-central-1": "Israel (Tel Aviv)", "me-central-1": "Middle East (UAE)", "me-south-1": "Middle East (Bahrain)",
    "sa-east-1": "South America (Sao Paulo)", "us-east-1": "US East (N. Virginia)", "us-east-2": "US East (Ohio)",
    "us-west-1": "US West (N. California)", "us-west-2": "US West (Oregon)",
}  # fmt: skip
#: Regions as the spot feed still calls some of them.
_SPOT_REGIONS = {
    "us-east": "us-east-1", "us-west": "us-west-1", "eu-ireland": "eu-west-1", "apac-sin": "ap-southeast-1",
    "apac-syd": "ap-southeast-2", "apac-tokyo": "ap-northeast-1",
}  # fmt: skip
_CALLBACK = re.compile(rb"^\s*callback\((?P<json>.*)\)\s*;?\s*$", re.DOTALL)
_GIB = re.compile(r"(?P<size>[\d.,]+)\s*GiB")


def read(fetch: Fetch, asked: Asked) -> Iterator[Listing]:
    """On-demand prices for Linux as published; the day is that of the publication.

    Raises
    ------
    BadPrice
        When a document is not of the known form.
    """
    for region in asked.regions:
        location = LOCATIONS.get(region)
        if location is None:
            continue
        document = as_json(fetch(URL.format(location=quote(location, safe="()"))), NAME)
        try:
            published = str(document["manifest"]["hawkFilePublicationDate"])
            machines = [offer for offers in document["regions"].values() for offer in offers.values()]
        except (KeyError, TypeError, AttributeError) as error:
            raise changed(NAME, f"a document has no {error}") from None
        source = Source(key="aws-feed", name="AWS EC2 price feed", revision=published, licence="public feed")
        for offer in machines:
            yield _machine(offer, region, published[:10], source)


def read_spot(fetch: Fetch, asked: Asked) -> Iterator[Listing]:
    """Spot prices for Linux now.

    Raises
    ------
    BadPrice
        When the document is not of the known form.
    """
    body = unzipped(fetch(SPOT_URL))
    wrapped = _CALLBACK.match(body)
    document = as_json(wrapped["json"] if wrapped else body, SPOT_NAME)
    source = Source(key="aws-spot-feed", name="AWS EC2 spot feed", revision=asked.day, licence="public feed")
    try:
        regions = document["config"]["regions"]
        for entry in regions:
            region = _SPOT_REGIONS.get(entry["region"], entry["region"])
            if asked.wants(region):
                for group in entry["instanceTypes"]:
                    for size in group["sizes"]:
                        yield Listing(
                            source=source, observed=asked.day, provider="aws", region=region,
                            instance_type=size["size"], spot=_linux(size),
                        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise changed(SPOT_NAME, f"the document has no {error}") from None


def _machine(offer: Mapping[str, Any], region: str, day: str, source: Source) -> Listing:
    memory = _GIB.search(str(offer.get("Memory", "")))
    return Listing(
        source=source, observed=day, provider="aws", region=region, instance_type=str(offer.get("Instance Type", "")),
        operating_system=str(offer.get("Operating System") or "linux"), on_demand=price_of(offer.get("price")),
        memory_gib=Decimal(memory["size"].replace(",", "")) if memory else None,
    )  # fmt: skip


def _linux(size: Mapping[str, Any]) -> Decimal | None:
    for column in size["valueColumns"]:
        if column["name"] == "linux":
            return price_of(column["prices"].get("USD"))
    return None
