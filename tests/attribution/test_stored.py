"""Charges of a store by what it held: the parts add up, whatever was kept."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.attribution.stored import stored_parts
from unitcost.facts.rules import OwnerKind
from unitcost.facts.stored import Kept, StoreCharges
from unitcost.figure import Figure, recompute


def charges(amount: Decimal, store: str = "b", team: str | None = None, *, divided: bool = False) -> StoreCharges:
    figure = Figure(id=f"rows/{store}@all", value=amount, unit="USD", basis="billed", op="given", formula="", label="b")
    owners: dict[OwnerKind, str | None] = {"team": team, "project": None, "experiment": None}
    return StoreCharges(
        store=store, owners=owners, amount=figure, divided=frozenset({"team"}) if divided else frozenset()
    )


def kept(kind: str, byte_us: int, run: str = "", store: str = "b") -> Kept:
    return Kept(store=store, kind=kind, run=run, team="", byte_us=byte_us)


def test_bytes_and_time_decide() -> None:
    parts = stored_parts(
        [charges(Decimal(12)), charges(Decimal(5), "other")],
        [kept("checkpoint", 3 * 10**12, "run-1"), kept("log", 10**12), kept("model", 5, store="elsewhere")], at="all,effective",
    )  # fmt: skip
    assert [(part.kind, part.run, part.amount.value) for part in parts] == [
        ("checkpoint", "run-1", Decimal(9)), ("log", "", Decimal(3)),
    ]  # fmt: skip


@given(
    amount=st.decimals(-10**6, 10**6, places=12),
    sizes=st.lists(st.tuples(st.sampled_from(["log", "checkpoint"]), st.integers(0, 10**30)), max_size=5, unique_by=lambda x: x[0]),
)  # fmt: skip
def test_the_parts_are_the_charges(amount: Decimal, sizes: list[tuple[str, int]]) -> None:
    parts = stored_parts([charges(amount)], [kept(kind, size) for kind, size in sizes], at="all,effective")
    if any(size for _, size in sizes):
        assert money.add(part.amount.value or money.ZERO for part in parts) == amount
    for part in parts:
        assert recompute(part.amount, lambda rows: money.ZERO) == part.amount.value
