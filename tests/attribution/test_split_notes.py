"""A split that does not do what the settings say is said, or refused when it never can."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from unitcost.attribution.split_notes import check_splits, notes_of
from unitcost.errors import BadSetting
from unitcost.facts.rules import DriverRule, OwnerRule, OwnerRules, Settings, SplitRule
from unitcost.facts.when import parse

PLATFORM = {"team": "platform"}
OWNERS = ("platform", "risk", "search")
RUNS = {"runs": {"risk": Decimal(3), "assistant": Decimal(1)}}
CELLS = [
    {"team": name, "project": "p", "driver": "storage", "line": "usage"}
    for name in ("platform", "risk", "search", None)
]


def split(how: Any = "even", of: dict[str, str] | None = None, number: int = 0, **more: Any) -> SplitRule:
    return SplitRule(name=f"split[{number}]", of=of or PLATFORM, how=how, by="team", **more)


def notes(*splits: SplitRule) -> list[str]:
    """What the last of the splits cannot do."""
    return list(notes_of(len(splits) - 1, splits, CELLS, owners=OWNERS, metrics=RUNS))


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ([split(of={"team": "plattform"})], ["no charge of this range has the team `plattform`; did you mean `platform`?"]),
        ([split(of={"project": "P2"})], ["no charge of this range has the project `P2`; did you mean `p`?"]),
        ([split(), split(of={"team": "platform"}, number=1)], ["the splits before it have taken all that it selects"]),
        ([split("metric", metric="rnus")], ["no outputs of this range are counted in `rnus`; did you mean `runs`?"]),
        ([split("metric", metric="runs")], ["assistant made runs and is no team: it receives nothing"]),
        ([split("metric", metric="runs", among=("risk", "search"))],
         ["assistant made runs", "search receives nothing: it made no runs"]),
        ([split(among=("serch", "risk"))], ["serch receives a part and has no charges: no such team is known; did you mean `search`?"]),
        ([split("proportional", among=("serch",))], ["serch receives nothing and has no charges"]),
        ([split("fixed", shares={"risk": Decimal("0.5"), "search": Decimal("0.3")})], ["the shares add up to 0.8"]),
        ([split("fixed", shares={"risk": Decimal(1), "tax": Decimal(0)})], ['"tax" receives a part and has no charges']),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(splits: list[SplitRule], said: list[str]) -> None:
    found = notes(*splits)
    assert len(found) == len(said), found
    for note, part in zip(found, said, strict=True):
        assert part in note


@pytest.mark.parametrize(
    "rule",
    [
        split(), split("proportional"), split("proportional", among=("risk",)), split(of={"team": "untagged"}),
        split("fixed", shares={"risk": Decimal("0.25"), "search": Decimal("0.75")}),
        split("fixed", shares={"risk": Decimal(40), "search": Decimal(60)}),
    ],
)  # fmt: skip
def test_a_split_that_works_needs_no_word(rule: SplitRule) -> None:
    assert notes(rule) == []


KNOWN = {"team": OwnerRules(kind="team", sources=(), known=("risk", "search"), rules=(
    OwnerRule(when=parse("account = '1'"), owner="ops", name="r"),))}  # fmt: skip


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ([split(metric="runs")], "`metric` is for"),
        ([split(shares={"risk": Decimal(1)})], "`shares` are for"),
        ([split(of={"driver": "storrage"})], "there is no driver `storrage`; did you mean `storage`?"),
        ([split(), split("proportional", number=1)], "another split before it takes the same cost"),
        ([split("fixed", shares={"risk": Decimal(1)}, among=("search",))], "`search` has no share"),
        ([split(among=("serch",))], "there is no team `serch` under `known`; did you mean `search`?"),
        ([split("fixed", shares={"Risk": Decimal(1)})], "there is no team `Risk` under `known`; did you mean `risk`?"),
    ],
)
def test_what_can_never_be_done_is_refused(splits: list[SplitRule], said: str) -> None:
    with pytest.raises(BadSetting) as caught:
        check_splits(Settings(splits=tuple(splits), owners=KNOWN, file="unitcost.toml"))
    assert said in str(caught.value)
    assert caught.value.where == "unitcost.toml"


def test_what_may_work_is_let_through() -> None:
    rule = DriverRule(when=parse("account = '1'"), driver="labelling", name="d")
    splits = (
        split(of={"driver": "labelling"}), split(of={"driver": "tax"}), split(of={"driver": "unknown"}),
        split(of={"team": "retired"}, among=("ops", "untagged", "risk")), split("metric", metric="runs", of={"project": "x"}),
    )  # fmt: skip
    check_splits(Settings(splits=splits, owners=KNOWN, drivers=(rule,)))
