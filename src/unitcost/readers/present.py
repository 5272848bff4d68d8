"""What a native export has of the columns that its format knows."""

from __future__ import annotations

from collections.abc import Iterable

from unitcost.facts.mapping import Choose, Expr, Field, Mapping
from unitcost.readers.complete import source_columns

#: No value: a column that no header can name.
NOTHING: Expr = Field("\0")


def present(mapping: Mapping, columns: Iterable[str]) -> Mapping:
    """Mapping without the targets whose source columns the file lacks altogether.

    What is left out is unknown, and the core fills in what it must: currency and periods. A `Choose` stays, as
    its last branch holds without any column.
    """
    folded = {column.casefold() for column in columns}

    def stays(node: Expr) -> bool:
        names = [name.casefold() for name in source_columns(node)]
        return isinstance(node, Choose) or not names or any(name in folded for name in names)

    return {target: node for target, node in mapping.items() if stays(node)}


def named(columns: Iterable[str], *names: str) -> tuple[str, ...]:
    """Those of the columns that bear one of the names, letter case ignored, as the header writes them."""
    wanted = {name.casefold() for name in names}
    return tuple(column for column in columns if column.casefold() in wanted)
