"""Whatever a source calls an accelerator, the ledger has one name, and a price finds it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.e2e.conftest import Desk
from unitcost.ledger import Ledger

SLURM = """JobID|Account|State|Start|End|AllocTRES|NodeList
1|lab|COMPLETED|2031-06-03T00:00:00|2031-06-03T01:00:00|billing=8,cpu=8,gres/gpu:h100=8,gres/gpu=8|n1
"""
DCGM = {
    "__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": "GPU-1", "Hostname": "n2", "modelName": "NVIDIA H100 80GB HBM3",
}  # fmt: skip
NODE = {
    "kind": "Node", "metadata": {"name": "n3", "labels": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}},
    "status": {"capacity": {"nvidia.com/gpu": "8"}},
}  # fmt: skip
OWN = """workload_id,accelerator,quantity,started_at,ended_at,pricing_category
w,NVIDIA H100 80GB HBM3,1,2031-06-03T00:00:00Z,2031-06-03T02:00:00Z,preemptible
"""


def asked(desk: Desk, sql: str) -> list[tuple[Any, ...]]:
    with Ledger.open(desk.folder / ".unitcost" / "ledger.duckdb") as ledger:
        return ledger._con.execute(sql).fetchall()


def test_one_name_for_what_four_sources_call_differently(desk: Desk) -> None:
    answer = {
        "status": "success",
        "data": {"resultType": "matrix", "result": [{"metric": DCGM, "values": [[1938211200, "5"]]}]},
    }
    nodes = {"apiVersion": "v1", "kind": "List", "items": [NODE]}
    desk.load(str(desk.write("sacct.psv", SLURM)), "--source-timezone", "UTC")
    desk.load(
        str(desk.write("dcgm.json", json.dumps(answer))), str(desk.write("nodes.json", json.dumps(nodes))),
        str(desk.write("own.csv", OWN)),
    )  # fmt: skip
    named = set(asked(
        desk, "SELECT DISTINCT accelerator, accelerator_native FROM (FROM holdings UNION ALL BY NAME FROM resources)"
    ))  # fmt: skip
    assert named == {
        ("cpu", None), ("H100", "h100"), ("H100-80GB", "NVIDIA H100 80GB HBM3"), ("H100-80GB", "NVIDIA-H100-80GB-HBM3"),
    }  # fmt: skip
    assert asked(desk, "SELECT pricing_category FROM holdings WHERE source = 'csv'") == [("Dynamic",)]


def test_a_price_may_name_an_accelerator_in_any_spelling(desk: Desk) -> None:
    prices = (
        "{ accelerator = 'h100', usd_per_hour = 3 }, { accelerator = 'nvidia h100 80gb', usd_per_hour = 2, "
        "pricing_category = 'spot' }"
    )
    desk.write("unitcost.toml", f"[work]\nprices = [ {prices} ]\n")
    desk.load(str(desk.write("sacct.psv", SLURM)), "--source-timezone", "UTC")
    desk.load(str(desk.write("own.csv", OWN)))
    found = desk.report()["work"]["accounts"]
    assert {name: Decimal(row["usd"]) for name, row in found.items()} == {"lab": 24, "": 4}


def test_real_dumps_name_no_model_and_get_none(desk: Desk, shared_bills: Path) -> None:
    desk.load(*(str(path) for path in sorted(shared_bills.glob("slurm_*"))), "--source-timezone", "UTC")
    desk.load(str(shared_bills / "opencost_allocation_example.json"))
    named = set(asked(desk, "SELECT DISTINCT accelerator, accelerator_native FROM holdings"))
    assert named - {(None, None)} == {("cpu", None), ("gpu", None)}
