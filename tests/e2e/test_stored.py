"""Bills of stores joined with listings: what is kept stands beside training and serving, by kind and team."""

from __future__ import annotations

from decimal import Decimal

from tests.e2e.conftest import Desk
from tests.e2e.test_capacity import HEADER

LISTING = """artifact_id,kind,run,owner,resource_id,size_bytes,period_start,period_end
ck/1,checkpoint,r1,,lake,600,2031-06-01,2031-07-01
ft/1,feature table,,search,lake,200,2031-06-01,2031-07-01
log/1,log,r1,,lake,100,2031-06-01,2031-07-01
emb/1,embedding,,,lake,100,2031-06-01,2031-07-01
"""
RUNS = """workload_id,kind,team,status,started_at,ended_at
r1,training,risk,completed,2031-06-02T00:00:00Z,2031-06-03T00:00:00Z
"""


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
