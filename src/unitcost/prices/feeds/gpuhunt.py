"""The catalogues of gpuhunt: GPU clouds, one zipped csv each, on-demand and spot in rows of their own."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from unitcost.facts.offers import Listing
from unitcost.facts.prices import Source
from unitcost.prices.feeds.asking import Asked, Fetch, changed, price_of

URL = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"
#: Catalogue -> provider as the book calls it. The catalogues of AWS, Azure and Google are not read: these have feeds.
CATALOGUES = {
    "cloudrift": "cloudrift",
    "lambdalabs": "lambda",
    "nebius": "nebius",
    "oci": "oci",
    "runpod": "runpod",
    "verda": "verda",
}
_COLUMNS = ("instance_name", "location", "price", "gpu_count", "gpu_name", "spot")


def read(fetch: Fetch, asked: Asked, *, catalogue: str) -> Iterator[Listing]:
    """Machines of one cloud.

    Raises
    ------
    BadPrice
        When the archive or its csv is not of the known form.
    """
    name = f"gpuhunt-{catalogue}"
    version = fetch(f"{URL}/{catalogue}/version").decode("utf-8").strip()
    body = fetch(f"{URL}/{catalogue}/{version}/catalog.zip")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            text = archive.read(f"{catalogue}.csv").decode("utf-8")
    except (zipfile.BadZipFile, KeyError) as error:
        raise changed(name, f"the archive cannot be read: {error}") from None
    table = csv.DictReader(io.StringIO(text, newline=""))
    missing = [column for column in _COLUMNS if column not in (table.fieldnames or ())]
    if missing:
        raise changed(name, f"the csv has no column `{missing[0]}`")
    source = Source(key=name, name=f"gpuhunt catalogue {catalogue}", revision=version, licence="MPL-2.0")
    rows = [row for row in table if asked.wants(row["location"])]
    yield from _merged(rows, CATALOGUES[catalogue], asked.day, source)


def _merged(rows: Iterable[Mapping[str, str]], provider: str, day: str, source: Source) -> Iterator[Listing]:
    """One listing per machine and place, of its on-demand and its spot row."""
    places: dict[tuple[str, str], dict[bool, list[Mapping[str, str]]]] = {}
    for row in rows:
        kinds = places.setdefault((row["instance_name"], row["location"]), {False: [], True: []})
        kinds[row["spot"].casefold() == "true"].append(row)
    for (name, region), kinds in places.items():
        spots = {price_of(row["price"]) for row in kinds[True]}
        usual = {price_of(row["price"]): row for row in kinds[False]}
        for price, row in usual.items() or [(None, kinds[True][0])]:
            yield Listing(
                source=source, observed=day, provider=provider, region=region, instance_type=name,
                vcpus=price_of(row.get("cpu")), memory_gib=price_of(row.get("memory")),
                accelerator=row["gpu_name"], accelerator_count=_count(row["gpu_count"]),
                device_memory_gib=price_of(row.get("gpu_memory")), on_demand=price,
                spot=spots.copy().pop() if len(spots) == 1 else None,
            )  # fmt: skip


def _count(text: str) -> Decimal | None:
    return price_of(text) or None
