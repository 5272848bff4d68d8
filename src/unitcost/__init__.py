"""What machine learning costs: one ledger that closes to the cent, and the cost of one useful unit.

The names below are the Python API. Each is imported when it is first used, so `import unitcost` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitcost.config import read as read_settings
    from unitcost.errors import UnitcostError
    from unitcost.facts.rules import Settings
    from unitcost.facts.spend import Selection
    from unitcost.figure import Figure
    from unitcost.jobs.demo import demo
    from unitcost.jobs.explain import explain
    from unitcost.jobs.ingest import load
    from unitcost.jobs.review import review
    from unitcost.jobs.selecting import select
    from unitcost.jobs.workspace import Workspace, open_workspace
    from unitcost.ledger import Ledger
    from unitcost.tracking import track

__version__ = "0.1.0"
__all__ = [
    "Figure",
    "Ledger",
    "Selection",
    "Settings",
    "UnitcostError",
    "Workspace",
    "demo",
    "explain",
    "load",
    "open_workspace",
    "read_settings",
    "review",
    "select",
    "track",
]

#: Public name -> (module, name there).
_HOMES = {
    "Figure": ("unitcost.figure", "Figure"),
    "Ledger": ("unitcost.ledger", "Ledger"),
    "Selection": ("unitcost.facts.spend", "Selection"),
    "Settings": ("unitcost.facts.rules", "Settings"),
    "UnitcostError": ("unitcost.errors", "UnitcostError"),
    "Workspace": ("unitcost.jobs.workspace", "Workspace"),
    "demo": ("unitcost.jobs.demo", "demo"),
    "explain": ("unitcost.jobs.explain", "explain"),
    "load": ("unitcost.jobs.ingest", "load"),
    "open_workspace": ("unitcost.jobs.workspace", "open_workspace"),
    "read_settings": ("unitcost.config", "read"),
    "review": ("unitcost.jobs.review", "review"),
    "select": ("unitcost.jobs.selecting", "select"),
    "track": ("unitcost.tracking", "track"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, inside = _HOMES[name]
    value = getattr(import_module(module), inside)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not."""
    return sorted({*globals(), *__all__})
