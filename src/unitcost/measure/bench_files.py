"""Results of load generators: vLLM bench, GuideLLM, AIPerf and GenAI-Perf, and one JSON line per request.

Conventions. vLLM: means in ms, time per output token leaves the first out. GuideLLM: ms, its `time_per_output_token`
counts the first token, so `inter_token_latency` is read. AIPerf and GenAI-Perf: each value has its unit. Lines: seconds, or
ms in names that end in `_ms`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile
from unitcost.units import MICROSECONDS_PER_SECOND, MILLISECONDS_PER_SECOND

_PER_SECOND = {
    "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": MILLISECONDS_PER_SECOND, "us": MICROSECONDS_PER_SECOND,
    "ns": MICROSECONDS_PER_SECOND * MILLISECONDS_PER_SECOND,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRun:
    """Means of one run with a fixed number of requests in flight.

    Parameters
    ----------
    concurrency
        Requests in flight: as set, or by Little's law where only times are known.
    """

    concurrency: float
    input_tokens: float
    output_tokens: float
    ttft_s: float
    tpot_s: float


def read_runs(path: Path) -> tuple[str, list[BenchRun]]:
    """Name of the form that a file has, and its runs.

    Raises
    ------
    BadFile
        When the file has none of the known forms, or holds no finished request.
    """
    text = path.read_text(encoding="utf-8")
    try:
        plain = json.loads(text)
    except ValueError:
        plain = None
    form, runs = _lines(text, str(path)) if plain is None else _document(plain, str(path))
    if not runs:
        raise BadFile("there is no finished request in it", where=str(path), mend="give a run that answered requests")
    return form, runs


def _document(plain: Any, where: str) -> tuple[str, list[BenchRun]]:
    try:
        if isinstance(plain, Mapping) and "benchmarks" in plain:
            return "GuideLLM", [run for one in plain["benchmarks"] if (run := _guidellm(one))]
        if isinstance(plain, Mapping) and "mean_ttft_ms" in plain:
            return "vLLM bench", [_vllm(plain)] if plain.get("completed", 1) else []
        if isinstance(plain, Mapping) and "time_to_first_token" in plain:
            return "AIPerf", [_aiperf(plain)]
        if isinstance(plain, Mapping) and ("ttft_s" in plain or "ttft_ms" in plain):
            return "lines", [_mean([plain], where)]
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise BadFile(
            f"a value is missing or not a number: {error}", where=where, mend="export the run again"
        ) from error
    raise BadFile(
        "no known load generator wrote this", where=where,
        mend="give the JSON of vLLM bench (--save-result), GuideLLM, AIPerf or GenAI-Perf, or lines with ttft_s, tpot_s, tokens",
    )  # fmt: skip


def _vllm(plain: Mapping[str, Any]) -> BenchRun:
    done = float(plain["completed"])
    inputs, outputs = float(plain["total_input_tokens"]) / done, float(plain["total_output_tokens"]) / done
    ttft_s, tpot_s = (
        float(plain["mean_ttft_ms"]) / MILLISECONDS_PER_SECOND,
        float(plain["mean_tpot_ms"]) / MILLISECONDS_PER_SECOND,
    )
    life_s = ttft_s + tpot_s * max(outputs - 1, 0.0)
    held = plain.get("max_concurrency") or done * life_s / float(plain["duration"])
    return BenchRun(concurrency=float(held), input_tokens=inputs, output_tokens=outputs, ttft_s=ttft_s, tpot_s=tpot_s)


def _guidellm(plain: Mapping[str, Any]) -> BenchRun | None:
    metrics = plain["metrics"]
    if not metrics["time_to_first_token_ms"].get("successful"):
        return None

    def mean(name: str) -> float:
        return float(metrics[name]["successful"]["mean"])

    return BenchRun(
        concurrency=mean("request_concurrency"), input_tokens=mean("prompt_token_count"),
        output_tokens=mean("output_token_count"), ttft_s=mean("time_to_first_token_ms") / MILLISECONDS_PER_SECOND,
        tpot_s=mean("inter_token_latency_ms") / MILLISECONDS_PER_SECOND,
    )  # fmt: skip


def _aiperf(plain: Mapping[str, Any]) -> BenchRun:
    def seconds(name: str) -> float:
        return float(plain[name]["avg"]) / _PER_SECOND[str(plain[name].get("unit", "ms")).casefold()]

    inputs, outputs = float(plain["input_sequence_length"]["avg"]), float(plain["output_sequence_length"]["avg"])
    config = plain.get("input_config") or {}
    stimulus = (config.get("perf_analyzer") or {}).get("stimulus") or {}
    held = (config.get("loadgen") or {}).get("concurrency") or stimulus.get("concurrency")
    if not held:
        held = float(plain["request_throughput"]["avg"]) * seconds("request_latency")
    return BenchRun(
        concurrency=float(held), input_tokens=inputs, output_tokens=outputs, ttft_s=seconds("time_to_first_token"),
        tpot_s=seconds("inter_token_latency"),
    )  # fmt: skip


def _lines(text: str, where: str) -> tuple[str, list[BenchRun]]:
    requests = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            requests.append(json.loads(line))
        except ValueError as error:
            raise BadFile("this line is not JSON", where=f"{where}:{number}", mend="remove or repair it") from error
    return "lines", [_mean(requests, where)] if requests else []


def _mean(requests: list[Mapping[str, Any]], where: str) -> BenchRun:
    """Means over requests; those in flight by Little's law from `arrived_s`, or from `concurrency` where that is stated."""
    try:
        ttft = [_time(one, "ttft") for one in requests]
        tpot = [_time(one, "tpot") for one in requests]
        outputs = [float(one["output_tokens"]) for one in requests]
        inputs = sum(float(one["input_tokens"]) for one in requests) / len(requests)
        lives = [first + each * max(made - 1, 0) for first, each, made in zip(ttft, tpot, outputs, strict=True)]
        held = requests[0].get("concurrency") or _in_flight([float(one["arrived_s"]) for one in requests], lives)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        mend = "each line needs input_tokens, output_tokens, ttft_s, tpot_s, and arrived_s or concurrency"
        raise BadFile(f"a value is missing or not a number: {error}", where=where, mend=mend) from error
    count = len(requests)
    return BenchRun(
        concurrency=float(held), input_tokens=inputs, output_tokens=sum(outputs) / count, ttft_s=sum(ttft) / count,
        tpot_s=sum(tpot) / count,
    )  # fmt: skip


def _time(request: Mapping[str, Any], name: str) -> float:
    if f"{name}_s" in request:
        return float(request[f"{name}_s"])
    return float(request[f"{name}_ms"]) / MILLISECONDS_PER_SECOND


def _in_flight(arrived_s: list[float], lives_s: list[float]) -> float:
    ended_s = max(at + life for at, life in zip(arrived_s, lives_s, strict=True))
    return sum(lives_s) / (ended_s - min(arrived_s))
