"""Forms of load generators: the same run, in each of them, is the same run."""

from __future__ import annotations

import json

import pytest

from unitcost.errors import BadFile
from unitcost.measure.bench_files import BenchRun, read_runs

RUN = BenchRun(concurrency=16, input_tokens=1000, output_tokens=200, ttft_s=0.25, tpot_s=0.01)
VLLM = {
    "max_concurrency": 16, "completed": 160, "total_input_tokens": 160_000, "total_output_tokens": 32_000,
    "mean_ttft_ms": 250.0, "mean_tpot_ms": 10.0, "duration": 22.4,
}  # fmt: skip


def successful(value):
    return {"successful": {"mean": value}}


GUIDELLM = {
    "benchmarks": [
        {
            "metrics": {
                "request_concurrency": successful(16), "prompt_token_count": successful(1000),
                "output_token_count": successful(200), "time_to_first_token_ms": successful(250),
                "inter_token_latency_ms": successful(10), "time_per_output_token_ms": successful(11.2),
            }
        }
    ]
}  # fmt: skip
AIPERF = {
    "input_config": {"loadgen": {"concurrency": 16}}, "time_to_first_token": {"avg": 250, "unit": "ms"},
    "inter_token_latency": {"avg": 10, "unit": "ms"}, "input_sequence_length": {"avg": 1000},
    "output_sequence_length": {"avg": 200},
}  # fmt: skip
GENAI_PERF = AIPERF | {
    "input_config": {"perf_analyzer": {"stimulus": {"concurrency": 16}}},
    "time_to_first_token": {"avg": 250_000_000, "unit": "ns"},
}


@pytest.mark.parametrize(
    ("form", "content"), [("vLLM bench", VLLM), ("GuideLLM", GUIDELLM), ("AIPerf", AIPERF), ("AIPerf", GENAI_PERF)]
)
def test_each_form_is_known_and_read(tmp_path, form, content):
    file = tmp_path / "bench.json"
    file.write_text(json.dumps(content))
    said, runs = read_runs(file)
    assert said == form
    assert runs == [RUN]


def test_vllm_without_a_limit_has_its_concurrency_from_littles_law(tmp_path):
    file = tmp_path / "bench.json"
    file.write_text(json.dumps(VLLM | {"max_concurrency": None}))
    ((found,),) = (read_runs(file)[1],)
    assert found.concurrency == pytest.approx(160 * (0.25 + 199 * 0.01) / 22.4)


def test_lines_of_requests_give_means_and_requests_in_flight(tmp_path):
    file = tmp_path / "requests.jsonl"
    # Two requests, each 1.09 s long; the second arrives as the first ends: one is in flight at any time.
    lines = [
        {"input_tokens": 10, "output_tokens": 100, "ttft_ms": 100, "tpot_s": 0.01, "arrived_s": at} for at in (0, 1.09)
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    form, (run,) = read_runs(file)
    assert form == "lines"
    assert run.concurrency == pytest.approx(1.0)
    assert (run.ttft_s, run.tpot_s) == (pytest.approx(0.1), pytest.approx(0.01))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "no known load generator"),
        ("", "no finished request"),
        ('{"input_tokens": 1}\nnot json', r"x\.json:2"),
        (json.dumps(VLLM | {"completed": 0}), "no finished request"),
        (json.dumps({k: v for k, v in VLLM.items() if k != "mean_tpot_ms"}), "mean_tpot_ms"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, content, said):
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(BadFile, match=said):
        read_runs(file)
