"""Counts of MLPerf's early stopping, as its own load generator tells them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

lg = pytest.importorskip("mlperf_loadgen")

from unitcost.economics.quality.tails import samples_needed  # noqa: E402

_QUERIES = 20


def told(folder: Path, settings: object) -> str:
    """What the load generator writes about a run of 20 queries that are answered at once."""

    def answer(samples: list) -> None:
        lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, 0, 0) for sample in samples])

    settings.mode = lg.TestMode.PerformanceOnly
    settings.min_duration_ms = 0
    settings.min_query_count = settings.max_query_count = _QUERIES
    logs, output = lg.LogSettings(), lg.LogOutputSettings()
    output.outdir, output.copy_summary_to_stdout = str(folder), False
    logs.log_output = output
    system, library = lg.ConstructSUT(answer, lambda: None), lg.ConstructQSL(64, 64, lambda _: None, lambda _: None)
    try:
        lg.StartTestWithLogSettings(system, library, settings, logs, "")
    finally:
        lg.DestroyQSL(library)
        lg.DestroySUT(system)
    return (folder / "mlperf_log_summary.txt").read_text()


@pytest.mark.parametrize("share", [0.9, 0.99, 0.999])
def test_one_miss_needs_as_many_as_a_single_stream(share: float, tmp_path: Path):
    settings = lg.TestSettings()
    settings.scenario, settings.single_stream_target_latency_percentile = lg.TestScenario.SingleStream, share
    found = re.search(r"at least (\d+) queries for early stopping", told(tmp_path, settings))
    assert found
    assert samples_needed(share, 1) == int(found[1])


@pytest.mark.parametrize("share", [0.99, 0.999])
def test_no_miss_needs_as_many_as_a_server(share: float, tmp_path: Path):
    settings = lg.TestSettings()
    settings.scenario, settings.server_target_latency_percentile = lg.TestScenario.Server, share
    settings.server_target_qps, settings.server_target_latency_ns = 10_000, 10**9
    found = re.search(r"at least (\d+) more queries", told(tmp_path, settings))
    assert found
    assert samples_needed(share, 0) == _QUERIES + int(found[1])
