"""Moments and machines, as the answers of AWS write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

from unitcost.facts.work import CPU
from unitcost.readers.json_rows import written
from unitcost.readers.moments import utc_moment
from unitcost.readers.work.sink import FIRST_YEAR, LAST_YEAR

_EIGHT, _FOUR, _ONE = Decimal(8), Decimal(4), Decimal(1)
_STEPS = {"12xlarge": _FOUR, "24xlarge": _FOUR, "48xlarge": _EIGHT, "metal": _EIGHT}
_HALVES = {"12xlarge": Decimal(2), "24xlarge": _FOUR, "48xlarge": _EIGHT}
#: Family of instances -> its accelerator, and how many each size has; sizes that are not named have one.
_FAMILIES: dict[str, tuple[str, dict[str, Decimal]]] = {
    "p2": ("K80", {"8xlarge": _EIGHT, "16xlarge": Decimal(16)}),
    "p3": ("V100", {"8xlarge": _FOUR, "16xlarge": _EIGHT}),
    "p3dn": ("V100-32GB", {"24xlarge": _EIGHT}),
    "p4d": ("A100-40GB", {"24xlarge": _EIGHT}),
    "p4de": ("A100-80GB", {"24xlarge": _EIGHT}),
    "p5": ("H100-80GB", {"48xlarge": _EIGHT}),
    "p5e": ("H200", {"48xlarge": _EIGHT}),
    "p5en": ("H200", {"48xlarge": _EIGHT}),
    "p6-b200": ("B200", {"48xlarge": _EIGHT}),
    "p6-b300": ("B300", {"48xlarge": _EIGHT}),
    "g4dn": ("T4", {"12xlarge": _FOUR, "metal": _EIGHT}),
    "g5": ("A10G", _STEPS),
    "g6": ("L4", _STEPS),
    "gr6": ("L4", {}),
    "g6e": ("L40S", _STEPS),
    "g7": ("RTX-PRO-4500", _HALVES),
    "g7e": ("RTX-PRO-6000", _HALVES),
    "inf1": ("Inferentia", {"6xlarge": _FOUR, "24xlarge": Decimal(16)}),
    "inf2": ("Inferentia2", {"24xlarge": Decimal(6), "48xlarge": Decimal(12)}),
    "trn1": ("Trainium", {"32xlarge": Decimal(16)}),
    "trn1n": ("Trainium", {"32xlarge": Decimal(16)}),
    "trn2": ("Trainium2", {"48xlarge": Decimal(16)}),
}  # fmt: skip
#: Families that have an accelerator, but parts of one or of a kind that is not in the table.
_OTHER_ACCELERATED = re.compile(r"(?:p\d|g\d|gr\d|inf|trn|dl\d|vt|f\d)")
_SIZE = re.compile(r"(\d*)xlarge")
_VCPUS_PER_XLARGE = 4


def accelerators_of(instance_type: str) -> tuple[str, Decimal] | None:
    """Accelerator of an instance type and how many it has; for one without any, its virtual cores.

    None for a type that is not known here. `ml.` before it does not matter. Counts are those of AWS's list of EC2
    instance types (2026-08); an `xlarge` has four virtual cores and an `Nxlarge` N times as many.
    """
    family, _, size = instance_type.removeprefix("ml.").partition(".")
    if family in _FAMILIES:
        model, counts = _FAMILIES[family]
        return model, counts.get(size, _ONE)
    found = _SIZE.fullmatch(size)
    if _OTHER_ACCELERATED.match(family) or not (found or size == "large"):
        return None
    return CPU, Decimal(_VCPUS_PER_XLARGE * int(found[1] or 1)) if found else Decimal(2)


def moment_of(found: object) -> datetime | None:
    """Moment of an ISO text or of seconds since 1970-01-01 UTC; None for nothing.

    Raises
    ------
    ValueError
        When it is neither, or lies far outside of the time in which there were clouds.
    """
    text = "" if found is None else found if isinstance(found, str) else written(found)
    if not text:
        return None
    try:
        moment = datetime.fromtimestamp(float(text), UTC)
    except (OverflowError, OSError):
        raise ValueError(f"{text!r} is no moment") from None
    except ValueError:
        moment = utc_moment(text, UTC)
    if not FIRST_YEAR <= moment.year < LAST_YEAR:
        raise ValueError(f"{text!r} is not a date between {FIRST_YEAR} and {LAST_YEAR}")
    return moment
