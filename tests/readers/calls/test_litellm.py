"""Spend logs of LiteLLM: gross input, details from the metadata, three kinds of zero."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.readers.calls.call_files import load, load_text

COLUMNS = (
    "request_id", "call_type", "api_key", "spend", "total_tokens", "prompt_tokens", "completion_tokens", "startTime",
    "endTime", "model", "model_group", "custom_llm_provider", "api_base", "user", "metadata", "cache_hit", "cache_key",
    "request_tags", "team_id", "end_user", "status",
)  # fmt: skip
CALL = {
    "request_id": "r1", "call_type": "acompletion", "api_key": "88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b",
    "spend": "0.0123", "total_tokens": "12500", "prompt_tokens": "12000", "completion_tokens": "500",
    "startTime": "2031-05-01 10:00:00.5", "endTime": "2031-05-01 10:00:02", "model": "otter-mini",
    "custom_llm_provider": "openai", "user": "ada", "cache_hit": "False", "cache_key": "Cache OFF",
    "request_tags": '["prod"]', "team_id": "t1", "status": "success",
}  # fmt: skip


def log(*rows: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    for row in rows:
        cells = {**CALL, **row}
        writer.writerow({k: json.dumps(v) if isinstance(v, dict) else v for k, v in cells.items()})
    return text.getvalue()


def usage(**members: Any) -> dict[str, Any]:
    return {"usage_object": members, "additional_usage_values": {}}


def test_a_call_with_all_that_its_metadata_say(tmp_path: Path) -> None:
    details = {
        "cached_tokens": 9000, "cache_creation_tokens": 300, "audio_tokens": 50,
        "cache_creation_token_details": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
    }  # fmt: skip
    metadata = usage(
        prompt_tokens_details=details, cache_read_input_tokens=9000, completion_tokens_details={"reasoning_tokens": 120}
    ) | {"user_api_key_alias": "ci", "user_api_key_team_alias": "search"}
    (call,) = load_text(log({"metadata": metadata}), tmp_path).calls()
    assert call.pop("called_at").isoformat() == "2031-05-01T10:00:00.500000"
    assert call.pop("ended_at").isoformat() == "2031-05-01T10:00:02"
    assert call == {
        "call_id": "r1", "requests": 1, "provider": "openai", "model": "otter-mini", "variant": "", "key": "ci",
        "caller": "ada", "status": "ok", "input_tokens": 2650, "cache_read_tokens": 9000, "cache_write_5m_tokens": 100,
        "cache_write_1h_tokens": 200, "cache_write_tokens": 0, "input_audio_tokens": 50, "output_tokens": 500,
        "reasoning_tokens": 120, "reported_cost": Decimal("0.0123"), "reported_currency": "USD",
        "cost_basis": "estimated", "input_convention": "gross", "output_convention": "includes-reasoning",
        "tags": {"team": "search", "call_type": "acompletion", "request_tags": '["prod"]'},
    }  # fmt: skip


def test_what_a_cache_did_is_not_known_without_metadata(tmp_path: Path) -> None:
    assert load_text(log({}), tmp_path).tokens() == [{"input_tokens": 12000, "output_tokens": 500}]


def test_older_logs_say_it_beside_the_usage(tmp_path: Path) -> None:
    metadata = {"additional_usage_values": {"cache_read_input_tokens": 9000, "cache_creation_input_tokens": 1000}}
    loaded = load_text(log({"metadata": metadata}), tmp_path)
    assert loaded.tokens() == [
        {"input_tokens": 2000, "cache_read_tokens": 9000, "cache_write_tokens": 1000, "output_tokens": 500}
    ]
    assert loaded.calls("notes") == [{"notes": "cache-lifetime-unknown"}]


def test_failures_hits_of_the_gateway_and_unknown_prices_are_told_apart(tmp_path: Path) -> None:
    rows = [
        {"request_id": "a", "status": "failure", "spend": "0", "prompt_tokens": "", "completion_tokens": ""},
        {"request_id": "b", "cache_hit": "True", "spend": "0.0"},
        {"request_id": "c", "spend": "0"},
        {"request_id": "d", "spend": ""},
        {"request_id": "e", "metadata": {"status": "failure"}, "status": ""},
    ]
    found = load_text(log(*rows), tmp_path).calls("call_id", "status", "reported_cost", "cost_basis")
    assert found == [
        {"call_id": "a", "status": "failed", "reported_cost": 0, "cost_basis": "estimated"},
        {"call_id": "b", "status": "cached", "reported_cost": 0, "cost_basis": "measured"},
        {"call_id": "c", "status": "ok", "reported_cost": 0, "cost_basis": "estimated"},
        {"call_id": "d", "status": "ok"},
        {"call_id": "e", "status": "failed", "reported_cost": Decimal("0.0123"), "cost_basis": "estimated"},
    ]


def test_service_tiers_and_batches_are_variants(tmp_path: Path) -> None:
    rows = [
        {"metadata": usage(service_tier="flex")},
        {"call_type": "aretrieve_batch"},
        {"metadata": usage(service_tier="default")},
    ]
    assert load_text(log(*rows), tmp_path).calls("variant") == [
        {"variant": "flex"},
        {"variant": "batch"},
        {"variant": ""},
    ]


def test_a_cache_larger_than_the_input_is_refused(tmp_path: Path) -> None:
    rows = [
        {"metadata": usage(cache_read_input_tokens=12001)},
        {"metadata": usage(cache_read_input_tokens=12000)},
        {"metadata": usage(cache_read_input_tokens=11000, cache_creation_input_tokens=1001)},
    ]
    loaded = load_text(log(*rows), tmp_path)
    assert [(row, column) for row, column, _ in loaded.rejects] == [(1, "prompt_tokens"), (3, "prompt_tokens")]
    assert "more than the input" in loaded.rejects[0][2]
    assert loaded.tokens() == [{"input_tokens": 0, "cache_read_tokens": 12000, "output_tokens": 500}]


def test_a_secret_key_is_not_kept(tmp_path: Path) -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz0123"
    loaded = load_text(log({"api_key": secret}, {"api_key": secret, "prompt_tokens": "-1"}), tmp_path)
    assert loaded.calls("key") == [{"key": "sk-...0123"}]
    assert secret not in str(loaded.ask("SELECT * FROM rejects"))
    assert secret not in str(loaded.ask("SELECT * FROM calls"))


def test_json_in_every_form_says_the_same_as_csv(tmp_path: Path) -> None:
    rows = [
        CALL | {"metadata": usage(cache_read_input_tokens=9000), "spend": 0.0123, "prompt_tokens": 12000},
        CALL | {"request_id": "r2", "metadata": {}, "cache_hit": "True"},
    ]
    forms = {
        "array": json.dumps(rows),
        "lines": "\n".join(map(json.dumps, rows)),
        "answer": json.dumps({"data": rows, "total": 2, "page": 1}),
        "csv": log(*rows),
    }
    for name in forms:
        (tmp_path / name).mkdir()
    found = {name: load_text(text, tmp_path / name).calls() for name, text in forms.items()}
    assert found["array"] == found["lines"] == found["answer"] == found["csv"]
    assert found["csv"][0]["cache_read_tokens"] == 9000


def test_the_fast_path_reads_as_the_careful_one(tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        {"prompt_tokens": "-5"}, {"prompt_tokens": "many"}, {"metadata": "{cut"}, {"startTime": "yesterday"},
        {"spend": "NaN"}, {"metadata": usage(cache_read_input_tokens=10**20)}, {"completion_tokens": "12.5"},
        {"user": 'Robert"); DROP TABLE calls;--\n\u202e,', "model": "x" * 3000},
    ]  # fmt: skip
    rows = [
        {"request_id": f"r{i}", "prompt_tokens": str(i + 9000), "metadata": usage(cache_read_input_tokens=i)}
        for i in range(5000)
    ]
    path = tmp_path / "log.csv"
    path.write_text(log(*rows[:2500], *bad, *rows[2500:]), encoding="utf-8", newline="")
    for way in ("fast", "careful"):
        (tmp_path / way).mkdir()
    fast = load(path, tmp_path / "fast")
    careful = load(path, tmp_path / "careful", careful=True)
    assert fast.plan.fast
    assert not careful.plan.fast
    query = "SELECT * FROM calls ORDER BY row_number"
    assert fast.ask(query) == careful.ask(query)
    assert len(fast.ask(query)) == 5001
    assert fast.rejects == careful.rejects
    assert [row for row, _, _ in fast.rejects] == [2501, 2502, 2503, 2504, 2505, 2506, 2507]
