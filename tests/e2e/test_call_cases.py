"""Worked cases of calls, loaded by the readers and reported through the command line."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.e2e.conftest import Desk

CLASSES = ("input", "cache_read", "cache_write_5m", "output")


def said(desk: Desk, case: Path) -> dict[str, Any]:
    """Input of a case, its prices put into the settings of a desk as those of every model it names."""
    given = json.loads((case / "input.json").read_text())
    prices = given["prices_usd_per_mtok"]
    models = {call["model"] for call in given.get("calls", [])} or {"otter-mini"}
    header = ["model", *(f"{c}_usd_per_mtok" for c in CLASSES if c in prices)]
    lines = [",".join(header), *(",".join([m, *(prices[c] for c in CLASSES if c in prices)]) for m in sorted(models))]
    desk.write("prices.csv", "\n".join(lines) + "\n")
    desk.write("unitcost.toml", '[prices]\nfiles = ["prices.csv"]\n')
    return dict(given)


def table(desk: Desk, rows: list[dict[str, Any]], name: str = "calls.csv") -> str:
    """Own table of calls."""
    path = desk.folder / name
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def expected(case: Path) -> dict[str, Any]:
    return dict(json.loads((case / "expected.json").read_text()))


def test_case_01_cached_tokens_inside_the_prompt(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "01-cached-tokens-inside-prompt"
    answer = expected(case)
    (call,) = said(desk, case)["calls"]
    row = {
        "model": call["model"], "called_at": "2031-06-10T00:00:00Z", "input": call["prompt_tokens"],
        "cache_read": call["prompt_tokens_details"]["cached_tokens"], "output": call["completion_tokens"],
        "input_convention": "gross",
    }  # fmt: skip
    desk.load(table(desk, [row]))
    found = desk.report()["tokens"]
    assert Decimal(found["spend"]["USD"]) == Decimal(answer["total_usd"])
    (cache,) = found["prompt_cache"]
    assert cache["prompt_tokens"] - cache["read_tokens"] == answer["fresh_input_tokens"]
    assert cache["read_tokens"] == answer["cache_read_tokens"]
    assert Decimal(cache["saved"]) == Decimal(answer["cache_saving_usd"])
    assert Decimal(cache["hit_share"]) == Decimal(answer["cache_hit_rate"])


def _records(given: dict[str, Any], ids: dict[str, str]) -> list[dict[str, Any]]:
    """Both records of case 02 as rows of an own table, each in its convention."""
    native, span = given["records"]
    usage, attributes = native["usage"], span["attributes"]
    name = "gen_ai.usage."
    return [
        {
            "call_id": ids["a"], "model": "otter-mini", "called_at": "2031-06-10T00:00:00Z", "key": "a",
            "input": usage["input_tokens"], "cache_read": usage["cache_read_input_tokens"],
            "cache_write": usage["cache_creation_input_tokens"], "output": usage["output_tokens"],
            "input_convention": "fresh",
        },
        {
            "call_id": ids["b"], "model": "otter-mini", "called_at": "2031-06-10T00:00:00Z", "key": "b",
            "input": attributes[f"{name}input_tokens"], "cache_read": attributes[f"{name}cache_read.input_tokens"],
            "cache_write": attributes[f"{name}cache_creation.input_tokens"],
            "output": attributes[f"{name}output_tokens"], "input_convention": "gross",
        },
    ]  # fmt: skip


def test_case_02_two_cache_conventions_cost_the_same(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "02-two-cache-conventions-same-bill"
    answer = expected(case)
    desk.load(table(desk, _records(said(desk, case), {"a": "a", "b": "b"})))
    found = desk.report()["tokens"]
    assert {name: line["cost"] for name, line in found["keys"]["USD"].items()} == answer["records"]
    total = sum(answer["disjoint"][name] for name in ("input", "cache_read", "cache_write"))
    assert all(line["input_tokens"] == total for line in found["keys"]["USD"].values())


def test_case_02_one_call_told_twice_counts_once(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "02-two-cache-conventions-same-bill"
    desk.load(table(desk, _records(said(desk, case), {"a": "same", "b": "same"})))
    found = desk.report()["tokens"]
    assert found["spend"]["USD"] == expected(case)["records"]["a"]
    assert any("each call counts once" in note for note in found["notes"])


def test_case_09_a_measured_zero_is_not_a_missing_value(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "09-reported-zero-versus-missing"
    answer = expected(case)
    with (case / "input.csv").open(newline="", encoding="utf-8") as stream:
        rows = [
            {
                "call_id": row["id"], "model": "otter-mini", "called_at": "2031-06-10T00:00:00Z",
                "status": "cached" if "cache" in row["note"] else "ok", "reported_cost": row["reported_cost_usd"],
                "estimated_cost": row["estimate_usd"], "reported_currency": "USD",
            }
            for row in csv.DictReader(stream)
        ]  # fmt: skip
    desk.load(table(desk, [{**row, "input_tokens": ""} for row in rows]))
    found = desk.report()["tokens"]
    assert Decimal(found["spend"]["USD"]) == Decimal(answer["total_usd"])
    states = {name: Decimal(amount) for name, amount in found["states"]["USD"].items()}
    assert states == {
        "cached": 0, "measured": Decimal(answer["measured_usd"]), "estimated": Decimal(answer["estimated_usd"]),
    }  # fmt: skip
    (apart,) = found["apart"]["USD"].values()
    assert Decimal(apart["avoided"]) == Decimal(answer["avoided_usd"])


def test_case_28_two_currencies_of_calls(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "28-two-currencies"
    answer = expected(case)
    with (case / "input.csv").open(newline="", encoding="utf-8") as stream:
        rows = [
            {
                "model": "otter-mini", "called_at": "2031-06-10T00:00:00Z", "input_tokens": 1, "output_tokens": 1,
                "reported_cost": row["EffectiveCost"], "reported_currency": row["BillingCurrency"], "tag.team": row["team"],
            }
            for row in csv.DictReader(stream)
        ]  # fmt: skip
    desk.load(table(desk, rows))
    without = desk.report()["tokens"]
    assert {unit: Decimal(amount) for unit, amount in without["spend"].items()} == {
        unit: Decimal(amount) for unit, amount in answer["without_rates"].items()
    }
    with (case / "rates.csv").open(newline="", encoding="utf-8") as stream:
        (rate,) = csv.DictReader(stream)
    desk.write("unitcost.toml", f"[fx]\n{rate['from']} = [ {{ from = {rate['date']}, usd = {rate['rate']} }} ]\n")
    report = desk.report()
    assert {unit: Decimal(a) for unit, a in report["tokens"]["spend"].items()} == {
        "USD": Decimal(answer["with_rates_usd"])
    }
    assert report["tokens"]["teams"]["USD"]["atlas"]["cost"] == answer["with_rates_usd"]
    assert report["rates_used"] == [{"currency": "EUR", "from": "2031-06-01", "rate": "1.2", "to": "USD"}]
