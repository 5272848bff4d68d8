"""Endpoints of each kind on this machine: what is read from them, and what goes wrong with them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from unitcost.economics.quality.loads import summary
from unitcost.errors import UnitcostError, UnknownName
from unitcost.measure.load.arrivals import steady
from unitcost.measure.load.driving import open_loop
from unitcost.measure.load.kinds import Client, kserve_body, read_bodies, target

from .stub_servers import Truth, failing, hanging, kserve, openai, serving

METADATA = {"name": "m", "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}], "outputs": []}


def measured(
    handler, kind: str, *, requests: int = 10, timeout_s: float = 10.0, metadata: dict | None = None, path: str = "/v1"
):
    async def main():
        async with serving(handler, metadata=metadata) as base:
            bodies = [kserve_body(METADATA, 2)] if kind == "kserve-v2" else []
            async with Client(target(base + path, kind, bodies, model="m")) as client:
                return await open_loop(steady(100, requests / 100), client.send, timeout_s=timeout_s)

    return asyncio.run(main())


def test_a_stream_is_counted_and_agrees_with_what_the_server_did():
    truth = Truth()
    samples = measured(openai(truth, first_s=0.2, between_s=0.02, tokens=20), "openai")
    assert truth.answered == 10
    assert {sample.fate for sample in samples} == {"ok"}
    assert {sample.tokens for sample in samples} == {20}
    found = summary(samples)
    # the server cannot write earlier than it said, nor the client read earlier than it wrote
    assert dict(found.first_token)["p50"].latency_s >= 0.2
    assert dict(found.between_tokens)["p50"].latency_s == pytest.approx(sorted(truth.between_s)[5], rel=0.5)


def test_a_null_where_an_error_would_stand_is_none():
    async def handler(_: web.Request) -> web.Response:
        part = 'data: {"error": null, "choices": [{"delta": {"content": "a"}}]}\n\n'
        return web.Response(text=2 * part + "data: [DONE]\n\n", content_type="text/event-stream")

    samples = measured(handler, "openai")
    assert {(sample.fate, sample.tokens) for sample in samples} == {("ok", 2)}


def test_a_stream_that_breaks_off_keeps_what_came():
    samples = measured(openai(Truth(), first_s=0.0, between_s=0.001, tokens=5, break_after=3), "openai")
    assert {sample.fate for sample in samples} == {"cut"}
    assert all("broke off" in sample.why or "before [DONE]" in sample.why for sample in samples)


def test_kserve_is_asked_with_the_shape_of_its_metadata():
    truth = Truth()
    samples = measured(kserve(truth, service_s=0.001), "kserve-v2", path="/v2/models/m/infer")
    assert truth.answered == 10
    assert {sample.fate for sample in samples} == {"ok"}
    assert kserve_body(METADATA, 2)["inputs"][0] == {
        "name": "x",
        "shape": [2, 3],
        "datatype": "FP32",
        "data": [0.0] * 6,
    }


def test_metadata_is_read_from_the_address_without_infer():
    async def main():
        async with (
            serving(failing(), metadata=METADATA) as base,
            Client(target(base + "/v2/models/m/infer", "kserve-v2", [])) as client,
        ):
            return await client.metadata()

    assert asyncio.run(main()) == METADATA


@pytest.mark.parametrize("kind", ["http", "openai", "kserve-v2"])
def test_an_error_of_the_server_is_refused_with_its_words(kind: str):
    samples = measured(failing(), kind)
    assert {(sample.fate, sample.why) for sample in samples} == {("refused", "HTTP 500 out of memory")}
    assert summary(samples).error_share == 1.0


def answering(body: bytes, *, status: int = 200, headers: dict[str, str] | None = None):
    async def handle(request: web.Request) -> web.Response:
        return web.Response(body=body, status=status, headers=headers)

    return handle


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("openai", b'data: {"choices": \xff nonsense\n\n', "a part of the stream is not JSON"),
        ("openai", b"data: [1, 2]\n\ndata: [DONE]\n\n", "a part of the answer is not of the form of openai"),
        ("openai", b'data: {"choices": [null]}\n\ndata: [DONE]\n\n', "not of the form of openai"),
        ("openai", b'data: {"choices": [], "usage": "many"}\n\ndata: [DONE]\n\n', "not of the form of openai"),
        ("openai", b'data: {"error": "caf\xc3\xa9\\n closed"}\n\n', "café closed"),
        ("kserve-v2", b"<html>", "the answer is not JSON"),
        ("kserve-v2", b"[1]", "the answer has no outputs"),
    ],
)
def test_an_answer_of_another_form_is_refused_with_its_reason(kind: str, body: bytes, words: str):
    samples = measured(answering(body), kind, requests=2)
    assert {sample.fate for sample in samples} == {"refused"}
    assert all(words in sample.why for sample in samples)


def test_load_is_not_sent_on_to_where_a_redirect_leads():
    moved = answering(b"", status=302, headers={"location": "http://elsewhere.invalid/"})
    samples = measured(moved, "http", requests=2)
    assert {(s.fate, s.why) for s in samples} == {("refused", "HTTP 302, which leads to http://elsewhere.invalid/")}


def test_the_words_of_an_error_are_short_whatever_the_server_sends():
    samples = measured(answering(b"no " * 1_000_000, status=500), "http", requests=2)
    assert all(len(sample.why) <= 160 and sample.why.startswith("HTTP 500 no no") for sample in samples)


def test_one_part_says_nothing_of_the_time_between_tokens():
    body = b'data: {"choices": [{"delta": {"content": "a"}}], "usage": {"completion_tokens": 2}}\n\ndata: [DONE]\n\n'
    found = summary(measured(answering(body), "openai", requests=3))
    assert (found.tokens, found.between_tokens) == (6, ())
    assert found.first_token


@pytest.mark.parametrize("metadata", [{"inputs": [{"nam": "x"}]}, {"outputs": []}, [1]])
def test_metadata_without_inputs_asks_for_a_body(metadata):
    async def main():
        async with (
            serving(failing(), metadata=metadata) as base,
            Client(target(base + "/v2/models/m/infer", "kserve-v2", [])) as client,
        ):
            await client.metadata()

    with pytest.raises(UnitcostError, match="says no inputs"):
        asyncio.run(main())


def test_metadata_of_nobody_is_a_message():
    async def main():
        async with Client(target("http://127.0.0.1:9/v2/models/m/infer", "kserve-v2", [])) as client:
            await client.metadata()

    with pytest.raises(UnitcostError, match="could not be asked for"):
        asyncio.run(main())


def test_a_server_that_hangs_is_a_timeout():
    samples = measured(hanging, "http", requests=3, timeout_s=0.2)
    assert {sample.fate for sample in samples} == {"timeout"}


def test_nobody_there_is_failed():
    async def main():
        async with Client(target("http://127.0.0.1:9/", "http", [])) as client:
            return await client.send(0)

    assert asyncio.run(main()).fate == "failed"


def test_an_answer_that_is_no_stream_is_not_taken_for_one():
    assert {s.fate for s in measured(kserve_like_html, "openai")} == {"cut"}
    assert {s.why for s in measured(kserve_like_html, "kserve-v2")} == {"the answer is not JSON"}


async def kserve_like_html(request):
    from aiohttp import web

    return web.Response(text="<html>welcome</html>")


def test_bodies_and_addresses_are_looked_at(tmp_path: Path):
    body = tmp_path / "b.jsonl"
    body.write_text('{"a": 1}\n{"a": 2}\n')
    assert read_bodies(body) == [{"a": 1}, {"a": 2}]
    body.write_text("hello")
    with pytest.raises(UnitcostError, match="not JSON"):
        read_bodies(body)
    with pytest.raises(UnknownName, match="openai"):
        target("http://x", "openia", [])
    with pytest.raises(UnitcostError, match="no address"):
        target("localhost:8000", "http", [])
    with pytest.raises(UnitcostError, match="a model is needed"):
        target("http://x", "openai", [])
