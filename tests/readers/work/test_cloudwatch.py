"""CloudWatch: a zero is a zero, a missing datapoint is unknown."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tracker_files import SAMPLES, Told, ask, into_ledger, read, read_text

from unitcost.economics.formulas import cost_per_1k_usd
from unitcost.money import round_places

AT = "2031-06-01T00:00:00Z"


def result(
    label: str = "ep Invocations Sum 3600", values: Any = (5,), moments: Any = None, **said: Any
) -> dict[str, Any]:
    moments = [f"2031-06-01T{n:02}:00:00Z" for n in range(len(values))] if moments is None else moments
    return {
        "Id": said.pop("id", label.replace(" ", "_")),
        "Label": label,
        "Timestamps": moments,
        "Values": values,
        **said,
    }


def answer(*results: Any, **more: Any) -> str:
    return json.dumps({"MetricDataResults": list(results), **more})


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return read(SAMPLES / "cloudwatch_metric_data.json", tmp_path_factory.mktemp("cloudwatch"))


def outputs(told: Told, service: str) -> list[tuple[str, Decimal, Decimal | None]]:
    found = [row for row in told.rows("outputs") if row["service"] == service]
    return [
        (r["period_start"][11:13], Decimal(r["quantity"]), Decimal(r["attempts"]) if "attempts" in r else None)
        for r in found
    ]


def test_requests_are_outputs_of_their_endpoint(sample: Told) -> None:
    assert sample.plan.reader == "cloudwatch"
    assert sample.plan.rejects == ()
    assert outputs(sample, "ep/busy") == [
        ("00", 100, None), ("01", 250, 250), ("02", 0, 0), ("03", 385, 400), ("02", 60, None), ("03", 50, None)
    ]  # fmt: skip
    first = sample.rows("outputs")[0]
    assert (first["unit"], first["basis"]) == ("requests", "measured")
    assert first["period_end"] == "2031-06-01 01:00:00.000000"


def test_a_zero_is_a_zero_and_nothing_is_unknown(sample: Told) -> None:
    assert [count for _, count, _ in outputs(sample, "ep/idle")] == [0, 0, 0, 0]
    assert outputs(sample, "ep/dark") == []
    assert "1 endpoints have no datapoint of requests: their traffic is unknown, not zero" in sample.flags
    assert set(sample.by("workloads", "workload_id")) == {"ep/busy", "ep/idle", "ep/dark"}
    busy = sample.by("workloads", "workload_id")["ep/busy"]
    assert (busy["kind"], busy["source"], busy["tags"]) == ("endpoint", "sagemaker", {"variants": "blue green"})


def test_latency_and_utilisation_are_series(sample: Told) -> None:
    series = sample.by("series", "metric")
    assert set(series) == {"model_latency", "gpu_utilisation_sum"}
    assert (series["model_latency"]["unit"], series["model_latency"]["workload_id"]) == ("us", "ep/busy")
    assert series["model_latency"]["labels"] == {"variant": "blue", "statistic": "Average"}
    values = [
        row["value"] for row in sample.rows("samples") if row["series_key"] == series["model_latency"]["series_key"]
    ]
    assert values == ["90000", "79000", "81000", "82000.5"]


def test_queries_beside_the_answer_say_what_a_series_is(tmp_path: Path) -> None:
    metric = {"Namespace": "AWS/SageMaker", "MetricName": "Invocations", "Dimensions": [
        {"Name": "EndpointName", "Value": "ep one"}, {"Name": "VariantName", "Value": "AllTraffic"}
    ]}  # fmt: skip
    query = {"Id": "q", "MetricStat": {"Metric": metric, "Period": 300, "Stat": "Sum"}}
    told = read_text(
        answer(result("whatever", id="q"), MetricDataQueries=[query, {"Id": "e", "Expression": "1"}]), tmp_path
    )
    [row] = told.rows("outputs")
    assert (row["service"], row["period_end"]) == ("ep one", "2031-06-01 00:05:00.000000")


def test_pages_of_one_series_are_put_together(tmp_path: Path) -> None:
    pages = answer(result(values=[1, 2], StatusCode="PartialData"), NextToken="x") + answer(
        result(values=[3], moments=["2031-06-01T02:00:00Z"], StatusCode="Complete")
    )
    told = read_text(pages, tmp_path)
    assert [count for _, count, _ in outputs(told, "ep")] == [1, 2, 3]
    assert "not complete" not in told.flags
    assert "not complete (PartialData)" in read_text(answer(result(StatusCode="PartialData")), tmp_path).flags


def test_a_series_over_all_variants_is_not_added_to_those_of_each(tmp_path: Path) -> None:
    told = read_text(answer(result("ep Invocations Sum 60", [9]), result("ep a Invocations Sum 60", [9])), tmp_path)
    assert [count for _, count, _ in outputs(told, "ep")] == [9]
    assert "1 series over all variants are left out" in told.flags


def test_the_period_may_follow_from_the_distance(tmp_path: Path) -> None:
    told = read_text(
        answer(result("ep Invocations", [1, 2], ["2031-06-01T00:00:00Z", "2031-06-01T06:00:00Z"])), tmp_path
    )
    assert told.rows("outputs")[0]["period_end"] == "2031-06-01 06:00:00.000000"
    assert "do not state their period" in told.flags


def test_moments_may_be_seconds(tmp_path: Path) -> None:
    told = read_text(answer(result(moments=[1938038400.0])), tmp_path)
    assert told.rows("outputs")[0]["period_start"] == "2031-06-01 00:00:00.000000"


def test_counts_that_are_always_one_are_doubted(tmp_path: Path) -> None:
    told = read_text(answer(result("ep Invocations", [1] * 10)), tmp_path)
    assert "as an average would be" in told.flags
    assert "as an average" not in read_text(answer(result("ep Invocations Sum", [1] * 10)), tmp_path).flags


BAD: dict[str, tuple[Any, str]] = {
    "an average of requests": (result("bad Invocations Average 60"), "only the statistic Sum counts requests"),
    "half a request": (result("bad Invocations", [0.5]), "is 0.5, no count"),
    "fewer than none": (result("bad Invocations", [-1]), "is -1, no count"),
    "no number": (result("bad Invocations", [float("nan")]), "is not a number"),
    "a text": (result("bad Invocations", ["many"]), "is not a number"),
    "unlike lengths": (result("bad Invocations", [1, 2], [AT]), "not two lists of one length"),
    "a moment in words": (result("bad Invocations", [1], ["now"]), "not an ISO date"),
    "a moment before clouds": (result("bad Invocations", [1], [0]), "is not a date between"),
    "a moment that is empty": (result("bad Invocations", [1], [None]), "a timestamp is empty"),
    "no endpoint": (result("Invocations"), "names no endpoint; ask with the label"),
    "no metric": (result("bad"), "names no metric that is known here"),
    "no object": (5, "the result is no object"),
    "two values for one moment": (result("bad Invocations", [1, 2], [AT, AT]), ""),
    "a second series without a variant": (result("ep Invocations Sum 3600", id="other"), "name the variant in the label"),
    "too many": (result("bad Invocations Sum 60", [10**15]), "quantity: "),
    "one point without a period": (result("bad Invocations"), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, (_, reason) in BAD.items() if reason])
def test_a_bad_series_is_set_aside_and_the_others_load(tmp_path: Path, name: str) -> None:
    bad, reason = BAD[name]
    told = read_text(answer(result(values=[7]), bad), tmp_path)
    assert [count for _, count, _ in outputs(told, "ep")] == [7]
    assert outputs(told, "bad") == []
    assert len(told.reasons) == 1
    assert reason in told.reasons[0]
    assert into_ledger(told, tmp_path / "ledger.duckdb").rows_rejected == 1


def test_a_lone_datapoint_without_a_period_is_set_aside(tmp_path: Path) -> None:
    told = read_text(answer(result("ep Invocations")), tmp_path)
    assert "how long the period" in told.reasons[0]


def test_a_cut_answer_keeps_the_series_before_the_cut(tmp_path: Path) -> None:
    whole = answer(result(values=[7]), result("late Invocations Sum 60", [8]))
    told = read_text(whole[: whole.index("late") + 2], tmp_path)
    assert [count for _, count, _ in outputs(told, "ep")] == [7]
    assert len(told.plan.rejects) == 1


def test_33_an_endpoint_nobody_calls(tmp_path: Path, shared_cases: Path) -> None:
    folder = shared_cases / "33-endpoint-nobody-calls"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with (folder / "input.csv").open(encoding="utf-8") as stream:
        bill = {row["ResourceId"]: Decimal(row["EffectiveCost"]) for row in csv.DictReader(stream)}
    with (folder / "requests.csv").open(encoding="utf-8") as stream:
        requests = {row["ResourceId"]: int(row["requests"]) for row in csv.DictReader(stream)}
    week = ["2031-06-01T00:00:00Z"]
    results = [
        result(
            f"{name} Invocations Sum 604800",
            [requests[name]] if name in requests else [],
            week if name in requests else [],
        )
        for name in bill
    ]
    into_ledger(read_text(answer(*results), tmp_path), tmp_path / "ledger.duckdb")
    found = ask(
        tmp_path / "ledger.duckdb",
        "SELECT workload_id, sum(quantity) FROM workloads LEFT JOIN outputs ON service = workload_id GROUP BY 1",
    )
    for name, count in found:
        answer_of = expected[name.partition("/")[2]]
        assert (count is None) is (answer_of.get("idle", False) is None), "no data is unknown, not idle"
        if count is not None:
            assert (count == 0) is answer_of.get("idle", False)
            per_1k = cost_per_1k_usd(bill[name], Decimal(1), count)
            assert (per_1k and str(round_places(per_1k, 4))) == answer_of.get("usd_per_1k")
