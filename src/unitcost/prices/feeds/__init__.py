"""Public price feeds: one file per format. Each reads what a source lists now; checking and keeping is done elsewhere."""

from __future__ import annotations

from unitcost.prices.feeds.table import FEEDS

__all__ = ["FEEDS"]
