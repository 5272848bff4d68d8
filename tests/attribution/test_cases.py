"""Worked cases: what a report must say about small bills."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost import money
from unitcost.attribution import decide
from unitcost.attribution.near import near_values
from unitcost.attribution.owners import owned_shares
from unitcost.attribution.periods import place
from unitcost.attribution.ranking import firmness
from unitcost.attribution.splits import Pool, apply_splits
from unitcost.facts.charges import Facet
from unitcost.facts.rules import DriverRule, OwnerRules, Settings, SplitRule
from unitcost.facts.when import parse
from unitcost.figure import Figure, recompute, total

COLUMNS = {
    "ServiceCategory": "service_category", "ResourceId": "resource_id", "ChargeCategory": "charge_category",
    "CommitmentDiscountId": "commitment_discount_id", "CommitmentDiscountStatus": "commitment_discount_status",
}  # fmt: skip


def case(folder: Path, name: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Rows and expected answer of a case."""
    with (folder / name / "input.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return rows, json.loads((folder / name / "expected.json").read_text(encoding="utf-8"))


def facets(rows: list[dict[str, str]]) -> list[Facet]:
    """A facet per row."""
    return [
        Facet(
            facet_id=i,
            values={inside: row[column] for column, inside in COLUMNS.items() if row.get(column)},
            tags=json.loads(row["Tags"]) if row.get("Tags") else {},
        )
        for i, row in enumerate(rows)
    ]


def figure(name: str, value: Decimal, unit: str = "USD") -> Figure:
    """Leaf with a value."""
    return Figure(id=name, value=value, unit=unit, basis="billed", op="given", formula="", label=name)


def sums(rows: list[dict[str, str]], names: list[str]) -> dict[str, Decimal]:
    """Effective cost by name."""
    return money.add_by_currency((name, Decimal(row["EffectiveCost"])) for name, row in zip(names, rows, strict=True))


def test_26_commitments_stay_visible(shared_cases: Path) -> None:
    rows, expected = case(shared_cases, "26-commitment-effective-versus-billed")
    found = decide(facets(rows), Settings())
    names = [a.line.replace(" ", "_") if a.owners["team"][0] is None else a.owners["team"][0] for a in found]
    by_name = sums(rows, names)
    assert by_name.pop("purchase") == 0
    assert by_name == {name: Decimal(value) for name, value in expected["effective"].items()}
    assert money.add(by_name.values()) == Decimal(expected["total"])
    assert {a.driver for a in found if a.line == "tax"} == {"tax"}


def test_29_a_run_is_placed_in_the_zone_of_the_report(shared_cases: Path) -> None:
    [row], expected = case(shared_cases, "29-utc-month-boundary")
    start, end = datetime.fromisoformat(row["start"]), datetime.fromisoformat(row["end"])
    hours = Decimal((end - start).total_seconds()) / 3600
    cost = money.multiply(Decimal(row["gpus"]) * hours, Decimal(row["usd_per_gpu_hour"]))
    for zone, months in expected.items():
        placed = {p.bucket: p for p in place([(start, end)], "month", "UTC" if zone == "utc" else zone)}
        for month, amount in months.items():
            share = Decimal(placed[month].overlap_us) / placed[month].total_us if month in placed else 0
            assert cost * share == Decimal(amount)


def test_31_tags_that_almost_match(shared_cases: Path) -> None:
    rows, expected = case(shared_cases, "31-tags-that-almost-match")
    said = json.loads((shared_cases / "31-tags-that-almost-match/owners.json").read_text(encoding="utf-8"))
    rules = OwnerRules(
        kind="team", sources=tuple(f"tags.{key}" for key in said["keys"]), known=tuple(said["known_teams"]),
        lineage=said["inherit"], ignore_case=said["case_insensitive_values"],
    )  # fmt: skip
    found = decide(facets(rows), Settings(owners={"team": rules}))
    owners = [a.owners["team"] for a in found]
    by_name = sums(rows, [name or "untagged" for name, _, _ in owners])
    wanted = {name: Decimal(expected[name]) for name in ("atlas", "birch", "untagged")}
    assert by_name == {**wanted, **{name: Decimal(v) for name, v in expected["unknown_value"].items()}}
    assert owners[2] == ("atlas", "inherited", "lineage job/a")
    by_how = {how: figure(how, amount) for how, amount in sums(rows, [how for _, how, _ in owners]).items()}
    shares = owned_shares(by_how, unit="USD", at="all", kind="team")
    assert round(shares.owned.value or 0, 4) == Decimal(expected["owned_share"])
    assert round(shares.tagged.value or 0, 4) == Decimal("0.5556")
    [miss] = near_values(rules, [owner[:2] for owner in owners])
    assert (miss.found, miss.near) == ("atals", ("atlas",))


def test_32_shared_cost(shared_cases: Path) -> None:
    rows, expected = case(shared_cases, "32-shared-cost-split")
    direct = {row["owner"]: figure(row["owner"], Decimal(row["direct"])) for row in rows}
    for how, wanted in (
        ("proportional", expected["proportional"]),
        ("even", {"atlas": "633.33", "birch": "333.33", "cobalt": "133.34"}),
    ):
        rule = SplitRule(name=how, of={"team": "shared:monitoring"}, how=how, by="team", places=2)
        pool = Pool(rule=rule, taken={"shared:monitoring": direct["shared:monitoring"]})
        shares = apply_splits(direct, [pool], unit="USD", at="all", kind="team", metrics={}).shares
        amounts = {share.owner: share.amount.value for share in shares}
        assert amounts.pop("shared:monitoring") == 0
        assert amounts == {name: Decimal(value) for name, value in wanted.items()}
        whole = total("t", tuple(share.amount for share in shares), unit="USD")
        assert recompute(whole, lambda _: Decimal(0)) == Decimal(expected["equal_sum"])


def test_44_the_driver_of_the_bill(shared_cases: Path) -> None:
    rows, expected = case(shared_cases, "44-driver-of-the-bill")
    rules = tuple(
        DriverRule(when=parse(when), driver=driver, name=when)
        for when, driver in (
            ("tags.kind = 'notebook'", "development"),
            ("service_category = 'Storage'", "storage"),
            ("service_category = 'Networking'", "network"),
            ("service_category = 'AI and Machine Learning'", "serving"),
        )
    )
    found = decide(facets(rows), Settings(drivers=rules))
    by_name = sums(rows, [a.driver for a in found])
    assert by_name == {name: Decimal(expected[name]) for name in by_name}
    assert money.add(by_name.values()) == Decimal(expected["total"])
    answer = firmness({n: v for n, v in by_name.items() if n != "unknown"}, by_name["unknown"])
    assert (answer.largest, answer.firm) == (expected["largest"], expected["firm"])
    assert found[0].driver_rule == "tag ml:stage = train"
