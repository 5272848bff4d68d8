"""A job on several machines of the bill holds each of them, and counts once."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_capacity import HEADER, hours
from tests.e2e.test_held_use import FIRST_S

HEAD = "JobID|JobName|Account|State|Start|End|NNodes|AllocTRES|NodeList"
FOUR = "1|train-7b|lab|COMPLETED|2031-06-03T00:00:00|2031-06-04T00:00:00|4|" + (
    "billing=320,cpu=256,gres/gpu:h100=32,gres/gpu=32|node[01-03],gpu-a"
)
NODES = ("node01", "node02", "node03", "gpu-a")
BILL = HEADER + "".join(hours(f"i-{number}", name, "20") for number, name in enumerate(NODES))
SETTINGS = """[work]
billing = "{billing}"
prices = [
  {{ accelerator = "H100", usd_per_hour = 3 }},
  {{ accelerator = "weight", usd_per_hour = 0.5 }},
]
kinds = [ {{ when = "resource_name ~ 'train-*'", is = "training" }} ]
"""


def report(desk: Desk, *dumps: str, billing: str = "accelerators") -> dict[str, Any]:
    desk.write("unitcost.toml", SETTINGS.format(billing=billing))
    desk.load(str(desk.write("bill.csv", BILL)))
    for number, rows in enumerate(dumps):
        desk.load(str(desk.write(f"sacct-{number}.psv", f"{HEAD}\n{rows}\n")), "--source-timezone", "UTC")
    return desk.report()


def test_four_instances_are_held_by_one_job(desk: Desk) -> None:
    found = report(desk, FOUR)
    capacity = found["capacity"]["USD"]
    assert capacity["workload"] == {"slurm:1": {"use unknown": "1920"}}
    assert capacity["resource"] == {f"i-{number}": {"use unknown": "480"} for number in range(4)}
    account = found["work"]["accounts"]["lab"]
    assert (account["accelerator_hours"], account["core_hours"], account["lives"]) == ("768", "6144", 1)
    assert account["usd"] == "2304"
    (run,) = found["runs"]["runs"]
    assert run["cost"] == "1920"


def test_part_of_a_day_is_unallocated(desk: Desk) -> None:
    half = FOUR.replace("2031-06-04T00:00:00", "2031-06-03T18:00:00")
    found = report(desk, half)["capacity"]["USD"]["workload"]
    assert found == {"": {"unallocated": "480"}, "slurm:1": {"use unknown": "1440"}}


def test_what_monitoring_measured_on_each_node_counts(desk: Desk) -> None:
    moments = [FIRST_S + 60 * minute for minute in range(24 * 60 + 1)]
    series = [
        {
            "metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": f"GPU-{node}-{card}", "Hostname": node},
            "values": [[moment, "90" if node == "gpu-a" else "50"] for moment in moments],
        }
        for node in NODES for card in range(8)
    ]  # fmt: skip
    answer = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    desk.load(str(desk.write("dcgm.json", json.dumps(answer))))
    found = report(desk, FOUR)["capacity"]["USD"]["workload"]
    assert found == {"slurm:1": {"allocated idle": "768", "used": "1152"}}


def test_the_weight_of_a_scheduler_counts_once(desk: Desk) -> None:
    account = report(desk, FOUR, billing="weights")["work"]["accounts"]["lab"]
    assert account["usd"] == str(320 * 24 // 2)
    assert account["lives"] == 1


RUNNING = FOUR.replace("COMPLETED", "RUNNING").replace("2031-06-04T00:00:00", "Unknown")
OTHER = "2|eval|lab|FAILED|2031-06-03T02:00:00|2031-06-03T03:00:00|2|cpu=3,gres/gpu:h100=3,gres/gpu=3|other[1-2]"


@pytest.mark.parametrize("dumps", [(FOUR, f"{RUNNING}\n{OTHER}"), (f"{RUNNING}\n{OTHER}", FOUR), (FOUR, OTHER, FOUR)])
def test_loading_again_and_in_any_order_changes_nothing(desks: Callable[[str], Desk], dumps: tuple[str, ...]) -> None:
    once, again = report(desks("once"), f"{FOUR}\n{OTHER}"), report(desks("again"), *dumps)
    for part in ("capacity", "work", "runs"):
        assert once[part] == again[part], part
    assert Decimal(once["work"]["accounts"]["lab"]["accelerator_hours"]) == 768 + 3
