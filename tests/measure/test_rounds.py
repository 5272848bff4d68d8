"""Turns: subjects of known speed, subjects that fail, and clocks that are given."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from unitcost.measure.rounds import Clocks, Timed, take_turns
from unitcost.measure.timing_summary import timing


class Bench:
    """A clock that only moves when a subject works, and a machine that slows down for a while."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.slowness = 1.0

    def subject(self, takes_s: float):
        def call() -> None:
            self.now_s += takes_s * self.slowness

        return call

    @property
    def clocks(self) -> Clocks:
        return Clocks(time_s=lambda: self.now_s, cpu_s=lambda: self.now_s / 2)


def test_a_model_that_sleeps_5_ms_takes_5_ms():
    bench = Bench()
    found = take_turns({"sleeps": bench.subject(0.005)}, time_s=10, samples=662, clocks=bench.clocks)["sleeps"]
    told = timing(found, None, batch=4)
    assert told is not None
    assert told["percentiles"]["p50"]["latency_s"] == pytest.approx(0.005)
    assert told["percentiles"]["p99"]["bound_s"] == pytest.approx(0.005)
    assert told["per_s"] == pytest.approx(4 / 0.005)
    assert told["cpu_s_per_item"] == pytest.approx(0.005 / 2 / 4)
    assert told["calls"] >= 662


def test_a_model_that_really_sleeps_5_ms_takes_no_less():
    found = take_turns({"sleeps": lambda: time.sleep(0.005)}, time_s=0.2, samples=20)["sleeps"]
    assert min(found.latencies_s) >= 0.005  # a machine may wake it late, never early
    assert found.cpu_s < sum(found.latencies_s)  # sleeping takes no processor time


def test_a_machine_that_drifts_changes_speeds_and_not_ratios():
    bench = Bench()

    def drift(timed: Mapping[str, Timed]) -> None:
        bench.slowness = 1.0 + 0.4 * (len(timed["one"].rounds) % 5 == 0)

    subjects = {"one": bench.subject(0.004), "twice": bench.subject(0.002)}
    found = take_turns(subjects, time_s=30, samples=3000, clocks=bench.clocks, done=drift)
    told = timing(found["twice"], (found["one"], 1), batch=1)
    assert told is not None
    assert told["p50_high_s"] / told["p50_low_s"] == pytest.approx(1.4)
    assert told["ratio"]["median"] == pytest.approx(2.0)
    assert (told["ratio"]["low"], told["ratio"]["high"]) == pytest.approx((2.0, 2.0), rel=0.01)


def test_ratios_are_per_item():
    bench = Bench()
    subjects = {"one": bench.subject(0.004), "eight": bench.subject(0.008)}
    found = take_turns(subjects, time_s=5, samples=100, clocks=bench.clocks)
    told = timing(found["eight"], (found["one"], 1), batch=8)
    assert told is not None
    assert told["ratio"]["median"] == pytest.approx(4.0)


def test_one_that_fails_keeps_its_reason_and_the_others_go_on():
    bench = Bench()
    calls = 0

    def breaks() -> None:
        nonlocal calls
        calls += 1
        bench.now_s += 0.01
        if calls > 20:
            raise RuntimeError("out of memory")

    found = take_turns({"breaks": breaks, "works": bench.subject(0.01)}, time_s=5, samples=100, clocks=bench.clocks)
    assert found["breaks"].failure == "RuntimeError: out of memory"
    assert found["works"].failure == ""
    assert len(found["works"].latencies_s) >= 100


def test_too_few_calls_have_no_p99_and_say_how_many_are_missing():
    found = Timed(rounds=[[0.005] * 100], cpu_s=0.1)
    told = timing(found, None, batch=1)
    assert told is not None
    assert told["percentiles"]["p99"] == {"latency_s": 0.005, "bound_s": None, "missing": 562}
    assert timing(Timed(), None, batch=1) is None
