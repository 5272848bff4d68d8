"""What stored things cost: charges of a store divided by how much was kept there, and for how long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from unitcost import money
from unitcost.facts.rules import OWNER_KINDS, OwnerKind
from unitcost.facts.stored import Kept, StoreCharges, StoredPart
from unitcost.figure import Figure, figure_id

_MICRO = -6


def stored_parts(charges: Iterable[StoreCharges], kept: Iterable[Kept], *, at: str) -> list[StoredPart]:
    """Parts of the charges of each store by kind, run and owner; they add up to them.

    Parameters
    ----------
    charges
        What each store cost, in one currency, by the owners of its charges.
    kept
        What was kept in each store, and how long. A store without any has no parts: nothing tells what it holds.
    at
        Tag of the selection, for figure ids.

    Notes
    -----
    A store is taken to hold just what its listing names; ``part = charges * byte_seconds / all byte_seconds``, by
    largest remainder. An owner that the charges have stays theirs; where they have none, the listing tells.
    """
    by_store: dict[str, list[Kept]] = defaultdict(list)
    for row in kept:
        if row.byte_us > 0:
            by_store[row.store].append(row)
    parts: list[StoredPart] = []
    for found in sorted(charges, key=lambda one: (one.store, *_texts(one))):
        if by_store.get(found.store):
            parts += _parts(found, sorted(by_store[found.store], key=_key), at)
    return parts


def _texts(charges: StoreCharges) -> list[str]:
    return [charges.owners.get(kind) or "" for kind in OWNER_KINDS]


def _key(row: Kept) -> tuple[str, ...]:
    return row.kind, row.run, row.team, row.project, row.experiment


def _parts(charges: StoreCharges, kept: list[Kept], at: str) -> list[StoredPart]:
    whole, store = charges.amount, charges.store
    if whole.value is None:
        return []
    owner = " ".join(text or "(none)" for text in _texts(charges))
    names = [" ".join(part or "(none)" for part in _key(row)) for row in kept]
    weights = tuple(
        Figure(
            id=figure_id("stored", store, whole.unit, owner, name, "weight", at=at),
            value=Decimal(row.byte_us).scaleb(_MICRO), unit="byte-seconds", basis="measured", op="given",
            formula="from listings of the store", label=f"{name}: kept",
        )
        for name, row in zip(names, kept, strict=True)
    )  # fmt: skip
    values = money.split_amount(whole.value, [weight.value or money.ZERO for weight in weights])
    return [
        StoredPart(
            store=store, kind=row.kind, run=row.run, charged=charges.owners,
            owners={kind: _owner(charges, row, kind) for kind in OWNER_KINDS},
            amount=Figure(
                id=figure_id("stored", store, whole.unit, owner, name, at=at), value=value, unit=whole.unit,
                basis="derived", op="split", formula=f"charges of {store} in proportion to bytes kept and how long",
                inputs=(whole, *weights), part=number, label=f"{store}: {name}",
            ),
        )
        for number, (name, row, value) in enumerate(zip(names, kept, values, strict=True))
    ]  # fmt: skip


def _owner(charges: StoreCharges, row: Kept, kind: OwnerKind) -> str | None:
    said = charges.owners.get(kind)
    return row.owner(kind) if said is None and kind not in charges.divided else said
