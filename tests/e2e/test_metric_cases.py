"""Worked cases about metrics, through the real reader; the right answers stand beside the input of each case."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk as Shop
from tests.metrics import Desk, answer, at, series, steady, write
from unitcost import money
from unitcost.economics.prefix_cache import prefix_cache
from unitcost.errors import BadBill
from unitcost.units import PER_MILLION, SECONDS_PER_HOUR, SECONDS_PER_MINUTE


def expected(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "expected.json").read_text()))


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def usd_per_million(usd: str, count: Decimal) -> Decimal:
    return money.divide(money.multiply(Decimal(usd), PER_MILLION), count)


def test_a_counter_that_restarts_is_repaired_per_replica(shared_cases: Path, tmp_path: Path) -> None:
    case = shared_cases / "12-counter-reset-per-replica"
    points: dict[str, list[tuple[float, float]]] = {}
    for row in cells(case / "input.csv"):
        point = (int(row["minute"]) * SECONDS_PER_MINUTE, float(row["vllm_generation_tokens_total"]))
        points.setdefault(row["pod"], []).append(point)
    desk = Desk(tmp_path)
    desk.take(answer(*(series("vllm:generation_tokens_total", found, pod=pod) for pod, found in points.items())))
    with desk.ledger() as ledger:
        [row] = ledger.increments(at(0), at(SECONDS_PER_HOUR), by="metric")
        by_pod = {r.workload_id: int(r.quantity) for r in ledger.increments(at(0), at(SECONDS_PER_HOUR), by="workload")}
    assert row.quantity == expected(case)["tokens"]
    assert by_pod == {"A": 1_700, "B": 3_200, "C": 400}
    assert usd_per_million("2.65", row.quantity) == Decimal(expected(case)["usd_per_m_tokens"])
    assert "not visible" in row.note
    assert row.restarts == 1


def test_prefix_hits_are_tokens(shared_cases: Path, tmp_path: Path) -> None:
    case = shared_cases / "13-prefix-hits-are-tokens"
    given = json.loads((case / "input.json").read_text())
    hour = SECONDS_PER_HOUR * given["window_hours"]
    desk = Desk(tmp_path)
    desk.take(answer(*(series(name, [(0, 0), (hour, total)]) for name, total in given["metrics"].items())))
    with desk.ledger() as ledger:
        rows = {row.metric: row for row in ledger.increments(at(0), at(hour), by="metric")}
    prompt, queries = rows["prompt_tokens"].quantity, rows["prefix_cache_queries"].quantity
    hits = rows["prefix_cache_hits"]
    assert hits.unit == "tokens"
    found = prefix_cache(prompt_tokens=prompt, queries=queries, hits=hits.quantity, unit=hits.unit)
    answers = expected(case)
    assert found.computed_prompt_tokens == answers["computed_prompt_tokens"]
    assert found.hit_share is not None
    assert round(found.hit_share, 4) == Decimal(answers["hit_rate"])
    delivered = money.add([prompt, rows["generation_tokens"].quantity])
    blended = usd_per_million(given["gpu_cost_usd"], delivered)
    assert round(blended, 4) == Decimal(answers["blended_usd_per_mtok"])
    with pytest.raises(BadBill, match="12800000 tokens were found"):
        prefix_cache(
            prompt_tokens=prompt, queries=queries, hits=hits.quantity, unit="blocks", block_tokens=given["block_size"]
        )  # fmt: skip


def test_the_report_shows_the_prefix_cache(shared_cases: Path, tmp_path: Path) -> None:
    case = shared_cases / "13-prefix-hits-are-tokens"
    given, answers = json.loads((case / "input.json").read_text()), expected(case)
    hour = SECONDS_PER_HOUR * given["window_hours"]
    answers_file = answer(
        *(series(n, [(0, 0), (hour, total)], model_name="otter") for n, total in given["metrics"].items())
    )
    write(tmp_path / "metrics.json", answers_file)
    bill = "BilledCost,EffectiveCost,BillingCurrency,project\n{0},{0},USD,otter\n".format(given["gpu_cost_usd"])
    (tmp_path / "bill.csv").write_text(bill)
    shop = Shop(tmp_path)
    shop.load(str(tmp_path / "metrics.json"))
    shop.load(str(tmp_path / "bill.csv"), "--period", "2031-09")
    found = shop.report()["tokens"]
    [line] = found["prefix_cache"]
    assert line["service"] == "otter"
    assert Decimal(line["computed_prompt_tokens"]) == answers["computed_prompt_tokens"]
    assert line["hit_share"] == answers["hit_rate"]
    assert line["reason"] is None
    own = found["own"]["USD"]["otter"]
    assert round(Decimal(own["per_mtok_blended"]), 4) == Decimal(answers["blended_usd_per_mtok"])
    printed = " ".join(shop.run("report", "--section", "tokens", "--as-of", "2031-10-01").stdout.split())
    assert "otter 12,000,000 800,000 6.7 % 11,200,000" in printed


def test_counters_that_contradict_each_other_give_no_hit_rate(tmp_path: Path) -> None:
    totals = {"prompt_tokens": 100, "prefix_cache_queries": 100, "prefix_cache_hits": 150}
    found = [series(f"vllm:{n}_total", [(0, 0), (60, v)], model_name="otter") for n, v in totals.items()]
    shop = Shop(tmp_path)
    shop.load(str(write(tmp_path / "metrics.json", answer(*found))))
    [line] = shop.report()["tokens"]["prefix_cache"]
    assert line["hit_share"] is None
    assert line["computed_prompt_tokens"] is None
    assert "150 hits of 100 queries" in line["reason"]


def test_pods_on_one_card_are_one_measurement(shared_cases: Path, tmp_path: Path) -> None:
    case = shared_cases / "18-timesliced-utilisation-duplicated"
    natives = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE")
    found = [
        series(name, steady(float(row[name]), 61), UUID=row["UUID"], pod=row["pod"], namespace=row["namespace"])
        for row in cells(case / "input.csv")
        for name in natives
    ]
    desk = Desk(tmp_path)
    desk.take(answer(*found))
    with desk.ledger() as ledger:
        cards = {row.metric: row for row in ledger.gauges(at(0), at(SECONDS_PER_HOUR))}
        pods = ledger.gauges(at(0), at(SECONDS_PER_HOUR), by="workload", metrics=["gpu_utilisation"])
    answers = expected(case)
    assert cards["gpu_utilisation"].mean == answers["device_util"]
    power = cards["gpu_power"]
    assert power.mean is not None
    assert power.mean * power.known_s / SECONDS_PER_HOUR == answers["energy_wh"]
    assert [pod.mean for pod in pods] == [answers["per_pod_util"]] * 4
    assert all("not available" in pod.note for pod in pods)
    [node] = cells(case / "node.csv")
    share = money.divide(Decimal(node["usd_per_gpu_hour"]), Decimal(node["replicas"]))
    usd_per_hour: dict[str, Decimal] = {}
    for pod in power.workloads:
        team = pod.partition("/")[0]
        usd_per_hour[team] = money.add([usd_per_hour.get(team, Decimal(0)), share])
    assert usd_per_hour == {team: Decimal(usd) for team, usd in answers["usd_per_hour"].items()}
