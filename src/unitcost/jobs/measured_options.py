"""Options out of sessions of the bench, with prices and the rate inside the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unitcost.economics.quality.queueing import highest_rate_per_s
from unitcost.facts.options import Limits, Option
from unitcost.jobs.bench_words import percentile_share
from unitcost.jobs.compare import PriceOf
from unitcost.measure.result_files import ResultFile, named


def options_of(result: ResultFile, limits: Limits, price_of: PriceOf) -> list[Option]:
    """Options of a session: a latency is told only where the samples prove it, a rate only inside the target."""
    return [_option(result, row, limits, price_of) for row in result.options]


def rate_per_s(timing: Mapping[str, Any], batch: int, limits: Limits) -> float | None:
    """Items that one replica takes a second inside the latency limits; without limits as fast as it goes. [1/s]."""
    rates = [
        highest_rate_per_s(timing["quantiles_s"], percentile_share(name), limit_s)
        for name, limit_s in limits.latencies_s
    ]
    if not rates:
        return float(timing["per_s"])
    known = [rate for rate in rates if rate is not None]
    return min(known) * batch if len(known) == len(rates) and min(known) > 0 else None


def _option(result: ResultFile, row: Mapping[str, Any], limits: Limits, price_of: PriceOf) -> Option:
    timing = row["timing"]
    known = {name: late["latency_s"] for name, late in timing["percentiles"].items() if late["bound_s"] is not None}
    missing = [
        f"{name} needs {late['missing']} more calls" for name, late in timing["percentiles"].items() if late["missing"]
    ]
    return Option(
        name=named(result, dict(row)), machine=result.machine, usd_per_hour=price_of(result.machine),
        per_s=rate_per_s(timing, int(row["batch"]), limits), latencies_s=tuple(known.items()),
        memory_bytes=row.get("memory_bytes"), items=int(row.get("items") or 0), precision=str(row["precision"]),
        basis="measured", note="; ".join(missing),
    )  # fmt: skip
