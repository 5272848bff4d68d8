"""The feeds that a refresh can read, by name."""

from __future__ import annotations

from functools import partial

from unitcost.prices.feeds import aws, azure, gcp, gpuhunt
from unitcost.prices.feeds.asking import Feed

FEEDS: dict[str, Feed] = {
    feed.name: feed
    for feed in (
        Feed(name=aws.NAME, provider="aws", read=aws.read, licence="public feed", by_region=True),
        Feed(name=aws.SPOT_NAME, provider="aws", read=aws.read_spot, licence="public feed"),
        Feed(name=azure.NAME, provider="azure", read=azure.read, licence="public API", by_region=True),
        Feed(name=gcp.NAME, provider="gcp", read=gcp.read, licence="Apache-2.0"),
        *(
            Feed(
                name=f"gpuhunt-{name}",
                provider=provider,
                read=partial(gpuhunt.read, catalogue=name),
                licence="MPL-2.0",
            )
            for name, provider in gpuhunt.CATALOGUES.items()
        ),
    )
}
