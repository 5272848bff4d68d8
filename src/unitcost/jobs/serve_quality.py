"""Which profiles take part: those of equal quality, or of all that the bar lets pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.errors import UnknownName
from unitcost.measure.latency_profiles import LatencyProfile
from unitcost.serving.search import Refused


def at_fixed_quality(
    profiles: Sequence[LatencyProfile], qualities: Mapping[str, Decimal], bar: Decimal | None
) -> tuple[list[LatencyProfile], list[Refused]]:
    """Profiles that may be compared on cost, and the others with why.

    With a bar those below it, and those whose quality nobody measured, do not take part. Without one the best that is stated is
    the bar, unless no quality is stated at all: then the profiles are taken for the same model on other machines.

    Raises
    ------
    UnknownName
        When a quality is of none of the options.
    """
    names = [profile.name for profile in profiles]
    for name in qualities:
        if name not in names:
            raise UnknownName("option of the profile", name, names)
    known = {profile.name: qualities.get(profile.name, profile.quality) for profile in profiles}
    stated = [quality for quality in known.values() if quality is not None]
    least = bar if bar is not None else max(stated, default=None)
    if least is None:
        return list(profiles), []
    reasons = {profile.name: _why_not(known[profile.name], least, is_bar=bar is not None) for profile in profiles}
    refused = [Refused(name=name, stage="quality", reason=reason) for name, reason in reasons.items() if reason]
    return [profile for profile in profiles if not reasons[profile.name]], refused


def _why_not(quality: Decimal | None, least: Decimal, *, is_bar: bool) -> str:
    if quality is None:
        return "its quality is not known: give it with --quality NAME=N"
    if quality >= least:
        return ""
    if is_bar:
        return f"quality {money.text(quality)} is below the bar {money.text(least)}"
    return f"quality {money.text(quality)} is below the best, {money.text(least)}, and no --quality-bar says that it will do"
