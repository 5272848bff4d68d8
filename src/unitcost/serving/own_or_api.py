"""Serving oneself on whole replicas against an API paid by use: a staircase against a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadSetting

#: Stairs of the staircase that are looked at. [replicas]
STAIRS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReplicas:
    """Replicas of one's own.

    Parameters
    ----------
    usd_per_month
        Of one whole replica. [USD / month]
    units_per_month
        What one replica can answer in a month within the targets.
    least
        Replicas that run whatever the volume.
    """

    usd_per_month: Decimal
    units_per_month: Decimal
    least: int = 1

    def __post_init__(self) -> None:
        if self.units_per_month <= 0 or self.usd_per_month < 0 or self.least < 0:
            raise BadSetting("a replica that answers nothing, or costs less than nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """Both prices at one volume. [USD / month]."""

    units: Decimal
    replicas: int
    own_usd: Decimal
    api_usd: Decimal

    @property
    def cheaper(self) -> str:
        """`own`, `api` or `equal`."""
        return "equal" if self.own_usd == self.api_usd else "own" if self.own_usd < self.api_usd else "api"


def replicas_for(own: OwnReplicas, units: Decimal) -> int:
    """Whole replicas that a volume needs."""
    whole, rest = money.EXACT.divmod(units, own.units_per_month)
    return max(own.least, int(whole) + (1 if rest else 0))


def at_volume(own: OwnReplicas, api_usd_per_unit: Decimal, units: Decimal) -> Volume:
    """Both prices at one volume a month."""
    count = replicas_for(own, units)
    return Volume(
        units=units, replicas=count, own_usd=money.multiply(own.usd_per_month, Decimal(count)),
        api_usd=money.multiply(api_usd_per_unit, units),
    )  # fmt: skip


def flips(own: OwnReplicas, api_usd_per_unit: Decimal, *, most_replicas: int = STAIRS) -> list[tuple[Decimal, str]]:
    """Volumes a month at which the cheaper way changes, and what is cheaper from there on.

    On each step of the staircase the line may cross it once; where a step begins, the own price jumps up and may lose again.
    An empty answer: the API is cheaper up to `most_replicas` replicas.
    """
    found: list[tuple[Decimal, str]] = []
    state = "api"
    for count in range(max(own.least, 1), most_replicas + 1):
        step_usd = money.multiply(own.usd_per_month, Decimal(count))
        begins = money.ZERO if count <= own.least else money.multiply(own.units_per_month, Decimal(count - 1))
        ends = money.multiply(own.units_per_month, Decimal(count))
        if state == "own" and step_usd > money.multiply(api_usd_per_unit, begins):
            found.append((begins, "api"))
            state = "api"
        crossing = money.divide(step_usd, api_usd_per_unit) if api_usd_per_unit else None
        if state == "api" and crossing is not None and crossing < ends:
            found.append((max(crossing, begins), "own"))
            state = "own"
    return found


def curve(own: OwnReplicas, api_usd_per_unit: Decimal, volumes: Sequence[Decimal]) -> list[Volume]:
    """Both prices at several volumes, for a table or a chart."""
    return [at_volume(own, api_usd_per_unit, units) for units in volumes]
