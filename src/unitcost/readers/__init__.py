"""Outside formats: one file each, chosen by content, never by the name of the file."""

from __future__ import annotations

from unitcost.readers.choosing import find
from unitcost.readers.core import read
from unitcost.readers.said import check_options
from unitcost.readers.table import READERS

__all__ = ["READERS", "check_options", "find", "read"]
