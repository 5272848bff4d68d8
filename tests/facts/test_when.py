"""The language of rules."""

from __future__ import annotations

import contextlib
import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadSetting, UnitcostError, UnknownName
from unitcost.facts.charges import Facet
from unitcost.facts.when import ALIASES, facet_column, parse


def facet(tags: dict[str, str] | None = None, **values: str) -> Facet:
    """Facet with some values."""
    return Facet(facet_id=1, values=values, tags=tags or {})


HOST = facet({"team": "risk", "Cost Center": "7"}, usage_type="USE1-Host:ml.g5", region_id="us-east-1")


@pytest.mark.parametrize(
    "text",
    [
        "usage_type ~ '*Host:ml.*'", "usage_type ~ '*HOST:ML.*'", "region = 'US-EAST-1'", "region in ('a', 'us-east-1')",
        "tags.team = 'risk'", "tags.'Cost Center' = '7'", 'tags."Cost Center" = "7"', "not region = 'x'",
        "region = 'x' or tags.team = 'risk' and usage_type ~ '*Host*'", "(region = 'x' or region ~ 'us*') and not tags.team = 'y'",
        "region != 'x'", "usage_type !~ 'x*'", "NOT region = 'x' AND tags.team = 'risk'",
    ],
)  # fmt: skip
def test_conditions_that_hold(text: str) -> None:
    assert parse(text)(HOST)


@pytest.mark.parametrize(
    "text",
    [
        "account = 'x'", "account != 'x'", "account !~ 'x'", "account ~ '*'", "tags.nobody ~ '*'",
        "region = 'us'", "not region ~ 'us-*'", "region = 'x' and tags.team = 'risk' or tags.team = 'y'",
    ],
)  # fmt: skip
def test_conditions_that_do_not_hold_and_nulls_match_nothing(text: str) -> None:
    assert not parse(text)(HOST)


def test_a_quote_is_written_twice() -> None:
    assert parse("resource_name = 'it''s'")(facet(resource_name="it's"))


@pytest.mark.parametrize(
    "text",
    [
        "", "region", "region =", "region = x", "region = 'x' and", "(region = 'x'", "region = 'x')", "region ~~ 'x'",
        "region in 'x'", "region in ()", "= 'x'", "region = 'x", "region , 'x'", "not", "region = 'x' region = 'y'", "%",
    ],
)  # fmt: skip
def test_what_is_not_of_the_language_is_said_with_the_way_to_write_it(text: str) -> None:
    with pytest.raises(BadSetting, match="column ~ 'glob'") as caught:
        parse(text, where="unitcost.toml: drivers")
    assert str(caught.value).startswith("unitcost.toml: drivers: ")


def test_an_unknown_column_is_answered_with_the_near_one() -> None:
    with pytest.raises(UnknownName, match="did you mean `usage_type`"):
        parse("usage_typ = 'x'")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(BadSetting, match="brackets"):
        parse("(" * 5000 + "region = 'x'" + ")" * 5000)
    with pytest.raises(BadSetting, match="brackets"):
        parse("not " * 5000 + "region = 'x'")


def test_a_condition_knows_its_columns() -> None:
    assert parse("account = 'x' or tags.team ~ 'y'").columns == {"sub_account_id", "tags.team"}


@pytest.mark.parametrize("short", ALIASES)
def test_short_names_are_columns(short: str) -> None:
    assert facet_column(short) == ALIASES[short]


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(UnitcostError):
        parse(text)(HOST)


@given(st.text("ab*?[", max_size=6), st.text("ab", max_size=6))
def test_globs_are_those_of_the_shell(glob: str, value: str) -> None:
    assert parse(f"region ~ '{glob}'")(facet(region_id=value)) == fnmatch.fnmatchcase(value, glob)


@given(st.text("abc", max_size=3), st.text("abc", max_size=3))
def test_not_is_the_opposite(wanted: str, found: str) -> None:
    held = facet(region_id=found)
    assert parse(f"not region = '{wanted}'")(held) != parse(f"region = '{wanted}'")(held)
