"""Usage and cost reports of the providers: sums of calls, and charges."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.readers.calls.call_files import Loaded, load, load_text

DAY_S = 86_400
START_S = 1_935_619_200  # 2031-05-04
KNOWN = ("load_id", "row_number")


def openai(*results: dict[str, Any], object_name: str = "usage.completions", **page: Any) -> dict[str, Any]:
    listed = [{"object": f"organization.{object_name}.result", **result} for result in results]
    bucket = {"object": "bucket", "start_time": START_S, "end_time": START_S + DAY_S, "results": listed}
    return {"object": "page", "data": [bucket], "has_more": False, "next_page": None, **page}


def anthropic(*results: dict[str, Any], **page: Any) -> dict[str, Any]:
    bucket = {"starting_at": "2031-05-04T00:00:00Z", "ending_at": "2031-05-05T00:00:00Z", "results": list(results)}
    return {"data": [bucket], "has_more": False, "next_page": None, **page}


def usage(**changes: Any) -> dict[str, Any]:
    return {
        "uncached_input_tokens": 1500, "cache_creation": {"ephemeral_1h_input_tokens": 1000, "ephemeral_5m_input_tokens": 500},
        "cache_read_input_tokens": 200, "output_tokens": 700, "server_tool_use": {"web_search_requests": 10},
        "api_key_id": "apikey_1", "workspace_id": "wrkspc_1", "model": "heron-4", "service_tier": "standard",
        "context_window": "0-200k", "inference_geo": "not_available", **changes,
    }  # fmt: skip


def charges(loaded: Loaded, *names: str) -> list[tuple[Any, ...]]:
    return loaded.ask(f"SELECT {', '.join(names)} FROM charges ORDER BY row_number")


def test_openai_usage(tmp_path: Path) -> None:
    result = {
        "input_tokens": 1000, "output_tokens": 500, "input_cached_tokens": 800, "input_audio_tokens": 30,
        "output_audio_tokens": 7, "num_model_requests": 5, "project_id": "proj_1", "api_key_id": "key_1",
        "user_id": "user_1", "model": "otter-2031", "batch": True,
    }  # fmt: skip
    (call,) = load_text(openai(result), tmp_path).calls()
    assert (call.pop("called_at"), call.pop("ended_at")) == (datetime(2031, 5, 4), datetime(2031, 5, 5))
    assert call == {
        "requests": 5, "provider": "openai", "model": "otter-2031", "variant": "batch", "key": "key_1", "caller": "user_1",
        "status": "ok", "input_tokens": 200, "cache_read_tokens": 800, "input_audio_tokens": 30, "output_tokens": 500,
        "output_audio_tokens": 7, "input_convention": "gross", "output_convention": "includes-reasoning",
        "notes": "sum-of-calls", "tags": {"project": "proj_1", "usage": "completions"},
    }  # fmt: skip


def test_openai_usage_that_breaks_its_input_down(tmp_path: Path) -> None:
    result = {
        "input_tokens": 1000, "input_uncached_tokens": 150, "input_text_tokens": 100, "input_audio_tokens": 30, "input_image_tokens": 20,
        "input_cached_tokens": 800, "input_cached_text_tokens": 790, "input_cached_audio_tokens": 10,
        "input_cache_write_tokens": 50, "output_tokens": 500, "output_text_tokens": 493, "output_audio_tokens": 7,
        "num_model_requests": 5, "model": "otter", "service_tier": "flex",
    }  # fmt: skip
    (call,) = load_text(openai(result), tmp_path).calls()
    assert {name: count for name, count in call.items() if name.endswith("_tokens")} == {
        "input_tokens": 100, "cache_read_tokens": 790, "cache_read_audio_tokens": 10, "cache_write_tokens": 50, "input_audio_tokens": 30,
        "input_image_tokens": 20, "output_tokens": 493, "output_audio_tokens": 7,
    }  # fmt: skip
    assert call["variant"] == "flex"


def test_pages_stand_one_after_the_other_and_a_missing_one_is_said(tmp_path: Path) -> None:
    first = openai({"input_tokens": 1, "num_model_requests": 1}, has_more=True, next_page="x")
    last = openai({"input_tokens": 2, "num_model_requests": 1})
    loaded = load_text("\n".join(map(json.dumps, [first, last])), tmp_path, name="whole")
    assert [call["input_tokens"] for call in loaded.calls()] == [1, 2]
    assert loaded.record.flags == ()
    loaded = load_text([last, first], tmp_path, name="part")
    assert "names a next page" in loaded.record.flags[0]


def test_other_usage_of_openai_stays_without_tokens(tmp_path: Path) -> None:
    images = openai({"images": 3, "num_model_requests": 3, "model": "painter"}, object_name="usage.images")
    assert load_text(images, tmp_path).calls("requests", "model", "input_tokens", "tags") == [
        {"requests": 3, "model": "painter", "tags": {"usage": "images"}}
    ]


def test_openai_costs_are_charges(tmp_path: Path, shared_bills: Path) -> None:
    loaded = load(shared_bills / "openai_costs_api_doc_example.json", tmp_path)
    assert charges(loaded, "billed_cost", "effective_cost", "billing_currency", "service_provider_name") == [
        (Decimal("0.06"), Decimal("0.06"), "USD", "OpenAI")
    ]
    assert charges(loaded, "charge_period_start", "charge_period_end", "billing_period_start") == [
        (datetime(2024, 11, 1), datetime(2024, 11, 2), datetime(2024, 11, 1))
    ]


def test_openai_costs_keep_each_place_and_line_item(tmp_path: Path) -> None:
    result = {
        "amount": {"value": 0.0623410295, "currency": "usd"}, "line_item": "otter, input", "project_id": "proj_1",
        "api_key_id": None, "quantity": 12000,
    }  # fmt: skip
    loaded = load_text(openai(result, {"amount": {"value": "x"}}, {}, object_name="costs"), tmp_path)
    assert charges(loaded, "billed_cost", "sku_meter", "sub_account_id", "consumed_quantity", "tags") == [
        (Decimal("0.0623410295"), "otter, input", "proj_1", 12000, {"project": "proj_1"})
    ]
    assert [row for row, _, _ in loaded.rejects] == [2, 3]


def test_openai_activity(tmp_path: Path, shared_bills: Path) -> None:
    loaded = load(shared_bills / "openai_activity_synthetic.csv", tmp_path)
    assert loaded.record.reader == "openai-activity"
    found = loaded.calls(
        "model", "input_tokens AS i", "output_tokens AS o", "reported_cost AS cost", "cost_basis AS basis"
    )
    assert found == [
        {"model": "gpt-4o-mini", "i": 120_000, "o": 18_000, "cost": Decimal("42.55"), "basis": "measured"},
        {"model": "text-embedding-3-large", "i": 240_000, "o": 0, "cost": Decimal("3.2"), "basis": "measured"},
        {"model": "dall-e-3", "i": 0, "o": 0, "cost": Decimal("7.05"), "basis": "measured"},
    ]


def test_anthropic_usage(tmp_path: Path) -> None:
    loaded = load_text(anthropic(usage(), usage(service_tier="priority_on_demand", inference_geo="us")), tmp_path)
    call, other = loaded.calls()
    assert (call.pop("called_at"), call.pop("ended_at")) == (datetime(2031, 5, 4), datetime(2031, 5, 5))
    assert call == {
        "provider": "anthropic", "model": "heron-4", "variant": "", "key": "apikey_1", "status": "ok", "input_tokens": 1500,
        "cache_read_tokens": 200, "cache_write_5m_tokens": 500, "cache_write_1h_tokens": 1000, "output_tokens": 700,
        "web_searches": 10, "input_convention": "fresh", "output_convention": "includes-reasoning",
        "notes": "sum-of-calls", "tags": {"workspace": "wrkspc_1", "context_window": "0-200k"},
    }  # fmt: skip
    assert (other["variant"], other["region"]) == ("priority", "us")


@pytest.mark.parametrize(
    "wrong",
    [{"output_tokens": -1}, {"uncached_input_tokens": "12"}, {"cache_read_input_tokens": 1.5}, {"output_tokens": [1]}],
)
def test_wrong_counts_of_anthropic(tmp_path: Path, wrong: dict[str, Any]) -> None:
    loaded = load_text(anthropic(usage(), usage(**wrong)), tmp_path)
    accepted = 2 if wrong == {"uncached_input_tokens": "12"} else 1
    assert (loaded.record.rows_read, loaded.record.rows_accepted) == (2, accepted)


def test_anthropic_usage_as_csv(tmp_path: Path, shared_bills: Path) -> None:
    (call,) = load(shared_bills / "anthropic_usage_synthetic.csv", tmp_path).calls()
    assert {name: value for name, value in call.items() if name.endswith("_tokens")} == {
        "input_tokens": 3000, "cache_read_tokens": 50, "cache_write_tokens": 100, "output_tokens": 600,
    }  # fmt: skip
    assert (call["requests"], call["notes"], call["input_convention"]) == (
        20,
        "sum-of-calls;cache-lifetime-unknown",
        "fresh",
    )


def test_anthropic_console_export(tmp_path: Path) -> None:
    text = (
        "usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,"
        "usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,"
        "usage_output_tokens,web_search_count\n2031-05-04,heron-4,ci,Default,batch,≤ 200k,10,20,30,40,50,1\n"
    )
    (call,) = load_text(text, tmp_path).calls()
    assert {name: value for name, value in call.items() if name.endswith(("_tokens", "searches"))} == {
        "input_tokens": 10, "cache_write_5m_tokens": 20, "cache_write_1h_tokens": 30, "cache_read_tokens": 40,
        "output_tokens": 50, "web_searches": 1,
    }  # fmt: skip
    assert (call["variant"], call["key"], call["tags"]["workspace"]) == ("batch", "ci", "Default")


def test_anthropic_costs_are_charges_in_cents(tmp_path: Path) -> None:
    result = {
        "currency": "USD", "amount": "123.78912", "workspace_id": "wrkspc_1", "description": "Heron 4 Usage - Input Tokens",
        "cost_type": "tokens", "context_window": "0-200k", "model": "heron-4", "service_tier": "standard",
        "token_type": "uncached_input_tokens",
    }  # fmt: skip
    loaded = load_text(anthropic(result, result | {"amount": "a lot"}, result | {"amount": None}), tmp_path)
    assert charges(loaded, "billed_cost", "billing_currency", "sku_meter", "tags['token_type']") == [
        (Decimal("1.2378912"), "USD", "Heron 4 Usage - Input Tokens", "uncached_input_tokens")
    ]
    assert [row for row, _, _ in loaded.rejects] == [2, 3]


def test_cut_and_strange_answers_lose_nothing(tmp_path: Path) -> None:
    whole = json.dumps(anthropic(usage()))
    document = anthropic(usage(), 5)  # type: ignore[arg-type]
    document["data"] += ["x", {"results": None}]
    text = f"{whole}\n{json.dumps(document)}\n[1, {whole[:-40]}"
    loaded = load_text(text, tmp_path)
    assert len(loaded.calls()) == 2
    assert loaded.record.rows_rejected == 5
