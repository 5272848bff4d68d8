"""The table of readers."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import cast

from unitcost.readers import aws_cur, azure, focus, focus_invoice, gcp, generic_csv, oci, outputs_csv, rate_card
from unitcost.readers.reading import Reader

#: Name -> module. Among equally sure readers the earlier one reads the file.
READERS: dict[str, Reader] = {
    module.NAME: cast(Reader, module)
    for module in (generic_csv, focus_invoice, focus, aws_cur, azure, gcp, oci, outputs_csv, rate_card)
}


@cache
def all_readers() -> dict[str, Reader]:
    """The readers of this package, then those that other packages offer as entry points `unitcost.readers`."""
    outside = {entry.name: cast(Reader, entry.load()) for entry in entry_points(group="unitcost.readers")}
    return {**outside, **READERS}
