"""What the services of the sample made each day: predictions, accepted results, tokens, runs."""

from __future__ import annotations

from collections.abc import Iterator

from unitcost.samples import neocloud
from unitcost.samples.lines import draw
from unitcost.samples.world import World
from unitcost.units import HOURS_PER_DAY

COLUMNS = ["service", "day", "unit", "quantity", "attempts"]
#: Service -> (unit, from, to per day).
_PER_DAY = {
    "fraud": ("predictions", 38_000_000, 44_000_000), "ranking": ("predictions", 84_000_000, 97_000_000),
    "bidding": ("predictions", 21_000_000, 27_000_000), "embeddings": ("predictions", 5_200_000, 6_900_000),
    "ranking-canary": ("predictions", 0, 0),
}  # fmt: skip


def rows(world: World) -> Iterator[str]:
    """Lines of the csv, header first. A zero in it is a measured zero; a run is a service that makes one run."""
    yield ",".join(COLUMNS)
    days = world.calendar.stamps("%Y-%m-%d")
    count = world.calendar.day_count
    for service, (unit, low, high) in _PER_DAY.items():
        for day, quantity in enumerate(draw(world.bits("outputs", service), count, low, high).tolist()):
            yield f"{service},{days[day * HOURS_PER_DAY]},{unit},{quantity},"
    bits = world.bits("outputs", "assistant")
    attempts = draw(bits, count, 52_000, 71_000).tolist()
    accepted_per_cent = draw(bits, count, 71, 83).tolist()
    for day, (tried, share) in enumerate(zip(attempts, accepted_per_cent, strict=True)):
        yield f"assistant,{days[day * HOURS_PER_DAY]},accepted results,{tried * share // 100},{tried}"
    for run, last in neocloud.last_days().items():
        if last < count:
            yield f"{run},{days[last * HOURS_PER_DAY]},runs,1,"
