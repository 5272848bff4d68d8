"""The price book: dated tables that ship with the project, refreshed tables, and the user's own prices."""

from __future__ import annotations

from unitcost.prices.book import PriceBook, Wanted, bundled

__all__ = ["PriceBook", "Wanted", "bundled"]
