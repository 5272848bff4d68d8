"""Checks on the accelerators of a listing: name, number, memory of one device."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from unitcost import money
from unitcost.facts.accelerators import by_name, candidates, is_near, recognise
from unitcost.facts.offers import Finding, Listing
from unitcost.prices.checks import Checked, Known, finding
from unitcost.units import KIB

#: Slices in which accelerators are rented.
_SLICES = tuple(money.divide(Decimal(1), Decimal(n)) for n in (2, 3, 4, 6, 8, 16))
_NAME_PART = re.compile(r"[_\-.]")


def memory_unit(listing: Listing, known: Known) -> Checked:
    """Memory given as gigabytes where the source says mebibytes: `SizeInMiB: 80`."""
    memory = listing.device_memory_gib
    if not memory or not listing.accelerator or memory >= 1:
        return listing, ()
    scaled = money.multiply(memory, Decimal(KIB))
    what = f"device memory of {money.text(money.round_places(memory, 3))} GiB is {money.text(scaled)} GB"
    return replace(listing, device_memory_gib=scaled), (finding("memory-unit", listing, what, "repaired"),)


def memory_of_all(listing: Listing, known: Known) -> Checked:
    """Memory of all devices together where that of one is asked for."""
    memory, count = listing.device_memory_gib, listing.accelerator_count
    if not memory or not count or count <= 1:
        return listing, ()
    each = money.divide(memory, count)
    if not any(is_near(each, size) for size in _sizes(listing.accelerator)):
        return listing, ()
    if _fits(listing):
        what = f"{money.text(memory)} GiB may be the memory of one {listing.accelerator} or of all {money.text(count)}"
        unsure = replace(listing, device_memory_gib=None, remarks=(*listing.remarks, what))
        return unsure, (finding("memory-unsure", listing, what, "left out"),)
    what = f"{money.text(memory)} GiB is the memory of all {money.text(count)} devices"
    return replace(listing, device_memory_gib=each), (finding("memory-of-all", listing, what, "repaired"),)


def memory_of_slice(listing: Listing, known: Known) -> Checked:
    """A slice of a device, labelled 0 or 1 devices with a fraction of its memory."""
    memory, sizes = listing.device_memory_gib, _sizes(listing.accelerator)
    if not memory or not sizes or _fits(listing) or (listing.accelerator_count or 0) > 1:
        return listing, ()
    for size in sizes:
        for part in _SLICES:
            if is_near(memory, money.multiply(size, part)):
                count = money.round_places(part, 6)
                what = f"{money.text(memory)} GiB of {money.text(size)}: {money.text(count)} of a device"
                repaired = replace(listing, accelerator_count=count, device_memory_gib=size)
                return repaired, (finding("memory-of-slice", listing, what, "repaired"),)
    return listing, ()


def known_shape(listing: Listing, known: Known) -> Checked:
    """Another accelerator, number or memory than the checked shape of that machine has: the shape wins."""
    shape = known.shapes.get((listing.provider, listing.instance_type))
    if shape is None or not shape.accelerator:
        return listing, ()
    found: list[Finding] = []
    stated = bool(listing.accelerator) or listing.vcpus is not None
    families = {a.family for a in candidates(listing.accelerator)}
    if stated and listing.accelerator_count != shape.accelerator_count:
        what = f"{listing.accelerator_count} accelerators, the machine has {shape.accelerator_count}"
        found.append(finding("count", listing, what, "repaired"))
    if stated and by_name()[shape.accelerator].family not in families:
        what = f"labelled {listing.accelerator!r}, the machine has {shape.accelerator}"
        found.append(finding("label", listing, what, "repaired"))
    repaired = replace(
        listing, accelerator=shape.accelerator, accelerator_count=shape.accelerator_count,
        device_memory_gib=shape.accelerator_memory_gib or listing.device_memory_gib,
    )  # fmt: skip
    return repaired, tuple(found)


def canonical(listing: Listing, known: Known) -> Checked:
    """The accelerator by its one name; a machine named after one that the source does not list is said."""
    if not listing.accelerator:
        parts = _NAME_PART.split(listing.instance_type)[1:]  # the first one is a family: `t4g` holds no T4g
        named = [a for part in parts if len(part) > 2 for a in candidates(part)]
        if named and not listing.accelerator_count:
            what = f"the name says {named[0].family}, the source lists no accelerator"
            flagged = replace(listing, remarks=(*listing.remarks, what))
            return flagged, (finding("accelerator-missing", listing, what, "flagged"),)
        return listing, ()
    found = recognise(listing.accelerator, listing.device_memory_gib)
    if found is None:
        what = f"there is no accelerator {listing.accelerator!r} with {listing.device_memory_gib or '?'} GiB"
        return listing, (finding("accelerator-unknown", listing, what, "flagged"),)
    memory = listing.device_memory_gib
    if memory and found.memory_gib and not is_near(memory, found.memory_gib):
        what = f"{money.text(memory)} GiB on a {found.name} of {money.text(found.memory_gib)}"
        flagged = replace(listing, accelerator=found.name, remarks=(*listing.remarks, what))
        return flagged, (finding("memory-odd", listing, what, "flagged"),)
    return replace(listing, accelerator=found.name, device_memory_gib=found.memory_gib or memory), ()


def _fits(listing: Listing) -> bool:
    """Whether the reported memory is that of one device."""
    memory = listing.device_memory_gib
    return memory is not None and any(is_near(memory, size) for size in _sizes(listing.accelerator))


def _sizes(spelling: str) -> tuple[Decimal, ...]:
    """Memory sizes in which an accelerator is made [GiB]."""
    exact = recognise(spelling)
    found = (exact,) if exact is not None else candidates(spelling)
    return tuple(a.memory_gib for a in found if a.memory_gib)
