"""Our own table of calls, and the cases of calls."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.readers.calls.call_files import Loaded, load_text

from unitcost.errors import NeedsAnswer
from unitcost.facts.calls import STATED
from unitcost.facts.tokens import COUNTED, TokenCounts

FEW = settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def table(*rows: dict[str, Any]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def test_01_cached_tokens_are_inside_of_the_prompt(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "01-cached-tokens-inside-prompt"
    given, right = (json.loads((case / f"{name}.json").read_text(encoding="utf-8")) for name in ("input", "expected"))
    rows = [
        {
            "request_id": f"r{n}", "spend": "", "startTime": "2031-05-04T10:00:00Z", "model": call["model"],
            "prompt_tokens": call["prompt_tokens"], "completion_tokens": call["completion_tokens"],
            "metadata": {"usage_object": {"prompt_tokens_details": call["prompt_tokens_details"]}},
        }
        for n, call in enumerate(given["calls"])
    ]  # fmt: skip
    loaded = load_text(rows, tmp_path)
    assert loaded.tokens() == [
        {
            "input_tokens": right["fresh_input_tokens"],
            "cache_read_tokens": right["cache_read_tokens"],
            "output_tokens": 500,
        }
    ]
    (cache,) = loaded.ask("SELECT sum(cache_read_tokens), sum(cache_read_tokens + input_tokens) FROM counted_calls")
    assert Fraction(int(cache[0]), int(cache[1])) == Fraction(right["cache_hit_rate"])


def test_02_two_conventions_of_one_call_are_one_call(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "02-two-cache-conventions-same-bill"
    given, right = (json.loads((case / f"{name}.json").read_text(encoding="utf-8")) for name in ("input", "expected"))
    native, span = given["records"]
    says = {"cache_read_input_tokens": "cache_read", "cache_creation_input_tokens": "cache_write", "input_tokens": "input",
            "output_tokens": "output"}  # fmt: skip
    row = {"id": "msg_1", "model": "heron", **{says[name]: count for name, count in native["usage"].items()}}
    attributes = [{"key": key, "value": {"intValue": str(count)}} for key, count in span["attributes"].items()]
    attributes.append({"key": "gen_ai.response.id", "value": {"stringValue": "msg_1"}})
    spans = [{"traceId": "t", "spanId": "s", "startTimeUnixNano": "1935655200000000000", "attributes": attributes}]
    load_text(table(row), tmp_path, name="native.csv")
    loaded = load_text({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, tmp_path, name="spans.json")
    wanted = {f"{name}_tokens": count for name, count in right["disjoint"].items()}
    assert loaded.tokens() == [wanted, wanted]
    assert loaded.ask("SELECT input_convention FROM calls ORDER BY load_id") == [("fresh",), ("gross",)]
    assert loaded.ask("SELECT count(*) FROM counted_calls") == [(1,)]


def test_09_zero_missing_and_estimated_are_three_things(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "09-reported-zero-versus-missing"
    right = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    with (case / "input.csv").open(encoding="utf-8", newline="") as stream:
        rows = [
            {
                "id": row["id"], "model": "otter-mini", "reported_cost_usd": row["reported_cost_usd"],
                "estimated_cost_usd": row["estimate_usd"], "status": "cached" if "cache hit" in row["note"] else "ok",
            }
            for row in csv.DictReader(stream)
        ]  # fmt: skip
    loaded = load_text(table(*rows), tmp_path)
    found = loaded.calls(
        "reported_cost AS cost", "cost_basis AS basis", "avoided_cost AS avoided", "reported_currency AS c"
    )
    assert found == [
        {"cost": 0, "basis": "measured", "avoided": Decimal(right["avoided_usd"]), "c": "USD"},
        {"cost": Decimal(right["estimated_usd"]), "basis": "estimated", "c": "USD"},
        {"cost": Decimal(right["measured_usd"]), "basis": "measured", "c": "USD"},
    ]
    assert loaded.ask("SELECT sum(reported_cost) FROM counted_calls") == [(Decimal(right["total_usd"]),)]


def test_each_column_goes_where_it_says(tmp_path: Path) -> None:
    row = {
        "call_id": "c1", "parent_id": "p", "attempt": 2, "called_at": "2031-05-04T12:00:00+02:00",
        "ended_at": "2031-05-04T10:00:05Z", "requests": 3, "provider": "openai", "model": "otter", "variant": "Batch",
        "region": "eu", "api_key": "ci", "user": "ada", "status": "failed", "input_tokens": 1, "cache_read_tokens": 9,
        "cache_read_audio": 2, "cache_write_5m": 3, "cache_write_1h": 4, "cache_write": 8, "output": 5, "reasoning": 2,
        "citation": 6, "web_searches": 7, "cost": "0.25", "currency": "EUR", "cost_basis": "estimated", "accepted": "yes",
        "tag.team": "search", "feature": "summary",
    }  # fmt: skip
    (call,) = load_text(table(row), tmp_path).calls()
    assert str(call.pop("called_at")) == "2031-05-04 10:00:00"
    assert str(call.pop("ended_at")) == "2031-05-04 10:00:05"
    assert call == {
        "call_id": "c1", "parent_id": "p", "attempt": 2, "requests": 3, "provider": "openai", "model": "otter",
        "variant": "batch", "region": "eu", "key": "ci", "caller": "ada", "status": "failed", "input_tokens": 1,
        "cache_read_tokens": 7, "cache_read_audio_tokens": 2, "cache_write_5m_tokens": 3, "cache_write_1h_tokens": 4,
        "cache_write_tokens": 1, "output_tokens": 5, "reasoning_tokens": 2, "citation_tokens": 6, "web_searches": 7,
        "reported_cost": Decimal("0.25"), "reported_currency": "EUR", "cost_basis": "estimated", "accepted": True,
        "input_convention": "fresh", "output_convention": "includes-reasoning", "notes": "cache-lifetime-unknown",
        "tags": {"team": "search", "feature": "summary"},
    }  # fmt: skip


def test_the_currency_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NeedsAnswer, match="currency"):
        load_text("model,input_tokens,cost\notter,1,2\n", tmp_path)
    (call,) = load_text("model,input_tokens,cost\notter,1,2\n", tmp_path, currency="eur").calls()
    assert call["reported_currency"] == "EUR"


@pytest.mark.parametrize(
    ("column", "cell", "named", "reason"),
    [
        ("input", "-1", "input", "whole number"),
        ("input", "1.5", "input", "whole number"),
        ("input", "NaN", "input", "whole number"),
        ("input", "1_000", "input", "whole number"),
        ("input", "1e3", "input", "whole number"),
        ("input", "9" * 40, "input", "whole number"),
        ("input", str(2**63 - 1), "input", "whole number"),
        ("output", "ten", "output", "whole number"),
        ("reasoning", "11", "output", "more than the output"),
        ("cache_read", "101", "input", "more than the input"),
        ("cache_write_5m", "7", "cache_write", "5 minutes"),
        ("reported_cost", "-0.1", "reported_cost", "negative"),
        ("reported_cost", "Infinity", "reported_cost", "number"),
        ("status", "great", "status", "none of ok, failed"),
        ("variant", "turbo", "variant", "none of batch"),
        ("accepted", "perhaps", "accepted", "neither yes nor no"),
        ("called_at", "some day", "called_at", "date"),
        ("called_at", "0001-01-01", "called_at", "date"),
    ],
)
def test_what_cannot_be_right_is_set_aside(tmp_path: Path, column: str, cell: str, named: str, reason: str) -> None:
    good = {
        "model": "otter", "input": "100", "output": "10", "cache_read": "", "cache_write": "6", "cache_write_5m": "",
        "reasoning": "", "reported_cost": "0", "currency": "USD", "status": "", "variant": "", "accepted": "",
        "called_at": "2031-05-04", "input_includes_cache": "yes",
    }  # fmt: skip
    loaded = load_text(table(good, good | {column: cell}, good), tmp_path)
    ((row, told_column, told_reason),) = loaded.rejects
    assert (row, told_column) == (2, named)
    assert reason in told_reason
    assert [call["input_tokens"] for call in loaded.calls()] == [94, 94]


def test_spellings_of_tables_with_gaps(tmp_path: Path) -> None:
    rows = [{"model": "otter", "input": "12.0", "output": " 7 "}, {"model": "otter", "input": "", "output": "+5"}]
    loaded = load_text(table(*rows), tmp_path)
    assert loaded.tokens() == [{"input_tokens": 12, "output_tokens": 7}]
    assert [(row, column) for row, column, _ in loaded.rejects] == [(2, "output")]


def test_ten_thousand_models_and_hostile_texts(tmp_path: Path) -> None:
    strange = [
        "'; DROP TABLE calls;--",
        '"',
        "\u202e\u0000x".replace("\u0000", ""),
        "=cmd()",
        "a\nb\rc",
        "é" * 500,
        "NULL",
        "{}",
    ]
    rows = [{"model": f"model-{n}", "input": n, "tag.x'\"\\": strange[n % len(strange)]} for n in range(10_000)]
    rows += [{"model": text, "input": 1} for text in strange]
    loaded = load_text(table(*rows), tmp_path)
    assert loaded.ask("SELECT count(DISTINCT model), count(*) FROM calls") == [
        (10_000 + len(strange), 10_000 + len(strange))
    ]
    assert loaded.calls("tags")[4]["tags"] == {"x'\"\\": "a\nb\rc"}


def test_truncated_and_ragged_rows_are_set_aside(tmp_path: Path) -> None:
    text = 'model,input,output,tag.note\notter,1,2,x\notter,1\notter,1,2,x,y\notter,5,6,"cut'
    loaded = load_text(text, tmp_path)
    assert len(loaded.calls()) == 1
    assert loaded.record.rows_rejected == 3


COUNTS = st.none() | st.integers(0, 10**6)


@FEW
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {name: COUNTS for name, kind in STATED.items() if kind == "whole" and name not in ("attempt", "requests")}
            | {
                "input_convention": st.sampled_from(["gross", "fresh"]),
                "output_convention": st.sampled_from(["", "beside-reasoning"]),
            }
        ),
        min_size=1,
        max_size=40,
    )
)
def test_classes_are_disjoint_and_add_up_to_what_was_stated(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Each stated token is in one class: prompt and answer add up to the stated totals, or the row is set aside."""
    (tmp_path / "ledger.duckdb").unlink(missing_ok=True)
    loaded = load_text(table(*({"model": str(n), **row} for n, row in enumerate(rows))), tmp_path)
    kept = {int(call["model"]): call for call in loaded.calls()}
    assert set(kept) == {n for n, row in enumerate(rows) if _parts_fit(row)}
    for number, call in kept.items():
        row = {name: value or 0 for name, value in rows[number].items() if isinstance(value, int | None)}
        counts = TokenCounts(**{name: call.get(name, 0) for name in COUNTED})
        whole, answer = _totals(rows[number], row)
        if rows[number]["input"] is not None and rows[number]["cache_read"] is not None:
            assert counts.prompt_tokens == whole
        if rows[number]["output"] is not None:
            assert counts.total_tokens - counts.prompt_tokens == answer
        elif rows[number]["reasoning"]:
            assert counts.output_tokens == counts.reasoning_tokens
            assert "output-lower-bound" in call["notes"]


def _written(row: dict[str, Any]) -> int:
    lived = (row["cache_write_5m"] or 0) + (row["cache_write_1h"] or 0)
    return int(lived if row["cache_write"] is None else row["cache_write"])


def _parts_fit(row: dict[str, Any]) -> bool:
    """Whether no part is larger than its whole, by plain arithmetic over what is stated."""
    some = {name: value or 0 for name, value in row.items()}
    lived = some["cache_write_5m"] + some["cache_write_1h"]
    others = some["input_audio"] + some["input_image"] + some["input_video"]
    cached = some["cache_read"] + _written(row) if row["input_convention"] == "gross" else 0
    made = some["output_audio"] + some["output_image"] + some["output_video"]
    thought = 0 if row["output_convention"] else some["reasoning"]
    return (
        (row["cache_write"] is None or lived <= row["cache_write"])
        and (row["cache_read"] is None or some["cache_read_audio"] + some["cache_read_image"] <= row["cache_read"])
        and (row["input"] is None or cached + others <= row["input"])
        and (row["output"] is None or made + thought <= row["output"])
    )


def _totals(stated: dict[str, Any], row: dict[str, int]) -> tuple[int, int]:
    beside = row["cache_read"] + _written(stated) if stated["input_convention"] == "fresh" else 0
    thought = row["reasoning"] if stated["output_convention"] else 0
    return row["input"] + beside, row["output"] + thought + row["citation"]


def test_loading_again_and_a_second_export_count_once(tmp_path: Path) -> None:
    text = table({"id": "a", "model": "otter", "input": 1}, {"id": "b", "model": "otter", "input": 1})
    load_text(text, tmp_path)
    again: Loaded = load_text(text, tmp_path)
    assert again.record.outcome == "unchanged"
    other = load_text(text, tmp_path, name="second export")
    assert other.ask("SELECT count(*) FROM calls") == [(4,)]
    assert other.ask("SELECT call_id FROM counted_calls ORDER BY ALL") == [("a",), ("b",)]
