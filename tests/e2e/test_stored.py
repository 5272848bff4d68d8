"""Bills of stores joined with listings: what is kept stands beside training and serving, by kind and team."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.e2e.conftest import Desk
from tests.e2e.test_capacity import HEADER, _sum
from unitcost.figure import recompute
from unitcost.jobs.explain import RowReader
from unitcost.jobs.review import review
from unitcost.jobs.selecting import parse_tag
from unitcost.jobs.workspace import open_workspace

LISTING = """artifact_id,kind,run,owner,resource_id,size_bytes,period_start,period_end
ck/1,checkpoint,r1,,lake,600,2031-06-01,2031-07-01
ft/1,feature table,,search,lake,200,2031-06-01,2031-07-01
log/1,log,r1,,lake,100,2031-06-01,2031-07-01
emb/1,embedding,,,lake,100,2031-06-01,2031-07-01
"""
RUNS = """workload_id,kind,team,status,started_at,ended_at
r1,training,risk,completed,2031-06-02T00:00:00Z,2031-06-03T00:00:00Z
"""


RULES = """
[[drivers]]
when = "resource_id ~ 'train-*'"
is = "training"
[[drivers]]
when = "resource_id ~ 'serve-*'"
is = "serving"
"""


def charge(usd: str, resource: str, category: str = "Storage", team: str = "") -> str:
    span = "2031-06-03T00:00:00Z,2031-06-04T00:00:00Z,2031-06-01T00:00:00Z,2031-07-01T00:00:00Z"
    tags = f'"{{""team"": ""{team}""}}"' if team else ""
    return f"{usd},{usd},{usd},{usd},USD,{span},Usage,Cloud,Any,{category},{resource},,{tags}\n"


def costs(report: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {name: row["for"] for name, row in report["owners"]["team"]["USD"].items()}


def shop(desk: Desk, *charges: str, rules: str = "") -> dict[str, Any]:
    desk.write("unitcost.toml", RULES + rules)
    bill = HEADER + "".join(charges)
    desk.load(
        str(desk.write("bill.csv", bill)), str(desk.write("listing.csv", LISTING)), str(desk.write("runs.csv", RUNS))
    )
    return desk.report()


MACHINES = (charge("70", "train-1", "Compute", "risk"), charge("30", "serve-1", "Compute", "search"))


def test_what_is_kept_stands_beside_training_and_serving(desk: Desk) -> None:
    report = shop(desk, *MACHINES, charge("10", "arn:cloud:store/lake"), charge("0.1", "attic"))
    assert costs(report) == {
        "risk": {"training": "70", "checkpoints": "6", "logs": "1"},
        "search": {"serving": "30", "feature tables": "2"},
        "untagged": {"embeddings": "1", "storage": "0.1"},
    }
    owners = report["owners"]["team"]["USD"]
    for name, found in costs(report).items():
        assert sum(map(Decimal, found.values())) == Decimal(owners[name]["amount"])
    assert (owners["untagged"]["direct"], owners["untagged"]["given"], owners["untagged"]["amount"]) == (
        "10.1",
        "9",
        "1.1",
    )
    table = next(s for s in report["sections"] if s["key"] == "costs-team")["tables"][0]
    assert table["total"][2]["value"] == report["total"]["USD"] == "110.1"


def test_the_owner_of_the_charges_keeps_what_is_stored(desk: Desk) -> None:
    report = shop(desk, *MACHINES, charge("10", "lake", team="platform"))
    assert costs(report)["platform"] == {"checkpoints": "6", "embeddings": "1", "feature tables": "2", "logs": "1"}
    assert report["stored"]["USD"]["team"] == {"platform": report["stored"]["USD"]["kind"]}


def test_a_split_of_the_settings_comes_before_the_listing(desk: Desk) -> None:
    split = '[[split]]\nof = { driver = "storage" }\nhow = "even"\nby = "team"\n'
    report = shop(desk, *MACHINES, charge("10", "lake"), rules=split)
    found = costs(report)
    assert found["risk"] == {"training": "70", "shared cost": "5"}
    assert Decimal(found["untagged"]["shared cost"]) == -10
    assert sum(Decimal(amount) for row in found.values() for amount in row.values()) == 110


def test_two_stores_of_one_short_name_are_both_divided(desk: Desk) -> None:
    report = shop(desk, charge("10", "arn:cloud:store/lake"), charge("20", "arn:other:store/lake", team="ads"))
    assert sum(map(Decimal, report["stored"]["USD"]["kind"].values())) == 30


def test_every_figure_of_what_teams_pay_for_comes_back_from_its_rows(desk: Desk) -> None:
    shop(desk, *MACHINES, charge("10.000000000001", "lake"), charge("1", "attic"))
    workspace = open_workspace(desk.folder, as_of="2031-07-01")
    figures = review(workspace, parse_tag("all,effective")).figures()
    mine = [figure for figure in figures.values() if figure.id.startswith(("owner-cost", "owner/", "listed", "costs"))]
    assert len(mine) > 10
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, ())
        for figure in mine:
            assert recompute(figure, lambda rows: _sum(reader, rows)) == figure.value, figure.id


def test_four_kinds_of_what_is_kept_have_owners_and_cost(desk: Desk) -> None:
    charge = "10,10,10,10,USD,2031-06-03T00:00:00Z,2031-06-04T00:00:00Z,2031-06-01T00:00:00Z,2031-07-01T00:00:00Z,"
    bill = HEADER + charge + "Usage,Cloud,Object store,Storage,arn:cloud:store/lake,,\n"
    desk.load(
        str(desk.write("bill.csv", bill)), str(desk.write("listing.csv", LISTING)), str(desk.write("runs.csv", RUNS))
    )
    report = desk.report()
    found = report["stored"]["USD"]
    assert found["kind"] == {"checkpoint": "6", "embedding": "1", "feature table": "2", "log": "1"}
    assert found["team"] == {
        "risk": {"checkpoint": "6", "log": "1"}, "search": {"feature table": "2"}, "untagged": {"embedding": "1"},
    }  # fmt: skip
    assert found["run"]["r1"] == {"checkpoint": "6", "log": "1"}
    section = next(s for s in report["sections"] if s["key"] == "stored")
    assert Decimal(section["tables"][0]["total"][1]["value"]) == 10
