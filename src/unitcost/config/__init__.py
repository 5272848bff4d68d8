"""Settings: `unitcost.toml`, read and checked at the door."""

from __future__ import annotations

from unitcost.config.reading import read
from unitcost.config.template import template

__all__ = ["read", "template"]
