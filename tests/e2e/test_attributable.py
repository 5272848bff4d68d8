"""`check` predicts what an export would join; loading that export joins just that much."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from tests.e2e.conftest import AS_OF, Desk
from tests.e2e.test_capacity import HEADER, hours

RULES = """
[[drivers]]
when = "resource_id ~ 'n*'"
is = "training"
[[drivers]]
when = "resource_id ~ 'e*'"
is = "serving"
"""
SLURM = """JobID|Account|State|Start|End|AllocTRES|NodeList
1|lab|COMPLETED|2031-06-02T20:00:00|2031-06-03T18:00:00|cpu=8,gres/gpu=8|n1
2|lab|FAILED|2031-06-03T00:00:00|2031-06-04T00:00:00|cpu=8,gres/gpu=8|n2
"""
PODS = """namespace,pod,node,started_at,ended_at,requests
web,heron,e1,2031-06-03T00:00:00Z,2031-06-04T00:00:00Z,"{""nvidia.com/gpu"": ""8""}"
"""
HOLDERS, BUSY = "says who held them", "says how busy it was"


def dcgm(*nodes: str) -> str:
    """Utilisation of the cards of nodes, each minute of the third of June and a day around it."""
    first = int(datetime(2031, 6, 2, 12, tzinfo=UTC).timestamp())
    values = [[first + 60 * minute, "40"] for minute in range(48 * 60)]
    series = [
        {
            "metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": f"GPU-{node}-{card}", "Hostname": node},
            "values": values,
        }
        for node in nodes
        for card in range(8)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}})


def said(desk: Desk, question: str) -> tuple[float, dict[str, float]]:
    """Share that a check answers with, and what each export would add, in per cent."""
    result = desk.run("check", "--json", "--as-of", AS_OF)
    checks = [check for check in json.loads(result.stdout)["checks"] if question in check["question"]]
    if not checks:
        return 0.0, {}
    (check,) = checks
    promised = re.findall(r"([^;]+?) would (?:join|tell) up to ([\d.]+) %", check["mend"] or "")
    return float(check["answer"].split(" %")[0]), {name.strip().split()[0]: float(share) for name, share in promised}


@pytest.fixture
def billed(desk: Desk) -> Desk:
    """Training machines of 70 USD an hour, and a serving machine of 30."""
    desk.write("unitcost.toml", RULES)
    desk.load(
        str(desk.write("bill.csv", HEADER + hours("n1", "", "40") + hours("n2", "", "30") + hours("e1", "", "30")))
    )
    return desk


def test_each_export_joins_what_was_promised(billed: Desk) -> None:
    share, promised = said(billed, HOLDERS)
    assert (share, promised) == (0.0, {"accounting": 70.0, "pods": 30.0})
    billed.load(str(billed.write("sacct.psv", SLURM)), "--source-timezone", "UTC")
    share, promised = said(billed, HOLDERS)
    assert (share, promised) == (70.0, {"pods": 30.0})
    busy, promised = said(billed, BUSY)
    assert (busy, promised) == (0.0, {"utilisation": 100.0})
    billed.load(str(billed.write("dcgm.json", dcgm("n1", "n2"))))
    assert said(billed, BUSY) == (100.0, {})
    assert said(billed, HOLDERS) == (70.0, {"pods": 30.0})
    billed.load(str(billed.write("pods.csv", PODS)))
    assert said(billed, HOLDERS) == (100.0, {})


def test_monitoring_alone_does_not_say_who_held_anything(billed: Desk) -> None:
    billed.load(str(billed.write("dcgm.json", dcgm("n1", "n2", "e1"))))
    assert said(billed, HOLDERS)[0] == 0.0
    assert billed.report()["capacity"] == {}
    billed.load(str(billed.write("sacct.psv", SLURM)), "--source-timezone", "UTC")
    assert said(billed, HOLDERS) == (70.0, {"pods": 30.0})
    assert set(billed.report()["capacity"]["USD"]["resource"]) == {"n1", "n2"}


def test_days_that_no_scheduler_told_of_are_unknown_not_unallocated(billed: Desk) -> None:
    """Records of the second of June only: what was paid on the third may have been held."""
    early = SLURM.replace("2031-06-03T18:00:00", "2031-06-02T22:00:00").splitlines()[:2]
    billed.load(str(billed.write("sacct.psv", "\n".join(early) + "\n")), "--source-timezone", "UTC")
    assert "unallocated" not in billed.report()["capacity"]["USD"]["states"]
    assert said(billed, HOLDERS)[0] == 0.0
