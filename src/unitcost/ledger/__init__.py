"""The ledger: one DuckDB file with everything that was loaded. The only room with SQL."""

from __future__ import annotations

from unitcost.ledger.place import can_hold
from unitcost.ledger.restate import Claim
from unitcost.ledger.store import SCHEMA_VERSION, Ledger

__all__ = ["SCHEMA_VERSION", "Claim", "Ledger", "can_hold"]
