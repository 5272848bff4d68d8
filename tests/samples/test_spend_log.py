"""The calls of the sample, through the whole tool: the token account says of them what their generator wrote down."""

from __future__ import annotations

from decimal import Decimal

from tests.sample_reports import Told

from unitcost import money
from unitcost.jobs.explain import explain

NAMES = {
    "Token API/large-2": "large-2", "Token API/small-2": "small-2", "hosted_vllm/assistant-8b": "assistant-8b",
    "token_api/large-3-preview": "large-3-preview",
}  # fmt: skip


def is_cent(found: str | None, expected: Decimal) -> bool:
    return money.round_places(Decimal(found or 0), 2) == money.round_places(expected, 2)


def test_models_cost_what_the_api_charges(told: Told) -> None:
    found = told.report["tokens"]["models"]["USD"]
    assert {NAMES[name] for name in found} == set(told.truth.calls.models)
    for name, line in found.items():
        true = told.truth.calls.models[NAMES[name]]
        assert (line["calls"], line["input_tokens"], line["output_tokens"]) == (
            true.calls, true.input_tokens, true.output_tokens,
        ), name  # fmt: skip
        assert is_cent(line["cost"], true.cost), name
    assert told.truth.calls.cost > 20


def test_teams_cost_what_their_keys_called(told: Told) -> None:
    found = told.report["tokens"]["teams"]["USD"]
    assert {"" if name == "untagged" else name for name in found} == set(told.truth.calls.teams)
    for name, true in told.truth.calls.teams.items():
        line = found[name or "untagged"]
        assert line["calls"] == true.calls
        assert is_cent(line["cost"], true.cost), name


def test_the_account_closes(told: Told) -> None:
    account, truth = told.report["tokens"], told.truth.calls
    assert Decimal(account["spend"]["USD"]) == truth.cost
    for part in ("models", "teams", "projects", "keys", "states"):
        lines = account[part]["USD"].values()
        costs = [line["cost"] if isinstance(line, dict) else line for line in lines]
        assert money.add(Decimal(cost or 0) for cost in costs) == truth.cost, part


def test_what_has_no_price_or_runs_on_own_machines_is_counted(told: Told) -> None:
    account, truth = told.report["tokens"], told.truth.calls
    assert account["unpriced_tokens"] == truth.unpriced_tokens > 0
    assert account["self_hosted_tokens"] == {"assistant-8b": truth.own_tokens}
    assert [one["model"] for one in account["unpriced"]] == ["large-3-preview"]


def test_failed_and_repeated_calls_are_counted_apart(told: Told) -> None:
    apart = told.report["tokens"]["apart"]["USD"]
    assert apart["failed"]["calls"] == told.truth.calls.statuses["failed"] > 0
    assert apart["answered from the gateway's cache"]["calls"] == told.truth.calls.statuses["cached"] > 0


def test_what_the_proxy_reckoned_stands_beside(told: Told) -> None:
    (row,) = told.report["tokens"]["reported_and_computed"]
    assert is_cent(row["reported"], told.truth.calls.reported)
    assert is_cent(row["computed"], told.truth.calls.cost)
    assert Decimal(row["difference"]) < 0


def test_the_bill_of_the_api_counts_as_the_spend(told: Told) -> None:
    rows = told.report["tokens"]["bills"]["USD"]
    assert [row["month"] for row in rows] == list(told.truth.months)
    assert all(row["counts"] == row["billed"] and Decimal(row["billed"]) > Decimal(row["called"]) > 0 for row in rows)
    billed = money.add(Decimal(row["billed"]) for row in rows)
    assert is_cent(told.report["drivers"]["USD"]["LLM API"], billed)


def test_own_serving_stands_in_the_same_table(told: Told) -> None:
    (section,) = (found for found in told.report["sections"] if found["key"] == "tokens")
    table = section["tables"][0]
    where = {row[0]: row[1] for row in table["rows"]}
    assert where["Token API/large-2"] == "API"
    assert where["hosted_vllm/assistant-8b"] == where["serving/assistant-llm"] == "own machines"


def test_a_cost_unfolds_to_calls_and_price_records(told: Told) -> None:
    line = told.report["tokens"]["models"]["USD"]["Token API/large-2"]
    explanation = explain(told.workspace, line["figure"], limit=None)
    rows = [row for found, _ in explanation.rows.values() for row in found]
    assert money.add(row.amount for row in rows) == Decimal(line["cost"])
    assert {row.file for row in rows} == {"work/gateway/spend-logs.csv"}
    paid = [row for row in rows if row.amount]
    assert paid
    assert {record for row in paid for record in row.description.split(", ")} == set(line["price_records"])
