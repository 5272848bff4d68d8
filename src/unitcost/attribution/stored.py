"""What stored things cost: charges of a store divided by how much was kept there, and for how long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal

from unitcost import money
from unitcost.facts.stored import Kept, StoredPart
from unitcost.figure import Figure, figure_id

_MICRO = -6


def stored_parts(charges: Mapping[str, Figure], kept: Iterable[Kept], *, at: str) -> list[StoredPart]:
    """Parts of the charges of each store by kind, run and owner; they add up to them.

    Parameters
    ----------
    charges
        Store (the resource id of its charges) -> what it cost, in one currency.
    kept
        What was kept in each store, and how long. A store without any has no parts: nothing tells what it holds.
    at
        Tag of the selection, for figure ids.

    Notes
    -----
    A store is taken to hold just what its listing names; ``part = charges * byte_seconds / all byte_seconds``, by
    largest remainder.
    """
    by_store: dict[str, list[Kept]] = defaultdict(list)
    for row in kept:
        if row.byte_us > 0:
            by_store[row.store].append(row)
    parts: list[StoredPart] = []
    for store in sorted(set(charges) & set(by_store)):
        parts += _parts(store, charges[store], sorted(by_store[store], key=_key), at)
    return parts


def _key(row: Kept) -> tuple[str, str, str]:
    return row.kind, row.run, row.owner


def _parts(store: str, charges: Figure, kept: list[Kept], at: str) -> list[StoredPart]:
    if charges.value is None:
        return []
    names = [" ".join(part or "(none)" for part in _key(row)) for row in kept]
    weights = tuple(
        Figure(
            id=figure_id("stored", store, charges.unit, name, "weight", at=at),
            value=Decimal(row.byte_us).scaleb(_MICRO), unit="byte-seconds", basis="measured", op="given",
            formula="from listings of the store", label=f"{name}: kept",
        )
        for name, row in zip(names, kept, strict=True)
    )  # fmt: skip
    values = money.split_amount(charges.value, [weight.value or money.ZERO for weight in weights])
    return [
        StoredPart(
            store=store, kind=row.kind, run=row.run, owner=row.owner,
            amount=Figure(
                id=figure_id("stored", store, charges.unit, name, at=at), value=value, unit=charges.unit, basis="derived",
                op="split", formula=f"charges of {store} in proportion to bytes kept and how long",
                inputs=(charges, *weights), part=number, label=f"{store}: {name}",
            ),
        )
        for number, (name, row, value) in enumerate(zip(names, kept, values, strict=True))
    ]  # fmt: skip
