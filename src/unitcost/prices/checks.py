"""Checks on what sources list, before it becomes a price record. Each has seen the fault that it looks for.

A check takes one listing and what is known about its neighbours. It gives back the listing, repaired or with a value
left out, or None when nothing of it can be used, and says what it found. Nothing is mended by hand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from unitcost import money
from unitcost.facts.offers import Done, Finding, Listing, Shape

#: Cheaper or dearer than the median of the other regions by this factor: no list price differs so much.
_OUTLIER_FACTOR = Decimal(5)
_FEWEST_REGIONS = 3
#: Spot from this share of on-demand on is on-demand again, rounded. [share]
_SAME_SHARE = Decimal("0.9999")
#: Spot below this share of on-demand is kept, but said. [share]
_LOW_SPOT_SHARE = Decimal("0.15")
#: What a Windows licence adds on Azure, and how near to it a difference must be. [USD per vCPU-hour]
_WINDOWS_USD_PER_VCPU_HOUR = Decimal("0.046")
_WINDOWS_MARGIN = Decimal("0.01")
#: A machine listed at one price in so many regions says nothing about where it can be had.
_EVERYWHERE = 10
_NO_MACHINE = (
    (re.compile(r"[ _-]Type ?\d$", re.IGNORECASE), "a dedicated host"),
    (re.compile(r"_Promo$", re.IGNORECASE), "a promotional price"),
    (re.compile(r"PLACEHOLDER", re.IGNORECASE), "no machine type"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a check may compare a listing with.

    Parameters
    ----------
    shapes
        Machines by (provider, type), from a source that was checked.
    linux
        On-demand price for Linux by (provider, region, type), in force. [USD/h]
    medians
        Median on-demand price over regions by (provider, type), where there are enough of them. [USD/h]
    """

    shapes: Mapping[tuple[str, str], Shape] = field(default_factory=dict)
    linux: Mapping[tuple[str, str, str], Decimal] = field(default_factory=dict)
    medians: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)


Checked = tuple[Listing | None, tuple[Finding, ...]]
Check = Callable[[Listing, Known], Checked]


def finding(check: str, listing: Listing, what: str, done: Done) -> Finding:
    """A finding about a listing."""
    return Finding(
        check=check, provider=listing.provider, region=listing.region, instance_type=listing.instance_type, what=what,
        done=done,
    )  # fmt: skip


def other_system(listing: Listing, known: Known) -> Checked:
    """A price that includes another operating system is not that of the machine."""
    if listing.operating_system.casefold() in ("", "linux"):
        return listing, ()
    what = f"the price includes {listing.operating_system}"
    return None, (finding("other-system", listing, what, "dropped"),)


def no_machine(listing: Listing, known: Known) -> Checked:
    """Dedicated hosts, promotions and placeholders stand between the machines of some lists."""
    for pattern, what in _NO_MACHINE:
        if pattern.search(listing.instance_type.strip()):
            return None, (finding("no-machine", listing, what, "dropped"),)
    return listing, ()


def names(listing: Listing, known: Known) -> Checked:
    """Blanks around a name, and empty parts of a region such as `, US, NA`."""
    region = ", ".join(part for part in (p.strip() for p in listing.region.split(",")) if part)
    name = listing.instance_type.strip()
    if (region, name) == (listing.region, listing.instance_type):
        return listing, ()
    clean = replace(listing, region=region, instance_type=name)
    what = f"written {listing.instance_type!r} in {listing.region!r}"
    return clean, (finding("names", clean, what, "repaired"),)


def zero_means_none(listing: Listing, known: Known) -> Checked:
    """A price of zero, or below, is a hole in the list."""
    holes = {
        part: price
        for part, price in (("on-demand", listing.on_demand), ("spot", listing.spot))
        if price is not None and price <= 0
    }
    found = [
        finding("zero-means-none", listing, f"{part} price is {money.text(price)}", "left out")
        for part, price in holes.items()
    ]
    on_demand = None if "on-demand" in holes else listing.on_demand
    spot = None if "spot" in holes else listing.spot
    return replace(listing, on_demand=on_demand, spot=spot), tuple(found)


def spot_placeholder(listing: Listing, known: Known) -> Checked:
    """A spot price that equals or passes the on-demand price stands for "no spot"; one far below is said."""
    spot = listing.spot
    on_demand = listing.on_demand or known.linux.get((listing.provider, listing.region, listing.instance_type))
    if on_demand is None or spot is None:
        return listing, ()
    shown = f"spot {money.text(spot)}, on-demand {money.text(on_demand)}"
    if spot >= money.multiply(on_demand, _SAME_SHARE):
        same = money.multiply(spot, _SAME_SHARE) <= on_demand
        what = f"{shown}: {'a placeholder' if same else 'dearer than on-demand'}"
        return replace(listing, spot=None), (finding("spot-placeholder", listing, what, "left out"),)
    if spot < money.multiply(on_demand, _LOW_SPOT_SHARE):
        share = money.round_places(money.multiply(money.divide(spot, on_demand), Decimal(100)), 0)
        remark = f"spot is {money.text(share)} % of on-demand"
        flagged = replace(listing, remarks=(*listing.remarks, remark))
        return flagged, (finding("spot-very-low", listing, shown, "flagged"),)
    return listing, ()


def outlier(listing: Listing, known: Known) -> Checked:
    """A price that is a multiple or a fraction of the same machine's price in most other regions."""
    median = known.medians.get((listing.provider, listing.instance_type))
    price = listing.on_demand
    if price is None or median is None:
        return listing, ()
    low = money.multiply(price, _OUTLIER_FACTOR) < median
    if not low and price <= money.multiply(median, _OUTLIER_FACTOR):
        return listing, ()
    what = f"{money.text(price)} where the median of the regions is {money.text(median)}"
    return replace(listing, on_demand=None), (finding("outlier", listing, what, "left out"),)


def windows_price(listing: Listing, known: Known) -> Checked:
    """A price above the known one for Linux by just what a Windows licence costs."""
    linux = known.linux.get((listing.provider, listing.region, listing.instance_type))
    if linux is None or listing.on_demand is None or not listing.vcpus or listing.on_demand <= linux:
        return listing, ()
    licence = money.multiply(_WINDOWS_USD_PER_VCPU_HOUR, listing.vcpus)
    gap = money.subtract(listing.on_demand, money.add([linux, licence])).copy_abs()
    if gap > money.multiply(licence, _WINDOWS_MARGIN):
        return listing, ()
    what = f"{money.text(listing.on_demand)} is the price with Windows, without it {money.text(linux)}"
    return replace(listing, on_demand=None), (finding("windows-price", listing, what, "left out"),)


def nothing_left(listing: Listing, known: Known) -> Checked:
    """A listing without any price."""
    if listing.on_demand is None and listing.spot is None and not listing.committed:
        return None, (finding("no-price", listing, "no price", "dropped"),)
    key = (listing.provider, listing.region, listing.instance_type)
    if listing.on_demand is None and listing.spot is not None and key not in known.linux:
        return listing, (finding("spot-only", listing, "spot price but no on-demand price", "flagged"),)
    return listing, ()


def run(listings: Iterable[Listing], checks: Sequence[Check], known: Known) -> tuple[list[Listing], list[Finding]]:
    """Apply checks in order; a listing that one drops is not shown to the next."""
    kept: list[Listing] = []
    findings: list[Finding] = []
    for listing in listings:
        current: Listing | None = listing
        for check in checks:
            if current is not None:
                current, found = check(current, known)
                findings += found
        if current is not None:
            kept.append(current)
    return kept, findings


def two_prices(listings: Sequence[Listing]) -> tuple[list[Listing], list[Finding]]:
    """Leave out listings of one machine in one place with unlike prices: nobody can say which is right."""
    prices: dict[tuple[str, ...], set[tuple[Decimal | None, Decimal | None]]] = defaultdict(set)
    for listing in listings:
        prices[_place(listing)].add((listing.on_demand, listing.spot))
    kept: dict[tuple[str, ...], Listing] = {}
    findings = []
    for listing in listings:
        place = _place(listing)
        if len(prices[place]) == 1:
            kept.setdefault(place, listing)
        else:
            what = f"listed {len(prices[place])} times with unlike prices"
            findings.append(finding("two-prices", listing, what, "dropped"))
    return list(kept.values()), findings


def everywhere(listings: Sequence[Listing]) -> tuple[list[Listing], list[Finding]]:
    """Say of machines that have one price in every region that this is no sign of being sold there."""
    regions: dict[tuple[str, str], dict[str, Decimal | None]] = defaultdict(dict)
    for listing in listings:
        regions[listing.provider, listing.instance_type][listing.region] = listing.on_demand
    same = {key for key, prices in regions.items() if len(prices) >= _EVERYWHERE and len(set(prices.values())) == 1}
    remark = "listed in every region; may not be sold here"
    kept = [
        replace(item, remarks=(*item.remarks, remark)) if (item.provider, item.instance_type) in same else item
        for item in listings
    ]
    findings = [
        Finding(check="everywhere", provider=p, region="*", instance_type=t, what=remark, done="flagged")
        for p, t in sorted(same)
    ]
    return kept, findings


def medians(listings: Iterable[Listing]) -> dict[tuple[str, str], Decimal]:
    """Median on-demand price over regions, for machines that are listed in enough of them [USD/h]."""
    prices: dict[tuple[str, str], dict[str, Decimal]] = defaultdict(dict)
    for listing in listings:
        if listing.on_demand:
            prices[listing.provider, listing.instance_type].setdefault(listing.region, listing.on_demand)
    return {
        key: sorted(by_region.values())[len(by_region) // 2]
        for key, by_region in prices.items()
        if len(by_region) >= _FEWEST_REGIONS
    }


def _place(listing: Listing) -> tuple[str, ...]:
    return (listing.provider, listing.region, listing.zone, listing.instance_type, listing.unit)
