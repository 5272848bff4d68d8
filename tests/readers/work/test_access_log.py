"""Access logs: attempts against successes, by service and day."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracker_files import Told, into_ledger, read_text

from unitcost.readers.work.access_log_line import of_members, of_text

COMMON = '10.0.0.7 - - [01/Apr/2031:23:59:59 +0000] "POST {path} HTTP/1.1" {status} 512'


def line(
    path: str = "/score", status: int = 200, *, day: str = "01/Apr/2031", vhost: str = "", zone: str = "+0000"
) -> str:
    request = f'"POST {path} HTTP/1.1" {status} 512 "-" "client/1.0 (a \\"b\\")"'
    return f"{vhost + ' ' if vhost else ''}10.0.0.7 - u1 [{day}:12:00:00 {zone}] {request}"


def counted(told: Told) -> dict[tuple[str, str], tuple[Decimal, Decimal]]:
    return {
        (row["service"], row["period_start"][:10]): (Decimal(row["quantity"]), Decimal(row["attempts"]))
        for row in told.rows("outputs")
    }


def test_lines_are_counted_by_service_and_day(tmp_path: Path) -> None:
    lines = [
        line(), line(status=201), line(status=302), line(status=404), line(status=500), line("/rank/v2?x=1"),
        line(day="02/Apr/2031"), line("/healthz"), line("/v2/health/ready"), line("/metrics"),
    ]  # fmt: skip
    told = read_text("\n".join(lines) + "\n", tmp_path)
    assert (told.plan.reader, told.plan.dialect, told.plan.rejects) == ("access-log", "common log format", ())
    assert counted(told) == {
        ("score", "2031-04-01"): (3, 5), ("score", "2031-04-02"): (1, 1), ("rank", "2031-04-01"): (1, 1)
    }  # fmt: skip
    assert told.by("workloads", "workload_id")["score"]["metrics"] == {
        "requests_2xx": "3", "requests_3xx": "1", "requests_4xx": "1", "requests_5xx": "1"
    }  # fmt: skip
    assert "3 lines are questions of watchers" in told.flags
    assert told.plan.rows_read == 10


@pytest.mark.parametrize(
    ("said", "service"),
    [
        (line("/score"), "score"), (line("/"), "/"), (line("/", vhost="api.example:443"), "api.example"),
        (line("/v1/models/fraud:predict"), "fraud"), (line("/v2/models/fraud/infer", vhost="gw"), "fraud"),
        (line("/endpoints/ep-1/invocations"), "ep-1"), (line("/a%20b/c"), "a b"),
        (COMMON.format(path="/x", status=200), "x"),
        ('::1 - - [01/Apr/2031:12:00:00 +0000] "-" 400 -', "/"),
    ],
)  # fmt: skip
def test_the_service_of_a_line(said: str, service: str) -> None:
    assert of_text(said).service == service


def test_a_day_is_that_of_utc_or_of_the_zone_that_is_given(tmp_path: Path) -> None:
    text = '10.0.0.7 - - [01/Apr/2031:23:30:00 -0500] "GET /a HTTP/1.1" 200 1\n'
    assert set(counted(read_text(text, tmp_path))) == {("a", "2031-04-02")}
    told = read_text(text, tmp_path, timezone="-05:00")
    assert told.rows("outputs")[0]["period_start"] == "2031-04-01 05:00:00.000000"


@pytest.mark.parametrize(
    "said",
    [
        {"time": "2031-04-01T12:00:00Z", "status": 200, "path": "/score"},
        {"time_iso8601": "2031-04-01T12:00:00+00:00", "status": "200", "request": "POST /score HTTP/1.1"},
        {"start_time": "2031-04-01T12:00:00.123Z", "response_code": 200, "path": "/x", "upstream_cluster": "score"},
        {"StartUTC": "2031-04-01T12:00:00Z", "DownstreamStatus": 200, "RequestPath": "/x", "ServiceName": "score"},
        {"ts": 1932811200.5, "status": 200, "request": {"uri": "/score/1", "method": "POST"}},
        {"msec": "1932811200500", "status": 200, "uri": "/score"},
        {"timestamp": "2031-04-01T12:00:00Z", "httpRequest": {"status": 200, "requestUrl": "http://h/v1/models/score"}},
    ],
)
def test_json_lines_of_several_servers(tmp_path: Path, said: dict[str, Any]) -> None:
    told = read_text(json.dumps(said) + "\n", tmp_path)
    assert (told.plan.reader, told.plan.dialect) == ("access-log", "JSON lines")
    if "httpRequest" in said:
        assert "questions of watchers" in told.flags
    else:
        assert counted(told) == {("score", "2031-04-01"): (1, 1)}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("a line of words", "not of the common log format"),
        (line().replace("Apr", "Xyz"), "not a moment of a log"),
        (line().replace(" 200 ", " - "), "no status"),
        (line().replace(" 200 ", " 999 "), "no status"),
        (line(day="01/Apr/0002"), "is not a date between"),
        (line()[:40], "not of the common log format"),
    ],
)
def test_a_bad_line_is_set_aside(tmp_path: Path, bad: str, reason: str) -> None:
    told = read_text("\n".join([line(), bad, line()]), tmp_path)
    assert counted(told) == {("score", "2031-04-01"): (2, 2)}
    [reject] = told.plan.rejects
    assert (reject.row, reject.raw) == (2, bad)
    assert reason in reject.reason
    assert into_ledger(told, tmp_path / "ledger.duckdb").rows_accepted == 2


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"time": "2031-04-01T12:00:00Z", "sta', "not JSON"),
        ('{"time": "noon", "status": 200, "path": "/"}', "not an ISO date"),
        ('{"time": "2031-04-01T12:00:00", "status": 200, "path": "/"}', "unknown zone"),
        ('{"status": 200, "path": "/"}', "names no time"),
        ('{"time": 1e400, "status": 200, "path": "/"}', "not"),
        ('{"time": "2031-04-01T12:00:00Z", "status": "ok", "path": "/"}', "no status"),
    ],
)
def test_a_bad_json_line_is_set_aside(tmp_path: Path, bad: str, reason: str) -> None:
    good = '{"time": "2031-04-01T12:00:00Z", "status": 200, "path": "/score"}'
    told = read_text("\n".join([good, bad, good]), tmp_path)
    assert counted(told) == {("score", "2031-04-01"): (2, 2)}
    assert reason in told.reasons[0]


def test_endless_names_are_counted_together(tmp_path: Path) -> None:
    told = read_text("\n".join(line(f"/{n}") for n in range(10_003)), tmp_path)
    assert counted(told)["(other services)", "2031-04-01"] == (3, 3)
    assert "more than 10000 services" in told.flags


CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(100, 599), st.integers(1, 3)), min_size=1, max_size=30)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALLS)
def test_no_request_is_lost(tmp_path: Path, calls: list[tuple[str, int, int]]) -> None:
    told = read_text(
        "\n".join(line(f"/{name}", status, day=f"0{day}/Apr/2031") for name, status, day in calls), tmp_path
    )
    made = counted(told).values()
    assert sum(attempts for _, attempts in made) == len(calls)
    assert sum(useful for useful, _ in made) == sum(status < 400 for _, status, _ in calls)


def test_text_and_members_agree() -> None:
    said = {"time": "2031-04-01T12:00:00Z", "status": "200", "path": "/score"}
    assert of_text(line()) == of_members(said)
