"""What machine learning costs: one ledger that closes to the cent, and the cost of one useful unit.

The names below are the Python API. Each is imported when it is first used, so `import unitcost` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitcost.config import read as read_settings
    from unitcost.errors import UnitcostError
    from unitcost.facts.options import Demand, Limits, Option
    from unitcost.facts.rules import Settings
    from unitcost.facts.spend import Selection
    from unitcost.figure import Figure
    from unitcost.jobs.compare import compare
    from unitcost.jobs.compress import compress
    from unitcost.jobs.demo import demo
    from unitcost.jobs.explain import explain
    from unitcost.jobs.ingest import load
    from unitcost.jobs.judging import Judging
    from unitcost.jobs.measure_endpoint import measure_endpoint
    from unitcost.jobs.measure_model import measure_model
    from unitcost.jobs.plan_serve import plan_serve
    from unitcost.jobs.plan_train import plan_train
    from unitcost.jobs.review import review
    from unitcost.jobs.selecting import select
    from unitcost.jobs.workspace import Workspace, open_workspace
    from unitcost.ledger import Ledger
    from unitcost.tracking import track

__version__ = "0.1.0"
__all__ = [
    "Demand",
    "Figure",
    "Judging",
    "Ledger",
    "Limits",
    "Option",
    "Selection",
    "Settings",
    "UnitcostError",
    "Workspace",
    "compare",
    "compress",
    "demo",
    "explain",
    "load",
    "measure_endpoint",
    "measure_model",
    "open_workspace",
    "plan_serve",
    "plan_train",
    "read_settings",
    "review",
    "select",
    "track",
]

#: Public name -> (module, name there).
_HOMES = {
    "Demand": ("unitcost.facts.options", "Demand"),
    "Figure": ("unitcost.figure", "Figure"),
    "Judging": ("unitcost.jobs.judging", "Judging"),
    "Ledger": ("unitcost.ledger", "Ledger"),
    "Limits": ("unitcost.facts.options", "Limits"),
    "Option": ("unitcost.facts.options", "Option"),
    "Selection": ("unitcost.facts.spend", "Selection"),
    "Settings": ("unitcost.facts.rules", "Settings"),
    "UnitcostError": ("unitcost.errors", "UnitcostError"),
    "Workspace": ("unitcost.jobs.workspace", "Workspace"),
    "compare": ("unitcost.jobs.compare", "compare"),
    "compress": ("unitcost.jobs.compress", "compress"),
    "demo": ("unitcost.jobs.demo", "demo"),
    "explain": ("unitcost.jobs.explain", "explain"),
    "load": ("unitcost.jobs.ingest", "load"),
    "measure_endpoint": ("unitcost.jobs.measure_endpoint", "measure_endpoint"),
    "measure_model": ("unitcost.jobs.measure_model", "measure_model"),
    "open_workspace": ("unitcost.jobs.workspace", "open_workspace"),
    "plan_serve": ("unitcost.jobs.plan_serve", "plan_serve"),
    "plan_train": ("unitcost.jobs.plan_train", "plan_train"),
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
