"""Text scrapes: what the client library writes is read back, and a scrape needs a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_open_metrics
from tests.metrics import START_S, Desk

from unitcost.errors import NeedsAnswer
from unitcost.readers.work.prometheus_text import _sample, labels_of, seconds

SAMPLES = (
    "SELECT metric, coalesce(labels, map()), epoch(sampled_at)::BIGINT, value FROM series "
    "JOIN samples USING (load_id, series_key) ORDER BY ALL"
)
SCRAPED = "# scraped_at 2031-09-01T00:00:00Z\n"


def registry() -> CollectorRegistry:
    """What a vLLM server would expose."""
    made = CollectorRegistry()
    tokens = Counter("vllm:generation_tokens", "Number of generation tokens processed.", ["model_name"], registry=made)
    tokens.labels('a "quoted" \\ name').inc(1_234_567)
    Gauge("vllm:num_requests_running", "Requests.", registry=made).set(3)
    latency = Histogram("vllm:e2e_request_latency_seconds", "Latency.", buckets=(1.0, 5.0), registry=made)
    latency.observe(0.5)
    latency.observe(9.0)
    hits = Counter(
        "vllm:gpu_prefix_cache_hits", "Prefix cache hits, in terms of number of cached blocks.", registry=made
    )
    hits.inc(8)
    return made


@pytest.mark.parametrize("write", [generate_latest, generate_open_metrics])
def test_what_the_client_library_writes_is_read(write, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take_text(SCRAPED + write(registry()).decode())
    assert (record.reader, record.dialect, record.rows_rejected) == ("prometheus", "text scrape", 0)
    assert desk.rows(SAMPLES) == [
        ("generation_tokens", {"model_name": 'a "quoted" \\ name'}, START_S, 1_234_567.0),
        ("prefix_cache_hits", {}, START_S, 8.0),
        ("request_latency_bucket", {"le": "+Inf"}, START_S, 2.0),
        ("request_latency_bucket", {"le": "1.0"}, START_S, 1.0),
        ("request_latency_bucket", {"le": "5.0"}, START_S, 1.0),
        ("request_latency_count", {}, START_S, 2.0),
        ("request_latency_sum", {}, START_S, 9.5),
        ("requests_running", {}, START_S, 3.0),
    ]
    assert desk.rows("SELECT unit FROM series WHERE metric = 'prefix_cache_hits'") == [("blocks",)]


NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(lambda name: not name.startswith("__"))
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels=st.dictionaries(NAMES, VALUES, max_size=4), value=st.floats(allow_nan=False))
def test_any_labels_come_back(labels: dict[str, str], value: float) -> None:
    made = CollectorRegistry()
    gauge = Gauge("m", "x", list(labels), registry=made)
    (gauge.labels(**labels) if labels else gauge).set(value)
    lines = [line for line in generate_latest(made).decode().split("\n") if line and not line.startswith("#")]
    found = _sample(lines[0], 1.0)
    assert found.labels == {"__name__": "m", **labels}  # type: ignore[union-attr]
    assert float(found.points[0][1]) == value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "labels", "point"),
    [
        ("m 3 1945987200123", {"__name__": "m"}, ["1945987200.123", "3"]),
        ("m 3 1945987200.5", {"__name__": "m"}, ["1945987200.5", "3"]),
        ("m{} NaN 1945987200", {"__name__": "m"}, ["1945987200", "NaN"]),
        ('m{a="b",} +Inf 1945987200', {"__name__": "m", "a": "b"}, ["1945987200", "+Inf"]),
        ('m_bucket{le="1"} 4 1945987200 # {trace_id="x y"} 0.67 1945987199.1', {"__name__": "m_bucket", "le": "1"},
         ["1945987200", "4"]),
        ('m{a="x # {y}"} 4 1945987200', {"__name__": "m", "a": "x # {y}"}, ["1945987200", "4"]),
        ('{"my.metric",a="b"} 1 1945987200', {"__name__": "my.metric", "a": "b"}, ["1945987200", "1"]),
        ('{__name__="m",a="b"} 1 1945987200', {"__name__": "m", "a": "b"}, ["1945987200", "1"]),
    ],
)  # fmt: skip
def test_a_line_is_taken_apart(line: str, labels: dict[str, str], point: list[str]) -> None:
    found = _sample(line, None)
    assert found.labels == labels  # type: ignore[union-attr]
    assert found.points == [point]  # type: ignore[union-attr]


def test_an_exemplar_is_no_time(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    name = "vllm:e2e_request_latency_seconds_bucket"
    desk.take_text(SCRAPED + f'{name}{{le="1"}} 4 # {{trace_id="x"}} 0.67 1845987200\n')
    assert desk.rows(SAMPLES) == [("request_latency_bucket", {"le": "1"}, START_S, 4.0)]


def test_scrapes_one_after_the_other_are_one_series(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    parts = [
        f'# scraped_at {moment}\n# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{{a="b"}} {n}\n'
        for moment, n in (("2031-09-01T02:00:00+02:00", 5), ("2031-09-01T00:01:00Z", 9), (f"{START_S + 120}", 4))
    ]
    assert desk.take_text("".join(parts)).rows_read == 3
    with desk.ledger() as ledger:
        [row] = ledger.increments()
    assert (row.quantity, row.restarts, row.series_count) == (8, 1, 1)


def test_a_scrape_without_a_time_asks(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    text = "# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total 5\n"
    path = tmp_path / "x.prom"
    path.write_text(text)
    [(_, error)] = desk.load(path).failures
    assert isinstance(error, NeedsAnswer)
    assert "# scraped_at" in error.mend
    desk.take_text(text, name="x.prom", period="2031-09")
    assert desk.rows(SAMPLES) == [("generation_tokens", {}, START_S, 5.0)]


def test_a_scrape_of_nothing_that_is_read_needs_no_time(tmp_path: Path) -> None:
    record = Desk(tmp_path).take_text("# TYPE go_goroutines gauge\ngo_goroutines 5\n")
    assert record.flags == ("Series of metrics that are not read: 1. They were passed over: go_goroutines.",)


@pytest.mark.parametrize("moment", ["yesterday", "2031-09-01T00:00:00", "2031-13-01T00:00:00Z"])
def test_a_wrong_time_of_a_scrape_is_set_aside(moment: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take_text(f"# scraped_at {moment}\n# TYPE go_goroutines gauge\ngo_goroutines 5\n")
    [(_, _, _, reason)] = desk.rejects()
    assert moment in reason


def test_bad_lines_are_set_aside_and_the_others_load(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    bad = [
        'vllm:num_requests_running{a="b" 1', "vllm:num_requests_running{a=b} 1", "vllm:num_requests_running",
        "vllm:num_requests_running x", "vllm:num_requests_running 1 2 3", 'vllm:num_requests_running{a="b\\"} 1',
        "vllm:num_requests_running 1 99999999999999", "vllm:num_requests_running 1 1.5e300", "vllm:prompt_tokens_total -4",
    ]  # fmt: skip
    text = (
        SCRAPED + "# TYPE x gauge\n" + "\n".join([*bad, "vllm:num_requests_running 7", "vllm:num_requests_waiting 8"])
    )
    record = desk.take_text(text)
    assert (record.rows_read, record.rows_rejected) == (len(bad) + 2, len(bad))
    assert [row[3] for row in desk.rows(SAMPLES)] == [7.0, 8.0]
    with desk.ledger() as ledger:
        raw = [reject.raw for _, reject in ledger.rejects()]
    lines = [text for text in raw if not text.startswith("{")]
    assert set(lines) <= set(bad)
    assert "vllm:num_requests_running{a=b} 1" in lines


def test_a_scrape_is_not_a_table(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.take_text('vllm:num_requests_running{model_name="a,b;c"} 1 1945987200\n').reader == "prometheus"


def test_times_keep_each_digit() -> None:
    assert seconds("1945987200123") == "1945987200.123"
    assert seconds("1945987200.123456") == "1945987200.123456"
    with pytest.raises(ValueError, match="no time"):
        seconds("1.9e12")


def test_labels_that_cannot_be_read() -> None:
    assert labels_of('a="b" c="d"', "m") is None
    assert labels_of("a", "m") is None
    assert labels_of('a="b" , c="d", ', "m") == {"__name__": "m", "a": "b", "c": "d"}
