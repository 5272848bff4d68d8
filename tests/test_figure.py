"""A figure can be folded again from its leaves."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.figure import Figure, Rows, figure_id, part_of_id, ratio, recompute, total, walk, walk_once

values = st.decimals(min_value=-(10**12), max_value=10**12, places=12, allow_nan=False, allow_infinity=False)


def given_figure(name: str, value: Decimal | None, unit: str = "USD") -> Figure:
    """Leaf with a stated value."""
    op = "given" if value is not None else "none"
    return Figure(id=name, value=value, unit=unit, basis="billed", op=op, formula="stated", label=name)


def no_rows(rows: Rows) -> Decimal:
    raise AssertionError(rows)


@given(st.lists(values, max_size=8))
def test_a_total_is_recomputed(parts: list[Decimal]) -> None:
    figure = total("t", tuple(given_figure(str(i), v) for i, v in enumerate(parts)), unit="USD")
    assert figure.value == money.add(parts)
    assert recompute(figure, no_rows) == figure.value


@given(values, values)
def test_a_ratio_is_recomputed_and_never_divides_by_zero(top: Decimal, bottom: Decimal) -> None:
    figure = ratio("r", given_figure("a", top), given_figure("b", bottom), unit="share", empty="nothing there")
    assert recompute(figure, no_rows) == figure.value
    assert (figure.value is None) == (bottom == 0)
    assert bottom != 0 or figure.note == "nothing there"


@given(values, st.lists(st.integers(0, 99), min_size=1, max_size=6).filter(any), st.integers(0, 12))
def test_each_part_of_a_split_is_recomputed(amount: Decimal, weights: list[int], places: int) -> None:
    inputs = (given_figure("pool", amount), *(given_figure(f"w{i}", Decimal(w)) for i, w in enumerate(weights)))
    parts = money.split_amount(amount, [Decimal(w) for w in weights], places=places)
    for i, part in enumerate(parts):
        figure = Figure(
            id=f"p{i}", value=part, unit="USD", basis="derived", op="split", formula="", inputs=inputs, part=i,
            places=places,
        )  # fmt: skip
        assert recompute(figure, no_rows) == part


def test_products_and_differences_are_recomputed() -> None:
    a, b, c = (given_figure(n, Decimal(v)) for n, v in (("a", 7), ("b", 3), ("c", 2)))
    for op, value in (("product", 42), ("difference", 2), ("sum", 12)):
        figure = Figure(id=op, value=Decimal(value), unit="USD", basis="derived", op=op, formula="", inputs=(a, b, c))
        assert recompute(figure, no_rows) == value


def test_leaves_are_rows_of_the_ledger() -> None:
    rows = Rows(table="charges", column="billed_cost", where=(("team", None),), currency="USD", row_count=2)
    leaf = Figure(id="l", value=Decimal(5), unit="USD", basis="billed", op="rows", formula="sum", rows=rows)
    assert recompute(total("t", (leaf, leaf), unit="USD"), lambda asked: Decimal(5 if asked == rows else 0)) == 10


def test_what_has_no_value_is_left_out_and_counted() -> None:
    figure = total("t", (given_figure("a", Decimal(1)), given_figure("b", None)), unit="USD")
    assert figure.value == 1
    assert figure.note == "1 without a value left out"


def test_walking_meets_everything_underneath() -> None:
    inner = total("i", (given_figure("a", Decimal(1)),), unit="USD")
    assert [f.id for f in walk(total("o", (inner,), unit="USD"))] == ["o", "i", "a"]


@given(st.text(max_size=20))
def test_a_step_of_an_id_is_safe_in_shells_and_paths(text: str) -> None:
    assert part_of_id(text)
    assert not set(part_of_id(text)) & set(" /@'\"$`\\&|;<>()*?[]{}!#\n\t,")


@given(st.text(max_size=9), st.text(max_size=9))
def test_two_texts_are_two_steps(left: str, right: str) -> None:
    assert (part_of_id(left) == part_of_id(right)) == (left == right or {left, right} == {"", "\0"})


def test_an_id_is_its_path_and_the_selection() -> None:
    assert figure_id("owner", "team", "R&D", at="all,billed") == "owner/team/R%26D@all,billed"


@pytest.mark.parametrize("value", [None, Decimal(0)])
def test_a_ratio_over_nothing_says_so(value: Decimal | None) -> None:
    figure = ratio("r", given_figure("a", Decimal(1)), given_figure("b", value), unit="share")
    assert figure.note == "b is zero or unknown"


def test_walking_once_meets_what_is_shared_once_in_the_order_of_walk() -> None:
    leaf, other = given_figure("leaf", Decimal(1)), given_figure("other", Decimal(2))
    inner = total("inner", (leaf, other), unit="USD")
    top = total("top", (leaf, inner, inner), unit="USD")
    assert [figure.id for figure in walk_once([top, other])] == ["top", "leaf", "inner", "other"]
    assert [*dict.fromkeys(figure.id for figure in walk(top))] == ["top", "leaf", "inner", "other"]
