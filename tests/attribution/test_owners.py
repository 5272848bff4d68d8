"""Owners: own word first, then inheritance, and never a guess."""

from __future__ import annotations

import pytest

from unitcost.attribution import decide
from unitcost.attribution.lines import line_of
from unitcost.attribution.near import near_keys, near_values
from unitcost.facts.charges import Facet
from unitcost.facts.rules import OwnerRule, OwnerRules, Settings
from unitcost.facts.when import parse


def facet(number: int, tags: dict[str, str] | None = None, **values: str) -> Facet:
    """Facet with a number of its own."""
    return Facet(facet_id=number, values=values, tags=tags or {})


def teams(rules: OwnerRules, *facets: Facet) -> list[tuple[str | None, str]]:
    """Owner and how, in order."""
    return [a.owners["team"][:2] for a in decide(facets, Settings(owners={"team": rules}))]


TEAM = OwnerRules(kind="team", sources=("tags.team",))


@pytest.mark.parametrize("key", ["team", "Team", "user:team", " team", "user_team", "TEAM", "resourceTags/user:Team"])
def test_a_key_is_found_in_any_spelling(key: str) -> None:
    assert teams(TEAM, facet(1, {key: " risk "})) == [("risk", "tag")]


def test_the_exact_key_wins_and_an_empty_value_is_none() -> None:
    assert teams(TEAM, facet(1, {"Team": "b", "team": "a"})) == [("a", "tag")]
    assert teams(TEAM, facet(1, {"team": "  ", "Team": "", "user:team": "c"})) == [("c", "tag")]
    assert teams(TEAM, facet(1, {"team": ""})) == [(None, "untagged")]


def test_rules_come_before_tags_and_columns_may_name_owners() -> None:
    rule = OwnerRule(when=parse("resource_id ~ 'fraud-*'"), owner="risk", name="r")
    rules = OwnerRules(kind="team", sources=("tags.team", "sub_account_name"), rules=(rule,))
    found = teams(rules, facet(1, {"team": "x"}, resource_id="fraud-1"), facet(2, sub_account_name="ads"))
    assert found == [("risk", "rule"), ("ads", "tag")]


def test_case_matters_only_when_asked() -> None:
    known = OwnerRules(kind="team", sources=("tags.team",), known=("Risk",))
    strict = OwnerRules(kind="team", sources=("tags.team",), known=("Risk",), ignore_case=False)
    assert teams(known, facet(1, {"team": "risk"})) == [("Risk", "tag")]
    assert teams(strict, facet(1, {"team": "risk"})) == [("risk", "unknown value")]


def test_an_account_with_one_owner_lends_it() -> None:
    rules = OwnerRules(kind="team", sources=("tags.team",), inherit=("account",), known=("a", "b"))
    one, two, typo = ({"team": name} for name in ("a", "b", "aa"))
    bare = facet(9, sub_account_id="1")
    assert teams(rules, facet(1, one, sub_account_id="1"), bare)[1] == ("a", "inherited")
    assert teams(rules, facet(1, one, sub_account_id="1"), facet(2, two, sub_account_id="1"), bare)[2][1] == "untagged"
    assert teams(rules, facet(1, one, sub_account_id="1"), facet(2, typo, sub_account_id="1"), bare)[2][1] == "untagged"
    assert teams(rules, facet(1, one, sub_account_id="2"), bare)[1][1] == "untagged"


def test_resource_groups_of_one_name_in_two_accounts_are_two() -> None:
    rules = OwnerRules(kind="team", sources=("tags.team",), inherit=("resource_group",))
    there = facet(1, {"team": "a"}, resource_group="RG", sub_account_id="1")
    assert teams(rules, there, facet(2, resource_group="rg", sub_account_id="1"))[1] == ("a", "inherited")
    assert teams(rules, there, facet(2, resource_group="rg", sub_account_id="2"))[1][1] == "untagged"


def test_what_nobody_used_of_a_commitment_is_nobodys() -> None:
    rules = OwnerRules(kind="team", sources=("tags.team",), inherit=("account",))
    unused = facet(2, sub_account_id="1", commitment_discount_status="Unused")
    assert teams(rules, facet(1, {"team": "a"}, sub_account_id="1"), unused)[1][1] == "untagged"


def test_lineage_is_followed_and_a_ring_ends() -> None:
    rules = OwnerRules(kind="team", sources=("tags.team",), lineage={"c": "b", "b": "a", "x": "y", "y": "x"})
    found = teams(rules, facet(1, {"team": "t"}, resource_id="a"), facet(2, resource_id="c"), facet(3, resource_id="x"))
    assert found == [("t", "tag"), ("t", "inherited"), (None, "untagged")]


def test_near_misses_are_proposed() -> None:
    facets = [facet(1, {"taem": "risk"}), facet(2, {"Name": "x"}), facet(3, {"team": "risk", "teams": "x"})]
    assert [(m.found, m.near) for m in near_keys(TEAM, [tuple(f.tags) for f in facets])] == [("taem", ("team",))]
    found = decide([facet(1, {"team": "Risk-Team"}), facet(2, {"team": "risk team"})], Settings())
    [miss] = near_values(OwnerRules(kind="team", sources=()), [a.owners["team"][:2] for a in found])
    assert (miss.found, miss.near) == ("risk team", ("Risk-Team",))


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({}, "usage"), ({"charge_category": "Tax"}, "tax"), ({"charge_category": "Credit"}, "credit"),
        ({"charge_category": "Purchase", "commitment_discount_status": "Unused"}, "unused commitment"),
        ({"charge_category": "Usage", "commitment_discount_status": "Used"}, "usage"),
        ({"publisher_name": "Amazon Web Services EMEA SARL", "service_provider_name": "AWS"}, "usage"),
        ({"publisher_name": "Red Hat Inc.", "service_provider_name": "AWS"}, "marketplace"),
        ({"publisher_name": "Acme, Inc.", "service_provider_name": "Acme"}, "usage"),
        ({"publisher_name": "Seller via AWS Marketplace"}, "marketplace"), ({"publisher_name": "Acme"}, "usage"),
    ],
)  # fmt: skip
def test_lines_of_the_bill(values: dict[str, str], line: str) -> None:
    assert line_of(facet(1, **values)) == line
