"""Steps of a run on the lives of its job: nothing that was held changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from unitcost.economics.job_steps import with_steps
from unitcost.facts.runs import HeldLife

START = datetime(2031, 4, 1, tzinfo=UTC)
PRICE = Decimal(2)


def life(start_s: float, end_s: float | None, **more: Any) -> HeldLife:
    said: dict[str, Any] = {
        "attempt": 1, "status": "completed", "accelerator": "gpu", "pricing_category": "", "quantity": Decimal(4),
        "startup_s": None, "start_step": None, "end_step": None, "kept_step": None, **more,
    }  # fmt: skip
    ended = None if end_s is None else START + timedelta(seconds=end_s)
    return HeldLife(started_at=START + timedelta(seconds=start_s), ended_at=ended, **said)


def made(start_s: float, end_s: float | None, first: int, last: int) -> HeldLife:
    steps = {"start_step": first, "end_step": last, "kept_step": last, "startup_s": 30.0}
    return life(start_s, end_s, quantity=Decimal(0), **steps)


def test_the_time_before_the_run_began_is_start_up() -> None:
    ((found, price),) = with_steps([(life(0, 1_000), PRICE)], [made(100, 990, 0, 50)])
    assert (found.startup_s, found.start_step, found.end_step, price) == (130, 0, 50, PRICE)
    assert (found.started_at, found.ended_at, found.quantity) == (START, START + timedelta(seconds=1_000), 4)


def test_each_life_of_a_job_has_the_steps_that_were_made_in_it() -> None:
    job = [(life(0, 100), PRICE), (life(200, 300, attempt=2), PRICE), (life(400, 500, attempt=3), PRICE)]
    found = with_steps(job, [made(210, 300, 10, 20), made(5, 100, 0, 12)])
    assert [held.end_step for held, _ in found] == [12, 20, None]


def test_ranks_of_two_machines_are_one_and_each_node_has_their_steps() -> None:
    job = [(life(0, 100, accelerator=name), PRICE) for name in ("a", "b")]
    found = with_steps(job, [made(5, 99, 0, 12), made(6, 100, 0, 11)])
    assert [(held.start_step, held.end_step) for held, _ in found] == [(0, 12)] * 2


def test_a_clock_that_is_behind_hides_no_steps() -> None:
    ((found, _),) = with_steps([(life(0, 100), None)], [made(-20, 99, 0, 12)])
    assert (found.startup_s, found.end_step) == (30, 12)


def test_what_a_job_says_of_its_steps_itself_stands() -> None:
    own = life(0, 100, start_step=0, end_step=7, startup_s=1.0)
    assert with_steps([(own, PRICE)], [made(1, 99, 0, 12)]) == [(own, PRICE)]


@given(st.lists(st.tuples(st.integers(-100, 1_200), st.integers(1, 300)), max_size=6))
def test_what_was_held_stays_as_it_was(launches: list[tuple[int, int]]) -> None:
    found = with_steps([(life(0, 1_000), PRICE)], [made(start, start + length, 0, 9) for start, length in launches])
    pieces = [held for held, _ in found]
    assert pieces[0].started_at == START
    assert pieces[-1].ended_at == START + timedelta(seconds=1_000)
    assert all(first.ended_at == second.started_at for first, second in pairwise(pieces))
    assert all(held.ended_at >= held.started_at for held in pieces if held.started_at and held.ended_at)
    assert {held.quantity for held in pieces} == {Decimal(4)}
