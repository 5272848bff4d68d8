"""No two values are spelt alike in a report, whatever they are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.facts.naming import NOBODY, meant, spelt, spelt_owner
from unitcost.facts.rules import OWNER_KINDS
from unitcost.facts.spend import BESIDE_LINES

TRICKY = st.one_of(
    st.none(),
    st.sampled_from(["untagged", "unknown", "(none)", "total", "other (3)", "tax", "credit", "search", "", '"', '""']),
    st.text(alphabet='"a()', max_size=6),
)
QUOTED = st.builds(lambda text: f'"{text}"' if text is not None else None, TRICKY)


@given(st.lists(TRICKY | QUOTED, unique=True, max_size=12), st.sampled_from([*OWNER_KINDS, "service", ""]))
def test_two_values_have_two_names(values: list[str | None], dimension: str) -> None:
    names = [spelt(value, dimension) for value in values]
    assert len(set(names)) == len(values)


@given(TRICKY | QUOTED)
def test_the_name_of_an_owner_means_that_owner(owner: str | None) -> None:
    assert meant(spelt_owner(owner)) == owner


@pytest.mark.parametrize("line", sorted(BESIDE_LINES))
def test_a_line_of_the_bill_is_no_team_of_that_name(line: str) -> None:
    assert spelt_owner(line) not in NOBODY
    assert spelt(line, "service") == line


def test_plain_names_stay_as_they_are() -> None:
    assert [spelt_owner(name) for name in ("search", "usage", "shared", 'the "old" team')] == [
        "search", "usage", "shared", 'the "old" team',
    ]  # fmt: skip
