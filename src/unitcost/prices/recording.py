"""From what sources list to price records: check, then record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from unitcost.facts.offers import Finding, Listing, Shape
from unitcost.facts.prices import Commitment, PriceRecord, first_day, flat, midnight
from unitcost.facts.pricing import PricingCategory
from unitcost.prices import checks, devices
from unitcost.prices.checks import Known

#: In this order: first what is no machine, then prices, then devices, last what is left.
CHECKS: tuple[checks.Check, ...] = (
    checks.other_system,
    checks.no_machine,
    checks.names,
    checks.zero_means_none,
    checks.spot_placeholder,
    checks.outlier,
    checks.windows_price,
    devices.memory_unit,
    devices.known_shape,
    devices.memory_of_all,
    devices.memory_of_slice,
    devices.canonical,
    checks.nothing_left,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What came of a source's list: price records, the machines, and what the checks found."""

    records: tuple[PriceRecord, ...]
    shapes: tuple[Shape, ...]
    findings: tuple[Finding, ...] = field(default=())


def record(
    listings: Sequence[Listing],
    *,
    shapes: Mapping[tuple[str, str], Shape] | None = None,
    linux: Mapping[tuple[str, str, str], Decimal] | None = None,
) -> Recorded:
    """Check the listings of one source and record their prices.

    Parameters
    ----------
    listings
        As an adapter read them, all of one source at one time.
    shapes
        Machines that are known, by (provider, type).
    linux
        On-demand prices in force, by (provider, region, type) [USD/h].
    """
    known = Known(shapes=shapes or {}, linux=linux or {}, medians=checks.medians(listings))
    kept, findings = checks.run(listings, CHECKS, known)
    kept, unlike = checks.two_prices(kept)
    kept, same = checks.everywhere(kept)
    records = [made for listing in kept for made in records_of(listing)]
    return Recorded(
        records=tuple(records), shapes=tuple(shapes_of(kept)), findings=(*findings, *unlike, *same)
    )  # fmt: skip


def records_of(listing: Listing) -> Iterable[PriceRecord]:
    """Price records of one checked listing."""
    if listing.on_demand is not None:
        yield _record(listing, "Standard", listing.on_demand)
    if listing.spot is not None:
        spot = _record(replace(listing, effective_from=None), "Dynamic", listing.spot)
        observed = listing.spot_observed or listing.observed
        yield replace(
            spot, source=listing.spot_source or listing.source, observed=observed,
            effective_from=midnight(first_day(observed)), derived_from=listing.spot_derived,
        )  # fmt: skip
    for commitment, price in listing.committed:
        yield _record(listing, "Committed", price, commitment)


def shapes_of(listings: Iterable[Listing]) -> list[Shape]:
    """Machines of checked listings, each once; one that differs by region is listed for each."""
    found: dict[tuple[str, str], dict[str, Shape]] = {}
    for listing in listings:
        shape = Shape(
            provider=listing.provider, instance_type=listing.instance_type, vcpus=listing.vcpus,
            memory_gib=listing.memory_gib, accelerator=listing.accelerator,
            accelerator_count=listing.accelerator_count, accelerator_memory_gib=listing.device_memory_gib,
        )  # fmt: skip
        found.setdefault((listing.provider, listing.instance_type), {}).setdefault(listing.region, shape)
    shapes = []
    for _, by_region in sorted(found.items()):
        alike = set(by_region.values())
        if len(alike) == 1:
            shapes.append(alike.pop())
        else:
            shapes += [replace(shape, region=region) for region, shape in sorted(by_region.items())]
    return shapes


def _record(
    listing: Listing, category: PricingCategory, price: Decimal, commitment: Commitment | None = None
) -> PriceRecord:
    stated = listing.effective_from
    return PriceRecord(
        kind="instance", provider=listing.provider, region=listing.region, zone=listing.zone,
        sku=listing.instance_type, unit=listing.unit, currency=listing.currency, category=category,
        commitment=commitment, tiers=flat(price), effective_from=stated or midnight(first_day(listing.observed)),
        dating="stated" if stated else "observed", observed=listing.observed, source=listing.source,
        remarks=listing.remarks,
    )  # fmt: skip
