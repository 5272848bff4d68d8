"""Spans of generative AI: old and new names, one convention, parents that repeat their children."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.readers.calls.call_files import Loaded, load_text

START_NS = 1_935_655_200_000_000_000  # 2031-05-04T10:00:00Z
USAGE = "gen_ai.usage."


def span(name: str, parent: str = "", *, status: Any = None, **attributes: Any) -> dict[str, Any]:
    """A span; an underscore pair in the name of an attribute stands for a point."""
    listed = [
        {"key": key.replace("__", "."), "value": {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v}}
        for key, v in attributes.items()
    ]
    return {
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": name, "parentSpanId": parent, "name": name,
        "startTimeUnixNano": str(START_NS), "endTimeUnixNano": str(START_NS + 2_000_000_000), "attributes": listed,
        **({"status": status} if status is not None else {}),
    }  # fmt: skip


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "chat-api"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}]}


def chat(
    name: str, parent: str = "", *, status: Any = None, tokens: tuple[int, int] | None = (100, 10), **more: Any
) -> dict[str, Any]:
    stated = {} if tokens is None else {f"{USAGE}input_tokens": tokens[0], f"{USAGE}output_tokens": tokens[1]}
    return span(name, parent, status=status, **{"gen_ai.operation.name": "chat", **stated, **more})


def counted(loaded: Loaded) -> list[str]:
    return [tags["span_id"] for (tags,) in loaded.ask("SELECT tags FROM counted_calls ORDER BY row_number")]


def test_new_names(tmp_path: Path) -> None:
    found = chat(
        "s1", tokens=(82_040, 300),
        **{"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "heron", "gen_ai.response.model": "heron-2031",
           f"{USAGE}cache_read.input_tokens": 80_000, f"{USAGE}cache_creation.input_tokens": 2_000,
           f"{USAGE}reasoning.output_tokens": 100, "gen_ai.response.id": "msg_1", "gen_ai.agent.name": "planner"},
    )  # fmt: skip
    (call,) = load_text(otlp(found), tmp_path).calls()
    assert (call.pop("called_at").isoformat(), call.pop("ended_at").isoformat()) == (
        "2031-05-04T10:00:00",
        "2031-05-04T10:00:02",
    )
    assert call == {
        "call_id": "msg_1", "requests": 1, "provider": "anthropic", "model": "heron-2031", "variant": "", "status": "ok",
        "input_tokens": 40, "cache_read_tokens": 80_000, "cache_write_tokens": 2_000, "output_tokens": 300,
        "reasoning_tokens": 100, "input_convention": "gross", "output_convention": "includes-reasoning",
        "notes": "cache-lifetime-unknown",
        "tags": {"service": "chat-api", "agent": "planner", "operation": "chat", "span_id": "s1"},
    }  # fmt: skip


def test_old_names_say_the_same(tmp_path: Path) -> None:
    old = span("s1", **{f"{USAGE}prompt_tokens": 100, f"{USAGE}completion_tokens": 10, "gen_ai.system": "openai",
                        "gen_ai.request.model": "otter"})  # fmt: skip
    inference = span("s2", **{"llm.token_count.prompt": 100, "llm.token_count.completion": 10, "llm.provider": "openai",
                              "llm.model_name": "otter"})  # fmt: skip
    new = chat("s3", **{"gen_ai.provider.name": "openai", "gen_ai.request.model": "otter"})
    found = load_text(otlp(old, inference, new), tmp_path).calls(
        "provider", "model", "input_tokens", "output_tokens", "cache_read_tokens"
    )
    assert found == [{"provider": "openai", "model": "otter", "input_tokens": 100, "output_tokens": 10}] * 3


def test_lines_and_a_list_are_read_as_one_document(tmp_path: Path) -> None:
    documents = [otlp(chat("s1")), otlp(chat("s2"))]
    forms = {"lines": "\n".join(map(json.dumps, documents)), "list": json.dumps(documents)}
    for name, text in forms.items():
        (tmp_path / name).mkdir()
        assert counted(load_text(text, tmp_path / name)) == ["s1", "s2"]


def test_failed_and_aborted_calls(tmp_path: Path) -> None:
    spans = [
        chat("s1", status={"code": 2}, tokens=None),
        chat("s2", status={"code": "STATUS_CODE_ERROR", "message": "client disconnected"}),
        chat("s3", **{"error.type": "timeout"}),
        chat("s4", status={"code": 1}),
    ]
    found = load_text(otlp(*spans), tmp_path).calls("status", "notes", "output_tokens")
    assert found == [
        {"status": "failed"},
        {"status": "aborted", "notes": "output-lower-bound", "output_tokens": 10},
        {"status": "failed", "output_tokens": 10},
        {"status": "ok", "output_tokens": 10},
    ]


def test_parents_that_repeat_their_children_count_once(tmp_path: Path) -> None:
    spans = [
        span("agent", **{"gen_ai.operation.name": "invoke_agent", f"{USAGE}input_tokens": 200, f"{USAGE}output_tokens": 19}),
        span("tools", "agent", **{"gen_ai.operation.name": "execute_tool"}),
        chat("wrapper", "tools"), chat("inner", "wrapper"),
        chat("other", "agent"),
        chat("judge", tokens=(70, 7)), chat("nested", "judge", tokens=(5, 1)),
    ]  # fmt: skip
    loaded = load_text(otlp(*spans), tmp_path)
    assert counted(loaded) == ["inner", "other", "judge", "nested"]
    assert loaded.ask("SELECT count(*) FROM calls") == [(6,)]
    assert loaded.record.flags == (
        "Spans that call no model are left out: 1.",
        "Spans that repeat what those below them state do not count: 2.",
    )


def test_a_lone_parent_counts_and_circles_do_no_harm(tmp_path: Path) -> None:
    lone = span("agent", "gone", **{"gen_ai.operation.name": "invoke_agent", f"{USAGE}input_tokens": 5})
    loaded = load_text(otlp(lone, chat("a", "b"), chat("b", "a"), chat("c", "c")), tmp_path)
    assert counted(loaded) == ["agent", "a", "b", "c"]


def test_a_call_in_the_log_of_a_gateway_too_counts_once(tmp_path: Path) -> None:
    load_text(otlp(chat("s1", **{"gen_ai.response.id": "chatcmpl-1"})), tmp_path, name="spans")
    log = {
        "request_id": "chatcmpl-1", "spend": 0.5, "prompt_tokens": 100, "completion_tokens": 10, "startTime": "2031-05-04T10:00:00Z",
        "model": "otter", "metadata": {"usage_object": {"prompt_tokens_details": {"cached_tokens": 60}}},
    }  # fmt: skip
    loaded = load_text([log], tmp_path, name="log")
    assert loaded.calls("call_id", "cache_read_tokens", table="counted_calls") == [
        {"call_id": "chatcmpl-1", "cache_read_tokens": 60}
    ]


def test_a_fresh_input_under_the_convention_is_refused(tmp_path: Path) -> None:
    loaded = load_text(otlp(chat("s1", tokens=(40, 300), **{f"{USAGE}cache_read_input_tokens": 80_000})), tmp_path)
    assert loaded.rejects[0][:2] == (1, "input")
    assert loaded.record.rows_accepted == 0


def test_what_is_no_span_is_set_aside(tmp_path: Path) -> None:
    document = otlp(chat("s1"), chat("s2", tokens=(-3, 1)))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"] += [7, None]
    document["resourceSpans"] += ["x", {"scopeSpans": [{}]}]
    text = json.dumps(document) + "\n" + json.dumps({"resourceSpans": 3}) + '\n{"resourceSpans": [{"sco'
    loaded = load_text(text, tmp_path)
    assert counted(loaded) == ["s1"]
    assert len(loaded.rejects) == 7
    assert loaded.record.rows_read == 8


def test_a_total_shows_that_the_cache_stands_beside_the_input(tmp_path: Path) -> None:
    cache = {f"{USAGE}cache_read_input_tokens": 60}
    spans = [chat("s1", **cache, **{f"{USAGE}total_tokens": total}) for total in (110, 170, 171)]
    found = load_text(otlp(*spans), tmp_path).calls("input_convention", "input_tokens", "cache_read_tokens")
    assert found == [
        {"input_convention": "gross", "input_tokens": 40, "cache_read_tokens": 60},
        {"input_convention": "fresh", "input_tokens": 100, "cache_read_tokens": 60},
        {"input_convention": "gross", "input_tokens": 40, "cache_read_tokens": 60},
    ]
