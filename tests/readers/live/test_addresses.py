"""How live sources and windows are written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from unitcost.errors import BadSetting, UnknownName
from unitcost.readers import live

SEPTEMBER = live.Window(start=datetime(2031, 9, 1, tzinfo=UTC), end=datetime(2031, 10, 1, tzinfo=UTC), step_s=300)


def test_a_path_is_no_address() -> None:
    for path in ("bills/a.csv", "a+b.csv", "C:\\bills\\a.csv", "http://localhost:9090", "+http://x"):
        assert live.address_of(path) is None


@pytest.mark.parametrize(
    ("text", "name", "url"),
    [
        ("prometheus+http://localhost:9090", "prometheus", "http://localhost:9090"),
        ("Prometheus+https://metrics.example/prom", "prometheus", "https://metrics.example/prom"),
        ("mlflow+sqlite:///runs/mlflow.db", "mlflow", "sqlite:///runs/mlflow.db"),
    ],
)
def test_an_address_has_a_kind_and_a_url(text: str, name: str, url: str) -> None:
    assert live.address_of(text) == live.Address(name=name, url=url)


def test_a_kind_that_is_not_known_is_answered_with_near_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(live.LIVE, "prometheus", live)  # type: ignore[arg-type]
    address = live.address_of("promtheus+http://localhost:9090")
    assert address is not None
    with pytest.raises(UnknownName, match="prometheus"):
        live.source_of(address)


def test_a_login_appears_in_no_name() -> None:
    address = live.address_of("prometheus+http://reader:hush@localhost:9090/p")
    assert address is not None
    assert address.shown == "prometheus+http://localhost:9090/p"
    name = address.file_name(SEPTEMBER, ".jsonl")
    assert "hush" not in name
    assert name.startswith("prometheus-localhost-9090-p-")
    assert name.endswith("-20310901T000000Z-20311001T000000Z-300s.jsonl")


def test_the_same_question_has_the_same_file_and_another_one_another() -> None:
    first, second = live.address_of("prometheus+http://a:1"), live.address_of("prometheus+http://a-1")
    assert first is not None
    assert second is not None
    assert first.file_name(SEPTEMBER, "") == first.file_name(SEPTEMBER, "")
    assert first.file_name(SEPTEMBER, "") != second.file_name(SEPTEMBER, "")


def test_a_window_is_read() -> None:
    assert live.window_of("2031-09-01", "2031-10-01T02:00:00+02:00", "5m") == SEPTEMBER
    assert live.window_of("", "", "1h") == live.Window(step_s=3600)


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        ("yesterday", "", "60s"), ("", "32/01", "60s"), ("", "", "soon"), ("", "", "0s"), ("", "", "-5s"),
        ("2031-09-02", "2031-09-02", "60s"), ("2031-09-03", "2031-09-02", "60s"),
    ],
)  # fmt: skip
def test_a_window_that_cannot_be_meant_is_refused(start: str, end: str, step: str) -> None:
    with pytest.raises(BadSetting):
        live.window_of(start, end, step)
