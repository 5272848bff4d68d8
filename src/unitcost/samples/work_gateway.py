"""What called the endpoints of the sample: the log of a gateway, and counts of requests of managed endpoints."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from unitcost.samples.lines import draw
from unitcost.samples.world import World
from unitcost.units import HOURS_PER_DAY

#: Endpoint that is called through the gateway with a batch of documents at a time, and its requests per day.
LOGGED, _PER_DAY = "embed-endpoint", (14, 30)
#: Managed endpoint -> requests per day, in thousands, from and to; each holds several predictions.
MANAGED = {
    "fraud-scorer": (1_900, 2_200), "search-ranker": (840, 970), "bidder": (2_100, 2_700), "ranking-canary": (0, 0),
}  # fmt: skip
_THOUSAND = 1_000
_ERRORS_PER_CENT = 4
_SECONDS_PER_DAY = HOURS_PER_DAY * 3600


def access_log(world: World) -> Iterator[str]:
    """Lines of the gateway's log, JSON: requests with their status, and questions of the watcher."""
    days = world.calendar.stamps("%Y-%m-%d")
    for day, seconds, statuses in _days(world):
        date = days[day * HOURS_PER_DAY]
        yield _line(f"{date}T00:00:07Z", "GET", "/healthz", 200)
        for second, status in zip(seconds, statuses, strict=True):
            hour, rest = divmod(second, 3600)
            at = f"{date}T{hour:02d}:{rest // 60:02d}:{rest % 60:02d}Z"
            yield _line(at, "POST", f"/endpoints/{LOGGED}/invocations", status)


def logged(world: World) -> Counter[str]:
    """Requests in the log, and those that were answered."""
    found: Counter[str] = Counter()
    for _, _, statuses in _days(world):
        found["attempts"] += len(statuses)
        found["requests"] += sum(status < 400 for status in statuses)
    return found


def _days(world: World) -> Iterator[tuple[int, list[int], list[int]]]:
    """Day, and the second and status of each request, in order of time."""
    bits = world.bits("gateway")
    for day, count in enumerate(draw(bits, world.calendar.day_count, *_PER_DAY).tolist()):
        seconds = sorted(draw(bits, count, 60, _SECONDS_PER_DAY - 1).tolist())
        errors = draw(bits, count, 0, 99).tolist()
        yield day, seconds, [503 if error < _ERRORS_PER_CENT else 200 for error in errors]


def _line(at: str, method: str, path: str, status: int) -> str:
    return json.dumps({"time": at, "method": method, "path": path, "status": status}, separators=(",", ":"))


def invocations(world: World) -> Iterator[str]:
    """Answer of CloudWatch about managed endpoints, day by day, zeros filled in: JSON on one line."""
    days = [
        f"{day}T00:00:00Z" for day in world.calendar.stamps("%Y-%m-%d")[: world.calendar.hour_count : HOURS_PER_DAY]
    ]
    results = [
        {"Id": f"m{number}", "Label": f"{name} AllTraffic Invocations Sum 86400", "Timestamps": days, "Values": values,
         "StatusCode": "Complete"}
        for number, (name, values) in enumerate(invoked(world).items())
    ]  # fmt: skip
    yield json.dumps({"MetricDataResults": results})


def invoked(world: World) -> dict[str, list[int]]:
    """Requests of each managed endpoint by day."""
    count = world.calendar.day_count
    return {
        name: draw(world.bits("invocations", name), count, low * _THOUSAND, high * _THOUSAND).tolist()
        for name, (low, high) in MANAGED.items()
    }
