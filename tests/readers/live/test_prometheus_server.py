"""A Prometheus that answers now: a real one on loopback, and stand-ins that go wrong."""

from __future__ import annotations

import gzip
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from tests.metrics import START_S, Desk, answer, at, series

from unitcost.cli import cli
from unitcost.errors import BadFile, NeedsAnswer
from unitcost.jobs.ingest import LoadOutcome, load
from unitcost.readers.live import Window, asking, window_of
from unitcost.readers.live import prometheus as live
from unitcost.units import SECONDS_PER_HOUR

WINDOW = Window(start=at(0), end=at(SECONDS_PER_HOUR), step_s=60)
TOKENS = "vllm:generation_tokens_total"


@pytest.fixture(autouse=True)
def _quick_and_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_PAUSE_S", 0.0)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv(asking.TOKEN_VARIABLE, raising=False)


# --- stand-ins ----------------------------------------------------------------------------------------------------------

Reply = tuple[int, bytes, dict[str, str]]


class StandIn:
    """A server on loopback that answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], str]] = []
        self.reply: Callable[[str, dict[str, str]], Reply] = self.usual
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                stand_in.asked.append((parts.path, query, self.headers.get("Authorization", "")))
                code, body, headers = stand_in.reply(parts.path, query)
                self.send_response(code)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def usual(self, path: str, query: dict[str, str]) -> Reply:
        """What a Prometheus with one counter answers."""
        if path.endswith("/label/__name__/values"):
            return ok({"status": "success", "data": [TOKENS, "up", "go_goroutines"]})
        assert path.endswith("/query_range")
        first, last = (datetime.fromisoformat(query[key]).timestamp() for key in ("start", "end"))
        points = [(t - START_S, t - START_S) for t in range(int(first), int(last) + 1, int(query["step"]))]
        return ok(answer(series(query["query"], points, pod="a")))


def ok(document: object) -> Reply:
    return 200, json.dumps(document, separators=(",", ":")).encode(), {}


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.close()


def lines(path: Path) -> list[Any]:
    with gzip.open(path, "rt") as stream:
        return [json.loads(line) for line in stream]


def test_a_window_is_asked_for_in_pieces_that_a_server_answers(stand_in: StandIn, tmp_path: Path) -> None:
    target = tmp_path / "x"
    live.fetch(stand_in.url + "/prom/", Window(start=at(0), end=at(25_000), step_s=1), target)
    asked = [query for path, query, _ in stand_in.asked if path == "/prom/api/v1/query_range"]
    assert [query["query"] for query in asked] == [TOKENS] * 3
    found = lines(target)
    times = [time for document in found[1::2] for time, _ in document["data"]["result"][0]["values"]]
    # A counter is sampled at both ends; no moment is asked for twice.
    assert times == list(range(START_S, START_S + 25_001))
    assert max(len(document["data"]["result"][0]["values"]) for document in found[1::2]) <= 11_000
    assert found[0]["unitcost_asked"]["step_s"] == 1


def test_a_state_is_not_sampled_at_the_end(stand_in: StandIn, tmp_path: Path) -> None:
    usual = stand_in.reply
    stand_in.reply = lambda path, query: (
        ok({"status": "success", "data": ["DCGM_FI_DEV_GPU_UTIL"]}) if path.endswith("values") else usual(path, query)
    )
    live.fetch(stand_in.url, WINDOW, tmp_path / "x")
    [(last, _)] = lines(tmp_path / "x")[1]["data"]["result"][0]["values"][-1:]
    assert last == START_S + SECONDS_PER_HOUR - 60


def asked_once(stand_in: StandIn, tmp_path: Path) -> LoadOutcome:
    return load(Desk(tmp_path).workspace, [f"prometheus+{stand_in.url}"], window=WINDOW)


def test_answers_are_loaded_and_asking_again_adds_nothing(stand_in: StandIn, tmp_path: Path) -> None:
    assert asked_once(stand_in, tmp_path).records[0].outcome == "loaded"
    assert asked_once(stand_in, tmp_path).records[0].outcome == "unchanged"
    with Desk(tmp_path).ledger() as ledger:
        assert [row.quantity for row in ledger.increments(at(0), at(SECONDS_PER_HOUR))] == [SECONDS_PER_HOUR]


def test_the_help_text_of_a_prefix_cache_is_asked_for(stand_in: StandIn, tmp_path: Path) -> None:
    usual, name = stand_in.reply, "vllm:gpu_prefix_cache_hits_total"
    helps = {"status": "success", "data": {name: [{"type": "counter", "help": "Hits in blocks.", "unit": ""}]}}
    stand_in.reply = lambda path, query: (
        ok({"status": "success", "data": [name]})
        if path.endswith("values")
        else ok(helps)
        if path.endswith("metadata")
        else usual(path, query)
    )
    asked_once(stand_in, tmp_path)
    assert Desk(tmp_path).rows("SELECT unit FROM series") == [("blocks",)]


def test_of_pods_only_what_counts_is_asked_for(stand_in: StandIn, tmp_path: Path) -> None:
    names = ["kube_pod_status_phase", "kube_pod_container_resource_requests"]
    usual = stand_in.reply
    stand_in.reply = lambda path, query: (
        ok({"status": "success", "data": names}) if path.endswith("values") else usual(path, query)
    )
    live.fetch(stand_in.url, WINDOW, tmp_path / "x")
    queries = [query["query"] for path, query, _ in stand_in.asked if path.endswith("query_range")]
    assert "kube_pod_status_phase == 1" in queries
    assert any(query.startswith("kube_pod_container_resource_requests{resource=~") for query in queries)


def test_a_login_goes_to_the_server_and_nowhere_else(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = stand_in.url.replace("http://", "http://reader:hu%40sh@")
    outcome = load(Desk(tmp_path).workspace, [f"prometheus+{url}"], window=WINDOW)
    assert {login for *_, login in stand_in.asked} == {"Basic cmVhZGVyOmh1QHNo"}
    assert "hu@sh" not in str(outcome)
    assert "hu%40sh" not in str(outcome)
    text = gzip.decompress(next((tmp_path / ".unitcost/fetched").iterdir()).read_bytes()).decode()
    assert "reader" not in text
    stand_in.asked.clear()
    monkeypatch.setenv(asking.TOKEN_VARIABLE, "token")
    live.fetch(stand_in.url, WINDOW, tmp_path / "x")
    assert {login for *_, login in stand_in.asked} == {"Bearer token"}


def test_what_passes_is_asked_again(stand_in: StandIn, tmp_path: Path) -> None:
    usual, failures = stand_in.reply, [503, 429]
    stand_in.reply = lambda path, query: (failures.pop(), b"busy", {}) if failures else usual(path, query)
    live.fetch(stand_in.url, WINDOW, tmp_path / "x")
    assert len(stand_in.asked) == 4


def test_an_answer_that_ends_early_is_asked_for_again(stand_in: StandIn, tmp_path: Path) -> None:
    usual, short = stand_in.reply, [True]

    def reply(path: str, query: dict[str, str]) -> Reply:
        code, body, headers = usual(path, query)
        if path.endswith("query_range") and short:
            short.pop()
            return code, body[: len(body) // 2], {"Content-Length": str(len(body)), "Connection": "close"}
        return code, body, headers

    stand_in.reply = reply
    live.fetch(stand_in.url, WINDOW, tmp_path / "x")
    assert len(lines(tmp_path / "x")[1]["data"]["result"][0]["values"]) == 61


def test_too_much_at_once_is_asked_for_in_halves(stand_in: StandIn, tmp_path: Path) -> None:
    usual = stand_in.reply

    def reply(path: str, query: dict[str, str]) -> Reply:
        if path.endswith("query_range"):
            first, last = (datetime.fromisoformat(query[key]) for key in ("start", "end"))
            if last - first > timedelta(seconds=900):
                error = "query processing would load too many samples into memory in query execution"
                return 422, json.dumps({"status": "error", "errorType": "execution", "error": error}).encode(), {}
        return usual(path, query)

    stand_in.reply = reply
    live.fetch(stand_in.url, Window(start=at(0), end=at(3_600), step_s=5), tmp_path / "x")
    found = [document for document in lines(tmp_path / "x") if "data" in document]
    times = [time for document in found for time, _ in document["data"]["result"][0]["values"]]
    assert times == list(range(START_S, START_S + 3_601, 5))


@pytest.mark.parametrize(
    ("reply", "what", "mend"),
    [
        ((200, b"<html>log in</html>", {}), "not as Prometheus does", "check the address"),
        ((200, b'{"status":"success","data":5}', {}), "not that of Prometheus", "check the address"),
        ((200, b'{"status":"success","data":["up"]}', {}), "none of the metrics", "check the window"),
        ((302, b"", {"Location": "http://me:hush@elsewhere.example/"}), "elsewhere.example", "the address that answers"),
        ((401, b"", {}), "who asks", "UNITCOST_PROMETHEUS_TOKEN"),
        ((404, b"404 page not found", {}), "404 page not found", "check the address"),
        ((400, b'{"status":"error","error":"bad start"}', {}), "bad start", "address"),
        ((503, b"", {}), "503", "shorter window"),
    ],
)  # fmt: skip
def test_a_server_that_is_none_is_told(reply: Reply, what: str, mend: str, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.reply = lambda path, query: reply
    outcome = asked_once(stand_in, tmp_path)
    [(name, error)] = outcome.failures
    assert isinstance(error, BadFile)
    assert name == f"prometheus+{stand_in.url}"
    assert error.where == stand_in.url
    assert what in error.what
    assert mend in error.mend
    assert "hush" not in str(error)
    assert len(stand_in.asked) == (4 if reply[0] == 503 else 1)
    assert not list((tmp_path / ".unitcost/fetched").iterdir())


def test_nobody_at_the_address(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BadFile, match="cannot be reached"):
        live.fetch(f"http://127.0.0.1:{port}", WINDOW, tmp_path / "x")


def test_a_server_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_TIMEOUT_S", 0.05)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(BadFile, match="did not answer in time"):
            live.fetch(f"http://127.0.0.1:{silent.getsockname()[1]}", WINDOW, tmp_path / "x")


def test_a_window_needs_both_ends(tmp_path: Path) -> None:
    for window in (Window(), Window(start=at(0)), Window(end=at(0))):
        with pytest.raises(NeedsAnswer, match="which time"):
            live.fetch("http://127.0.0.1:1", window, tmp_path / "x")


# --- a real one ---------------------------------------------------------------------------------------------------------

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="needs the programs prometheus and promtool (Debian: apt-get install prometheus)",
)


#: Sample at which the second replica has started again.
RESTART = 300


def open_metrics(start: datetime) -> str:
    """Two days of two replicas, one of which restarts, and of a card, every five minutes."""
    moments = [(place, int((start + timedelta(minutes=5 * place)).timestamp())) for place in range(2 * 24 * 12)]
    grown = [(f'{TOKENS}{{pod="a",model_name="m"}}', lambda n: 100 * n)]
    grown.append((f'{TOKENS}{{pod="b",model_name="m"}}', lambda n: 10 * (n if n < RESTART else n - RESTART)))
    counters = [f"{name} {value(place)} {moment}" for name, value in grown for place, moment in moments]
    card = 'DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1",Hostname="n1",pod="a"}'
    cards = [f"{card} {place % 2 * 100} {moment}" for place, moment in moments]
    kinds = (f"# TYPE {TOKENS.removesuffix('_total')} counter", "# TYPE DCGM_FI_DEV_GPU_UTIL gauge")
    return "\n".join([kinds[0], *counters, kinds[1], *cards, "# EOF", ""])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, datetime]]:
    """A Prometheus with two days of samples, and when they start."""
    folder = tmp_path_factory.mktemp("prometheus")
    now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = now - timedelta(days=4)
    (folder / "samples.txt").write_text(open_metrics(start))
    (folder / "prometheus.yml").write_text("scrape_configs: []\n")
    made = [shutil.which("promtool"), "tsdb", "create-blocks-from", "openmetrics", "samples.txt", "data"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    command = [
        shutil.which("prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data",
        "--storage.tsdb.retention.time=30d", f"--web.listen-address={place}",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_until_ready(f"http://{place}", process, folder / "log")
        yield f"http://{place}", start
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            with opener.open(f"{url}/-/ready", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"prometheus does not get ready: {log.read_text()}")


@needs_prometheus
def test_a_real_prometheus_is_asked(server: tuple[str, datetime], tmp_path: Path) -> None:
    url, start = server
    middle, end = start + timedelta(days=1), start + timedelta(days=2)
    for first, last in ((start, middle), (middle, end)):
        line = ["load", f"prometheus+{url}", "--start", first.isoformat(), "--end", last.isoformat(), "--step", "5m"]
        result = CliRunner().invoke(cli, [*line, "--folder", str(tmp_path), "--json"])
        assert result.exit_code == 0, result.output
        [loaded] = json.loads(result.stdout)["files"]
        assert (loaded["reader"], loaded["outcome"]) == ("prometheus", "loaded")
    with Desk(tmp_path).ledger() as ledger:
        found = {row.workload_id: (int(row.quantity), row.restarts) for row in ledger.increments(start, end)}
        days = [(row.workload_id, int(row.quantity)) for row in ledger.increments(start, end, daily=True)]
        [card] = ledger.gauges(start, end)
    # Samples 0 to 575; the server goes on showing the last one for five minutes, with nothing added.
    assert found == {"a": (57_500, 0), "b": (10 * 299 + 10 * 275, 1)}
    assert sorted(days) == [("a", 28_700), ("a", 28_800), ("b", 5_740 - 2_880), ("b", 2_880)]
    assert (card.resource_id, card.node, card.mean, card.unknown_s) == ("GPU-1", "n1", 50.0, 0)


@needs_prometheus
def test_a_real_prometheus_refuses_what_is_wrong(server: tuple[str, datetime], tmp_path: Path) -> None:
    url, start = server
    early = Window(start=start - timedelta(days=9), end=start - timedelta(days=8))
    with pytest.raises(BadFile, match="none of the metrics"):
        live.fetch(url, early, tmp_path / "x")
    with pytest.raises(BadFile, match="404"):
        live.fetch(url + "/elsewhere", window_of("2031-01-01", "2031-01-02", "60s"), tmp_path / "x")
