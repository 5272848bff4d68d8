"""Limits of the engine in the search."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from tests.serving.grids import grid, trace
from unitcost.serving.engine_limits import flags, variants
from unitcost.serving.fleet import Engine
from unitcost.serving.search import Limits, Option, Search, search

OPTION = Option(name="a", grid=grid(max_batch=200), usd_per_replica_hour=Decimal(2))
#: Long prompts: a step full of them holds back the tokens of those that run.
LONG = trace(400, rate=40.0, inputs=6000, outputs=60, seed=4)
LIMITS = Limits(ttft_p95_s=2.5, tpot_p95_s=0.05)


def test_a_limit_that_needs_fewer_replicas_is_taken() -> None:
    run = Search(LONG, LIMITS)
    usual = run.fewest(OPTION)
    best = search([OPTION], Search(LONG, LIMITS)).fewest[0]
    assert usual is not None
    assert best.option.variant_of == best.option.family == "a"
    assert best.replicas < usual.replicas
    assert not best.misses
    for words, engine in variants(OPTION.engine, OPTION.grid):
        other = run.fewest(replace(OPTION, engine=engine, name=words))
        assert other is None or other.replicas >= best.replicas


def test_without_a_gain_the_option_stays_as_it_is() -> None:
    best = search([OPTION], Search(LONG, Limits(e2e_p95_s=1000.0))).fewest[0]
    assert best.option == OPTION
    assert best.option.family == "a"


def test_an_option_that_only_a_limit_saves_is_not_ruled_out() -> None:
    run = Search(LONG, LIMITS)
    usual = run.fewest(OPTION)
    assert usual is not None
    few = Search(LONG, LIMITS, most_replicas=usual.replicas - 1)
    found = search([OPTION], few)
    assert few.fewest(OPTION) is None
    assert not found.refused
    assert found.fewest[0].option.variant_of == "a"


def test_a_limit_that_changes_nothing_and_static_batches_have_no_variant() -> None:
    engine = Engine(max_step_tokens=1024, max_batch=32)
    words = [said for said, _ in variants(engine, OPTION.grid)]
    assert words == ["steps of 2048 tokens", "steps of 16384 tokens"]
    assert list(variants(Engine(scheduler="static"), OPTION.grid)) == []


@pytest.mark.parametrize(
    ("backend", "expected"),
    [
        ("vllm", "--max-num-batched-tokens 1024 --max-num-seqs 32"),
        ("sglang", "--chunked-prefill-size 1024 --max-running-requests 32"),
        ("trtllm", "--max_num_tokens 1024 --max_batch_size 32"),
        ("other", ""),
    ],
)
def test_flags_name_what_differs(backend: str, expected: str) -> None:
    assert flags(backend, Engine(max_step_tokens=1024, max_batch=32), default=Engine()) == expected
    assert flags(backend, Engine(), default=Engine()) == ""
