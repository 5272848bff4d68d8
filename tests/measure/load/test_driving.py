"""Load in virtual time: what a server that freezes looks like from an open and from a closed loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from unitcost.economics.quality.loads import is_inside, summary
from unitcost.errors import BadFile, UnitcostError
from unitcost.facts.loads import Reply, Sample
from unitcost.measure.load.arrivals import from_trace, poisson, steady
from unitcost.measure.load.driving import closed_loop, open_loop
from unitcost.measure.load.searching import INTERRUPTED, Asked, duration_s, first_rate, search

from .virtual_time import run

SERVICE_S, FREEZE_S = 0.003, 2.0


class OneWorker:
    """Server that answers one request after another, each in 3 ms, and stands still for 2 s after 5 s."""

    def __init__(self, freeze_at_s: float = 5.0, freeze_s: float = FREEZE_S) -> None:
        self.free_s = 0.0
        self.freeze = (freeze_at_s, freeze_at_s + freeze_s)

    async def send(self, _: int) -> Reply:
        now = asyncio.get_running_loop().time()
        begin = max(now, self.free_s)
        if self.freeze[0] <= begin < self.freeze[1]:
            begin = self.freeze[1]
        self.free_s = begin + SERVICE_S
        await asyncio.sleep(self.free_s - now)
        return Reply()


def test_an_open_loop_sees_the_freeze_and_a_closed_loop_does_not():
    found = summary(run(open_loop(steady(200, 20), OneWorker().send, timeout_s=10)))
    p99 = dict(found.tails)["p99"]
    # the k-th request after the freeze began waits 2 s less 2 ms for each before it; 40 of 4,000 are slower than p99
    assert p99.latency_s == pytest.approx(1.92, rel=0.03)
    assert p99.bound_s is not None
    assert 1.92 < p99.bound_s < 1.98
    closed = summary(run(closed_loop(1, OneWorker().send, duration_s=20, timeout_s=10)))
    assert dict(closed.tails)["p99"].latency_s < 0.01


def test_a_generator_that_is_late_makes_the_run_invalid():
    async def main() -> list:
        async def send(number: int) -> Reply:
            await asyncio.sleep(0.01)
            return Reply()

        loop = asyncio.get_running_loop()
        loop.call_later(0.5, lambda: setattr(loop._jumping, "now_s", loop.time() + 1.0))  # the machine stands still
        return await open_loop(steady(100, 3), send, timeout_s=5)

    found = summary(run(main()), target_s=0.05)
    assert found.own_delay_p99_s > 0.9
    assert "generator itself" in found.why_invalid
    assert not is_inside(found, "p99", 10.0)


def test_what_is_not_answered_in_time_is_a_timeout_and_counts_as_slow():
    async def send(number: int) -> Reply:
        await asyncio.sleep(100 if number % 100 == 0 else 0.001)
        return Reply()

    found = summary(run(open_loop(steady(100, 20), send, timeout_s=1.0)))
    assert dict(found.fates) == {"ok": 1980, "timeout": 20}
    assert dict(found.tails)["p99"].bound_s == pytest.approx(1.0)
    assert found.reasons == ("20 x no whole answer within 1 s",)


def test_a_server_that_answers_nothing_ends_the_run():
    async def send(_: int) -> Reply:
        await asyncio.sleep(1e6)
        return Reply()

    samples = run(open_loop(steady(100, 1000), send, timeout_s=5.0, most_unanswered=50))
    assert [sample.fate for sample in samples] == ["timeout"] * 50 + ["unsent"] * (100_000 - 50)
    assert summary(samples).error_share == 1


def test_a_queue_that_only_grows_is_outside_although_all_that_was_sent_came_in_time():
    samples = run(open_loop(steady(1000, 20), OneWorker(freeze_at_s=1e9).send, timeout_s=30, most_unanswered=1_000))
    sent = [sample for sample in samples if sample.fate != "unsent"]
    assert max(sample.latency_s for sample in sent) < 3.1
    assert {sample.fate for sample in sent} == {"ok"}
    found = summary(samples, target_s=5.0)
    assert found.rate_per_s == pytest.approx(1000, rel=1e-3)
    assert not is_inside(found, "p99", 5.0)


@pytest.mark.parametrize(("failed", "kept"), [(0, {"p50", "p99", "p999"}), (8, {"p50", "p99"}), (60, set())])
def test_a_request_that_failed_soon_was_too_slow_all_the_same(failed: int, kept: set[str]):
    samples = [
        Sample(due_s=n / 100, sent_s=n / 100, ended_s=n / 100 + 0.01, fate="refused" if n < failed else "ok")
        for n in range(5_000)
    ]
    found = summary(samples)
    assert {name for name in ("p50", "p99", "p999") if is_inside(found, name, 10.0)} == kept


def test_the_warm_up_is_left_out():
    async def send(number: int) -> Reply:
        await asyncio.sleep(0.5 if number < 100 else 0.001)
        return Reply()

    found = summary(run(open_loop(steady(100, 10), send, timeout_s=5)), warm_up_s=1.0)
    assert found.requests == 900
    assert dict(found.tails)["p99"].latency_s == pytest.approx(0.001, abs=1e-4)
    assert summary([], warm_up_s=1.0).why_invalid == "no request was due after the warm-up"


def test_the_highest_rate_inside_the_target_is_found_and_is_below_the_closed_loop():
    async def main():
        async def load(rate: float, duration: float):
            return summary(
                await open_loop(poisson(rate, duration, seed=1), OneWorker(-9, 1).send, timeout_s=5), target_s=0.015
            )

        asked = Asked(percentile="p99", share=0.99, limit_s=0.015, first_per_s=20, step_s=30, budget_s=1000)
        return await search(load, asked)

    found = run(main())
    closed = summary(run(closed_loop(1, OneWorker(-9, 1).send, duration_s=20, timeout_s=5)))
    assert found.highest_per_s is not None
    # M/D/1 with a p99 of five services is at a load of 0.6 to 0.75
    assert 0.5 < found.highest_per_s * SERVICE_S < 0.8
    assert closed.done_per_s * SERVICE_S == pytest.approx(1.0, rel=0.01)
    assert found.lowest_outside_per_s is not None
    assert found.lowest_outside_per_s / found.highest_per_s < 1.05


def test_a_search_stops_at_its_budget_and_says_what_it_knows():
    async def main():
        async def load(rate: float, duration: float):
            return summary(await open_loop(steady(rate, duration), OneWorker(-9, 1).send, timeout_s=5), target_s=0.015)

        return await search(
            load, Asked(percentile="p99", share=0.99, limit_s=0.015, first_per_s=10, step_s=10, budget_s=100)
        )

    found = run(main())
    assert found.highest_per_s == 10
    assert "budget" in found.why_stopped


@pytest.mark.parametrize(
    ("share", "step_s", "budget_s"), [(0.99, 20, 600), (0.9, 20, 600), (0.99, 20, 30), (0.999, 5, 60)]
)
def test_the_first_rate_of_a_search_leaves_time_for_further_ones(share: float, step_s: float, budget_s: float):
    first = first_rate(share, step_s, budget_s)
    asked = Asked(percentile="p", share=share, limit_s=1, first_per_s=first, step_s=step_s, budget_s=budget_s)
    assert duration_s(first, asked) == pytest.approx(max(step_s, budget_s / 6))
    # 662 samples prove a p99 with one miss, and the run has 15 % to spare
    assert first_rate(0.99, 20, 600) == pytest.approx(662 * 1.15 / 100)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_run_that_is_stopped_gives_what_is_over_by_then(is_open: bool):
    async def main():
        server = OneWorker(freeze_at_s=1e9)
        if is_open:
            task = asyncio.create_task(open_loop(steady(100, 1000), server.send, timeout_s=5))
        else:
            task = asyncio.create_task(closed_loop(1, server.send, duration_s=1000, timeout_s=5))
        await asyncio.sleep(5.0)
        task.cancel()
        return await task

    samples = run(main())
    assert {sample.fate for sample in samples} == {"ok"}
    assert 4.9 < samples[-1].ended_s <= 5.0


def test_a_search_that_is_stopped_keeps_the_runs_before():
    async def main():
        async def load(rate: float, duration: float):
            return summary(await open_loop(steady(rate, duration), OneWorker(1e9).send, timeout_s=5), target_s=0.015)

        wanted = Asked(percentile="p99", share=0.99, limit_s=0.015, first_per_s=100, step_s=10, budget_s=1_000)
        task = asyncio.create_task(search(load, wanted))
        await asyncio.sleep(15.0)
        task.cancel()
        return await task

    found = run(main())
    assert found.why_stopped == INTERRUPTED
    assert (found.highest_per_s, [rate for rate, _ in found.runs]) == (100, [100, 200])


def test_poisson_has_its_rate_and_is_the_same_each_time():
    due = poisson(50, 200, seed=3)
    assert due == poisson(50, 200, seed=3)
    assert len(due) / 200 == pytest.approx(50, rel=0.05)
    with pytest.raises(UnitcostError):
        steady(0.001, 1)


def test_traces_give_moments(tmp_path: Path):
    csv_file = tmp_path / "a.csv"
    csv_file.write_text("TIMESTAMP,x\n2023-11-16 18:15:46.6805900,1\n2023-11-16 18:15:50.6805900,1\n")
    assert from_trace(csv_file, speed=2) == pytest.approx([0, 2.0])
    csv_file.write_text(
        "t\n2024-01-01T01:00:00.123456+01:00\n2024-01-01T00:00:02.123456\n2023-12-31T20:00:05.123456-04:00\n"
    )
    assert from_trace(csv_file) == pytest.approx([0, 2.0, 5.0])
    csv_file.write_text("t\n1\nnan\n")
    with pytest.raises(BadFile, match="'nan' is no time"):
        from_trace(csv_file)
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"timestamp": 1000}\n{"timestamp": 4000}\n')
    assert from_trace(lines, duration_s=2) == [0.0]
    bad = tmp_path / "c.csv"
    bad.write_text("t\nsoon\n")
    with pytest.raises(BadFile, match="no time"):
        from_trace(bad)
