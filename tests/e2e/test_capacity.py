"""Bills and holdings joined: the report says who held what was paid for, and it closes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from unitcost import money
from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkPlan, WorkTable
from unitcost.figure import Figure, recompute
from unitcost.jobs.explain import RowReader, explain
from unitcost.jobs.review import review
from unitcost.jobs.selecting import parse_tag
from unitcost.jobs.workspace import open_workspace
from unitcost.ledger import Ledger
from unitcost.readers.work.sink import Sink

NOW = datetime(2031, 7, 1, tzinfo=UTC)
DAY, NEXT = datetime(2031, 6, 3, tzinfo=UTC), datetime(2031, 6, 4, tzinfo=UTC)
HEADER = "BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd," + (
    "BillingPeriodStart,BillingPeriodEnd,ChargeCategory,ProviderName,ServiceName,ServiceCategory,ResourceId,ResourceName,Tags\n"
)


def hours(resource: str, name: str, usd: str, count: int = 24) -> str:
    """Hourly charges of a resource on the third of June."""
    return "".join(
        f"{usd},{usd},{usd},{usd},USD,2031-06-03T{h:02}:00:00Z,{f'2031-06-03T{h + 1:02}' if h < 23 else '2031-06-04T00'}:00:00Z,"
        f"2031-06-01T00:00:00Z,2031-07-01T00:00:00Z,Usage,Rented,GPU machine,Compute,{resource},{name},\n"
        for h in range(count)
    )  # fmt: skip


def work(desk: Desk, rows: list[tuple[WorkTable, dict[str, Any]]], file: str = "work") -> None:
    """Put rows about work into the ledger of a workspace."""
    folder = desk.folder / "sink"
    folder.mkdir(exist_ok=True)
    with Sink(folder) as sink:
        for table, values in rows:
            sink.add(table, sink.read(), **({"source": "test"} | values))
    plan = WorkPlan(reader="test", dialect="", tables=sink.files(), rows_read=sink.rows_read, conventions=())
    with Ledger.open(desk.folder / ".unitcost" / "ledger.duckdb") as ledger:
        ledger.load(plan, file=file, sha256=file, source=file, options=ReadOptions(), now=NOW)


def holding(workload: str, node: str, quantity: str, **more: Any) -> tuple[WorkTable, dict[str, Any]]:
    values = {"workload_id": workload, "node": node, "quantity": Decimal(quantity), "accelerator": "h100"}
    return "holdings", {**values, "started_at": DAY, "ended_at": NEXT, **more}


def node(name: str, quantity: int, instance: str | None = None) -> tuple[WorkTable, dict[str, Any]]:
    return "resources", {"node": name, "quantity": quantity, "instance_id": instance, "accelerator": "h100"}


@pytest.fixture
def joined(desk: Desk) -> Desk:
    """Two machines on the bill: one held by two workloads, one known and held by nobody; a disk beside them."""
    bill = HEADER + hours("arn:cloud:machine/i-1", "n1", "20") + hours("i-2", "n2", "10") + hours("vol-1", "disk", "1")
    desk.load(str(desk.write("bill.csv", bill)))
    work(desk, [
        node("n1", 8, "i-1"), node("n2", 8, "i-2"),
        holding("serve", "n1", "4"), holding("train", "n1", "3"),
        ("workloads", {"workload_id": "serve", "kind": "endpoint", "name": "heron", "tags": {"team": "search"}}),
        ("workloads", {"workload_id": "train", "kind": "training", "team": "risk"}),
    ])  # fmt: skip
    return desk


def test_what_was_held_and_what_was_not_add_up_to_the_bill(joined: Desk) -> None:
    found = joined.report()["capacity"]["USD"]
    assert found["workload"] == {
        "": {"unallocated": "300"}, "test:serve": {"use unknown": "240"}, "test:train": {"use unknown": "180"},
    }  # fmt: skip
    assert found["resource"] == {
        "arn:cloud:machine/i-1": {"unallocated": "60", "use unknown": "420"}, "i-2": {"unallocated": "240"},
    }  # fmt: skip
    assert found["team"] == {
        "": {"unallocated": "300"},
        "risk": {"use unknown": "180"},
        "search": {"use unknown": "240"},
    }
    assert set(found["driver"]) == {"", "serving", "training"}


def test_the_table_of_states_is_the_whole_bill(joined: Desk) -> None:
    report = joined.report()
    section = next(s for s in report["sections"] if s["key"] == "capacity")
    assert Decimal(section["tables"][0]["total"][1]["value"]) == Decimal(report["total"]["USD"])


def test_every_figure_of_capacity_comes_back_from_its_rows(joined: Desk) -> None:
    workspace = open_workspace(joined.folder, as_of="2031-07-01")
    report = review(workspace, parse_tag("all,effective"))
    figures = [f for f in report.figures().values() if f.id.startswith("capacity")]
    assert len(figures) > 10
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, ())
        for figure in figures:
            assert recompute(figure, lambda rows: _sum(reader, rows)) == figure.value, figure.id


def _sum(reader: RowReader, rows: Any) -> Decimal:
    leaf = Figure(
        id="x@all,effective", value=None, unit="", basis="billed", op="rows", formula="", rows=rows
    )  # fmt: skip
    return money.add(row.amount for row in reader.read(leaf, None))


def test_a_holding_that_two_exports_tell_of_counts_once(joined: Desk) -> None:
    before = joined.report()["capacity"]
    work(joined, [holding("serve", "n1", "4"), holding("train", "n1", "3", ended_at=None)], file="again")
    assert joined.report()["capacity"] == before


def test_work_that_may_still_run_holds_nothing_yet(joined: Desk) -> None:
    work(joined, [holding("new", "n2", "8", ended_at=None)], file="running")
    assert joined.report()["capacity"]["USD"]["resource"]["i-2"] == {"unallocated": "240"}


def test_explain_unfolds_a_part(joined: Desk) -> None:
    report = joined.report()
    section = next(s for s in report["sections"] if s["key"] == "capacity")
    cell = section["tables"][3]["rows"][0][3]
    found = explain(open_workspace(joined.folder, as_of="2031-07-01"), cell["figure"])
    assert found.figure.value == Decimal(240)
    assert "split" in json.dumps([f.op for f in found.figure.inputs])


def test_tokens_that_a_server_counted_get_a_price_from_what_its_pod_held(joined: Desk) -> None:
    work(joined, [
        ("workloads", {"source": "kubernetes", "workload_id": "lab/heron-0", "kind": "endpoint", "parent": "egret"}),
        holding("lab/heron-0", "n2", "4", source="kubernetes"),
    ], file="pods")  # fmt: skip
    counts = [[int(DAY.timestamp()) + 3600 * hour, str(1_000_000 * hour)] for hour in range(25)]
    labels = {"__name__": "vllm:generation_tokens_total", "namespace": "lab", "pod": "heron-0", "model_name": "m"}
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": labels, "values": counts}]}}
    joined.load(str(joined.write("tokens.json", json.dumps(answer))))
    (cost,) = joined.report()["unit_costs"]
    assert (cost["service"], cost["cost_of"], cost["cost"]) == ("egret", "work", "120")
    assert Decimal(cost["quantity"]) == 24_000_000
    assert Decimal(cost["cost_per_unit"]) == 5


def test_a_rule_tells_the_kind_of_work_whose_source_does_not(joined: Desk) -> None:
    work(joined, [("workloads", {"workload_id": "nightly-eval"}), holding("nightly-eval", "n2", "8")], file="job")
    assert "unknown" in joined.report()["capacity"]["USD"]["driver"]
    rule = '{ when = "resource_id ~ \'*-eval\'", is = "evaluation" }'
    joined.write("unitcost.toml", f"[work]\nkinds = [ {rule} ]\n")
    assert joined.report()["capacity"]["USD"]["driver"]["evaluation"] == {"use unknown": "240"}


def gauge(card: str, machine: str, values: dict[int, int]) -> dict[str, Any]:
    """Utilisation of a card by the hour of the third of June, as a metrics server answers it."""
    labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": card, "Hostname": machine}
    return {"metric": labels, "values": [[int(DAY.timestamp()) + h * 3600, str(v)] for h, v in values.items()]}


def test_jobs_after_one_another_each_have_the_use_of_their_own_time(desk: Desk) -> None:
    """A job of 10 h at 90 %, one of 6 h at 20 %, 2 h of both, and a card that idles when nobody holds it."""
    desk.load(str(desk.write("bill.csv", HEADER + hours("i-1", "n1", "24"))))
    at = [DAY.replace(hour=hour) for hour in (0, 10, 16, 18)]
    work(desk, [
        node("n1", 1, "i-1"),
        holding("first", "n1", "1", started_at=at[0], ended_at=at[1]),
        holding("next", "n1", "1", started_at=at[1], ended_at=at[2]),
        holding("both", "n1", "0.5", started_at=at[2], ended_at=at[3]),
        holding("next", "n1", "0.5", started_at=at[2], ended_at=at[3]),
    ])  # fmt: skip
    use = {h: 90 if h < 10 else 20 if h < 16 else 50 if h < 18 else 0 for h in range(25)}
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [gauge("GPU-1", "n1", use)]}}
    desk.load(str(desk.write("cards.json", json.dumps(answer))))
    found = desk.report()["capacity"]["USD"]["workload"]
    cents = {name: {state: round(Decimal(usd), 2) for state, usd in states.items()} for name, states in found.items()}
    assert cents == {
        "test:first": {"used": Decimal("216.00"), "allocated idle": Decimal("24.00")},
        # 6 of its 7 card-hours were watched while it was alone
        "test:next": {"used": Decimal("28.80"), "allocated idle": Decimal("115.20"), "use unknown": Decimal("24.00")},
        "test:both": {"use unknown": Decimal("24.00")}, "": {"unallocated": Decimal("144.00")},
    }  # fmt: skip
