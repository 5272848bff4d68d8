"""Requests from logs of calls, traces of several files, and the ledger."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from unitcost.cli import cli
from unitcost.errors import BadFile, UnknownName
from unitcost.jobs.ingest import load
from unitcost.jobs.serve_requests import requests_of_files, requests_of_ledger
from unitcost.jobs.workspace import open_workspace
from unitcost.serving.traces import Trace

START_NS = 1_935_655_200_000_000_000  # 2031-05-04T10:00:00Z
CALLS = (
    "called_at,ended_at,model,input_tokens,cache_read_tokens,output_tokens,status\n"
    "2031-05-04T10:00:00Z,2031-05-04T10:00:09Z,otter,40,60,10,ok\n"
    "2031-05-04T10:00:02Z,2031-05-04T10:00:03Z,otter,70,0,20,failed\n"
    "2031-05-04T10:00:01Z,2031-05-04T10:00:05Z,heron,500,0,30,ok\n"
    ",,otter,5,0,5,ok\n"
    "2031-05-04T10:00:04Z,,otter,7,0,,ok\n"
    "2031-05-04T10:00:05Z,,otter,seven,0,1,ok\n"
)


def written(folder: Path, text: str, name: str = "log") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def columns(trace: Trace) -> list[tuple[float, int, int]]:
    return list(zip(trace.arrival_s.tolist(), trace.input_tokens.tolist(), trace.output_tokens.tolist(), strict=True))


def span(number: int, start_s: int, usage: dict[str, int], code: int = 1) -> dict[str, Any]:
    said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "otter"}
    listed = [{"key": k, "value": {"stringValue": v}} for k, v in said.items()]
    listed += [{"key": f"gen_ai.usage.{k}", "value": {"intValue": str(v)}} for k, v in usage.items()]
    start = START_NS + start_s * 10**9
    return {
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": f"s{number}", "name": "chat", "attributes": listed,
        "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 9 * 10**9), "status": {"code": code},
    }  # fmt: skip


def test_spans_play_from_their_start_with_all_of_the_prompt(tmp_path: Path) -> None:
    spans = [
        span(1, 5, {"input_tokens": 100, "cache_read.input_tokens": 60, "output_tokens": 10}),
        span(2, 0, {"input_tokens": 30, "output_tokens": 4}),
        span(3, 7, {"input_tokens": 30, "output_tokens": 0}, code=2),
    ]
    text = json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]})
    trace, said = requests_of_files([written(tmp_path, text)])
    assert columns(trace) == [(0.0, 30, 4), (5.0, 100, 10)]
    assert said == ["left out: 1 rows (3): the call failed", "sorted: 1 rows (2): earlier than the row before"]


def test_a_spend_log_of_a_gateway(tmp_path: Path) -> None:
    row = {
        "request_id": "r1", "call_type": "acompletion", "api_key": "k", "spend": "0.01", "total_tokens": "110",
        "prompt_tokens": "100", "completion_tokens": "10", "startTime": "2031-05-01 10:00:00.5", "model": "otter",
        "endTime": "2031-05-01 10:00:02", "cache_hit": "False", "user": "ada", "status": "success",
        "metadata": json.dumps({"usage_object": {"prompt_tokens_details": {"cached_tokens": 64}}}),
    }  # fmt: skip
    rows = [
        row,
        {**row, "request_id": "r2", "startTime": "2031-05-01 10:00:03", "cache_hit": "True"},
        {**row, "request_id": "r3", "startTime": "2031-05-01 10:00:04", "prompt_tokens": "700"},
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row))
    writer.writeheader()
    writer.writerows(rows)
    trace, said = requests_of_files([written(tmp_path, text.getvalue())])
    assert columns(trace) == [(0.0, 100, 10), (3.5, 700, 10)]
    assert said == ["left out: 1 rows (2): the gateway answered from its own cache"]
    assert columns(requests_of_files([written(tmp_path, json.dumps(rows), "log.json")])[0]) == columns(trace)


def test_observations_of_a_tracer(tmp_path: Path) -> None:
    base = {
        "id": "o1", "traceId": "t", "type": "GENERATION", "startTime": "2031-05-01T10:00:00.000Z", "model": "otter",
        "endTime": "2031-05-01T10:00:03.000Z", "level": "DEFAULT", "metadata": {},
        "usageDetails": {"input": 40, "cache_read_input_tokens": 80, "output": 9}, "costDetails": {},
    }  # fmt: skip
    later = {**base, "id": "o2", "startTime": "2031-05-01T10:00:01.500Z"}
    trace, _ = requests_of_files([written(tmp_path, json.dumps([base, later]))])
    assert columns(trace) == [(0.0, 120, 9), (1.5, 120, 9)]


def test_what_a_table_of_calls_cannot_play_is_said_by_row(tmp_path: Path) -> None:
    trace, said = requests_of_files([written(tmp_path, CALLS)])
    assert columns(trace) == [(0.0, 100, 10), (1.0, 500, 30)]
    text = "\n".join(said)
    assert "left out: 1 rows (2): the call failed" in text
    assert "refused: 1 rows (4): it is not told when the call came" in text
    assert "refused: 1 rows (5): its output tokens are not known" in text
    assert "refused: 1 rows (6): input_tokens is 'seven'" in text
    assert "2 models (heron, otter)" in text


def test_the_calls_of_the_ledger_by_model(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path)
    load(workspace, [str(written(tmp_path, CALLS, "calls.csv"))])
    assert columns(requests_of_ledger(workspace, "all")[0]) == [(0.0, 100, 10), (1.0, 500, 30)]
    one, said = requests_of_ledger(workspace, "OTT*")
    assert columns(one) == [(0.0, 100, 10)]
    assert not any("models" in line for line in said)
    with pytest.raises(UnknownName, match="otter"):
        requests_of_ledger(workspace, "oter")


def test_several_files_of_one_time_are_one_trace(tmp_path: Path) -> None:
    header = "timestamp,input_tokens,output_tokens\n"
    first = written(tmp_path, header + "2031-05-04T10:00:00Z,10,1\n2031-05-04T10:00:08Z,-1,1\n", "a.csv")
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress((header + "2031-05-04T10:00:03Z,20,2\n").encode("utf-8-sig")))
    trace, said = requests_of_files([first, packed])
    assert columns(trace) == [(0.0, 10, 1), (3.0, 20, 2)]
    assert said == ["a.csv: refused: 1 rows (3): a negative number of tokens"]
    with pytest.raises(BadFile, match="same moment"):
        requests_of_files([first, written(tmp_path, header + "3,10,1\n", "c.csv")])


def test_measured_requests_of_vllm(shared_traces: Path) -> None:
    trace, said = requests_of_files([shared_traces / "vllm_measured/RTXPRO6000_Llama-3.1-8B__requests.jsonl"])
    assert said == []
    assert len(trace) == 300
    assert columns(trace)[0] == (0.0, 2358, 531)
    assert trace.arrival_s[1] == pytest.approx(0.28506, abs=1e-4)


def test_a_log_of_vllm(tmp_path: Path) -> None:
    def asked(at: str, name: str, ids: list[int] | None) -> str:
        return (
            f"INFO 05-04 {at} [logger.py:43] Received request {name}: prompt: 'a: b', params: SamplingParams(n=1, "
            f"stop_token_ids=[], max_tokens=512), prompt_token_ids: {ids}, prompt_embeds shape: None, lora_request: None.\n"
        )

    def answered(name: str, ids: list[int]) -> str:
        return (
            f"INFO 05-04 10:00:09 [logger.py:80] Generated response {name} (streaming complete): output: 'c', "
            f"output_token_ids: {ids}, finish_reason: stop\n"
        )

    shared = list(range(16))
    text = "".join([
        "INFO 05-04 09:59:58 [api_server.py:1] Started server process\n",
        asked("10:00:00", "cmpl-a-0", [*shared, 1]), asked("10:00:02", "chatcmpl-b", [*shared, 2, 3]),
        answered("cmpl-a", [7, 8, 9]), answered("chatcmpl-b", [7]), asked("10:00:03", "chatcmpl-c", [1]),
        asked("10:00:04", "chatcmpl-d", None),
    ])  # fmt: skip
    trace, said = requests_of_files([written(tmp_path, text)])
    assert columns(trace) == [(0.0, 17, 3), (2.0, 18, 1)]
    assert trace.hash_tokens == 16
    assert trace.hashes[0] == trace.hashes[2] != trace.hashes[1] != trace.hashes[3]
    assert said == [
        "refused: 1 rows (6): its answer's token ids are not in the log: start vLLM with --enable-log-outputs",
        "refused: 1 rows (7): its prompt's token ids are not in the log",
    ]


def test_a_log_of_a_newer_vllm_tells_ids_on_lines_of_their_own(tmp_path: Path) -> None:
    text = (
        "(APIServer pid=1) DEBUG 05-04 10:00:00 [logger.py:45] Request chatcmpl-a details: prompt: 'x', "
        "prompt_token_ids: [5, 6, 7], prompt_embeds shape: None.\n"
        "(APIServer pid=1) INFO 05-04 10:00:00 [logger.py:57] Received request chatcmpl-a: params: SamplingParams(n=1), "
        "lora_request: None.\n"
        "(APIServer pid=1) DEBUG 05-04 10:00:02 [logger.py:80] Generated response chatcmpl-a (streaming complete) details: "
        "output_token_ids: [8, 9]\n"
        "(APIServer pid=1) INFO 05-04 10:00:02 [logger.py:90] Generated response chatcmpl-a (streaming complete): output: 'y', "
        "finish_reason: stop\n"
    )
    trace, said = requests_of_files([written(tmp_path, text)])
    assert columns(trace) == [(0.0, 3, 2)]
    assert said == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a,b\n1,2\n", "neither a trace nor a log of calls"),
        ("BilledCost,EffectiveCost,BillingCurrency\n1,1,USD\n", "neither a trace|has no calls"),
        ("{\n", "neither a trace nor a log of calls"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(BadFile, match=what):
        requests_of_files([written(tmp_path, text)])


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    written(tmp_path, CALLS, "calls.csv")
    found = CliRunner().invoke(cli, ["plan", "serve", "--model", "llama-3.1-8b", "--trace", str(tmp_path / "call.csv")])
    assert found.exit_code == 2
    assert "did you mean calls.csv" in found.stderr
