"""Small markets and jobs for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unitcost.training.market import Market
from unitcost.training.replay import Jobs
from unitcost.units import SECONDS_PER_HOUR

GAP_S = 600.0


def market_from(there, *, usd=0.3, on_demand=1.0, gap_s=GAP_S, regions=None, egress=None) -> Market:
    """Market of one zone (a flat list) or several, at one price or one a tick."""
    available = np.atleast_2d(np.array(there, bool))
    zones = len(available)
    return Market(
        zones=tuple(f"z{n}" for n in range(zones)),
        regions=tuple(regions or (f"r{n}" for n in range(zones))),
        gap_s=gap_s,
        available=available,
        spot_usd_per_hour=np.broadcast_to(np.array(usd, float), available.shape).copy(),
        on_demand_usd_per_hour=on_demand,
        egress_usd=tuple(egress or (0.0,) * zones),
        priced=True,
    )


def job(market: Market, *, hours: float, ratio: float, changeover_hours: float = 0.2, start: int = 0) -> Jobs:
    """One job whose deadline is `ratio` times its hours."""
    ticks = int(hours * ratio * SECONDS_PER_HOUR / market.gap_s + 1e-9)
    return Jobs(
        start=np.array([start]),
        ticks=np.array([ticks]),
        work_s=np.array([hours * SECONDS_PER_HOUR]),
        changeover_s=np.array([changeover_hours * SECONDS_PER_HOUR]),
    )


@st.composite
def recordings(draw, zones: int = 1, ticks: int = 60):
    """Capacity that comes and goes in spells, zones x ticks."""
    rows = []
    for _ in range(zones):
        spells = draw(st.lists(st.integers(1, 12), min_size=ticks, max_size=ticks))
        first = draw(st.booleans())
        row = np.concatenate([np.full(length, first ^ bool(n % 2)) for n, length in enumerate(spells)])
        rows.append(row[:ticks])
    return np.array(rows)
