"""Who a charge belongs to and what it is for: owners, drivers, shared costs. Pure."""

from __future__ import annotations

from unitcost.attribution.decide import decide, fingerprint

__all__ = ["decide", "fingerprint"]
