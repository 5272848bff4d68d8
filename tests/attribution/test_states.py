"""Paid capacity by what became of it: the parts add up, and what nobody watched is not idle."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.attribution.capacity import Held, Use
from unitcost.attribution.states import CapacitySplitter, Paid
from unitcost.facts.capacity import Capacity
from unitcost.figure import Figure, recompute
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

HOUR_US = SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND
DAY_US = 24 * HOUR_US


def charges(amount: str) -> Figure:
    return Figure(id="rows/x@all", value=Decimal(amount), unit="USD", basis="billed", op="given", formula="", label="x")


def split(amount: str, held: list[Held], uses: dict[str, Use], capacity: str | None = "8", hours: int = 24) -> Capacity:
    paid = Paid(place="n1", rate="20", driver="training", charges=charges(amount), periods=((0, hours * HOUR_US),))
    return CapacitySplitter(
        held={"n1": held}, capacities={} if capacity is None else {"n1": Decimal(capacity)},
        uses={("n1", name): use for name, use in uses.items()}, at="all,effective",
    ).split([paid])  # fmt: skip


def amounts(found: Capacity) -> dict[tuple[str, str], Decimal]:
    return {(part.workload, part.state): part.amount.value or money.ZERO for part in found.parts}


def hold(name: str, quantity: str, start_us: int = 0, end_us: int = DAY_US) -> Held:
    return Held(workload=name, quantity=Decimal(quantity), start_us=start_us, end_us=end_us)


def test_used_idle_and_unallocated_are_the_bill() -> None:
    """8 accelerators x 24 h x 2.50 USD; 4 held at 18 % and 3 at 80 % of use."""
    use = {"serve": Use(busy_share=Decimal("0.18")), "train": Use(busy_share=Decimal("0.80"))}
    found = split("480", [hold("serve", "4"), hold("train", "3")], use)
    assert amounts(found) == {
        ("serve", "used"): Decimal("43.2"), ("serve", "allocated idle"): Decimal("196.8"),
        ("train", "used"): Decimal(144), ("train", "allocated idle"): Decimal(36), ("", "unallocated"): Decimal(60),
    }  # fmt: skip


def test_quarters_of_a_card_are_quarters() -> None:
    held = [hold("a", "0.25"), hold("b", "0.25"), hold("c", "0.15")]
    found = amounts(split("3.00", held, {}, capacity="1"))
    assert found == {
        ("a", "use unknown"): Decimal("0.75"), ("b", "use unknown"): Decimal("0.75"),
        ("c", "use unknown"): Decimal("0.45"), ("", "unallocated"): Decimal("1.05"),
    }  # fmt: skip


def test_a_resource_that_nobody_held_when_it_was_paid_for_is_unallocated_or_unknown() -> None:
    later = [hold("a", "1", 2 * DAY_US, 3 * DAY_US)]
    assert amounts(split("5", later, {})) == {("", "unallocated"): Decimal(5)}
    assert amounts(split("5", later, {}, capacity=None)) == {("", "use unknown"): Decimal(5)}


def test_what_does_not_fit_or_is_not_known_is_said() -> None:
    over = split("8", [hold("a", "6"), hold("b", "6")], {})
    assert amounts(over) == {("a", "use unknown"): Decimal(4), ("b", "use unknown"): Decimal(4)}
    assert "promised" in over.notes[0]
    assert "not known" in split("8", [hold("a", "1")], {}, capacity=None).notes[0]


HELD = st.lists(
    st.builds(
        lambda name, tenths, start, hours: hold(name, f"{tenths / 10}", start * HOUR_US, (start + hours) * HOUR_US),
        st.sampled_from(["a", "b", "c"]), st.integers(0, 40), st.integers(0, 30), st.integers(0, 30),
    ),
    max_size=6,
)  # fmt: skip
USES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.builds(
        Use, busy_share=st.decimals(0, 1, places=6, allow_nan=False), watched_share=st.decimals(0, 1, places=6, allow_nan=False)
    ),
)  # fmt: skip


@given(
    amount=st.decimals(-(10**6), 10**6, places=12),
    held=HELD,
    uses=USES,
    capacity=st.sampled_from([None, "1", "2.5", "8"]),
)
def test_any_holdings_and_any_use_close(
    amount: Decimal, held: list[Held], uses: dict[str, Use], capacity: str | None
) -> None:
    found = split(str(amount), held, uses, capacity)
    assert money.add(part.amount.value or money.ZERO for part in found.parts) == amount
    for part in found.parts:
        assert recompute(part.amount, lambda rows: money.ZERO) == part.amount.value
    assert len({part.amount.id for part in found.parts}) == len(found.parts)
