"""Counters and states of the ledger: the queries and the plain arithmetic agree, and nothing is counted twice."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from math import inf, isclose, nan
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.metrics import START_S, Desk, answer, at, series, steady

from unitcost.attribution import measured
from unitcost.errors import UnknownName
from unitcost.facts.spend import Selection
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

TOKENS = "vllm:generation_tokens_total"
BUSY = "DCGM_FI_DEV_GPU_UTIL"
HOUR, DAY = SECONDS_PER_HOUR, SECONDS_PER_DAY
FEW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MOMENTS = st.integers(-2 * DAY, 2 * DAY)
#: Whole counts, and counts of quarters, which binary and decimal numbers both hold exactly.
COUNTS = st.integers(0, 10**9) | st.integers(0, 4_000).map(lambda n: n / 4)
COUNTERS = st.dictionaries(MOMENTS, COUNTS, max_size=12)
STATES = st.dictionaries(MOMENTS, st.integers(0, 100).map(float) | st.sampled_from([nan, inf]), max_size=12)


def fresh(folder: Path) -> Desk:
    shutil.rmtree(folder, ignore_errors=True)
    return Desk(folder)


def us(seconds: float) -> int:
    return int(seconds * MICROSECONDS_PER_SECOND)


@FEW
@given(counters=st.lists(COUNTERS, min_size=1, max_size=8), start=MOMENTS, length=st.integers(1, 3 * DAY))
def test_the_query_counts_as_the_plain_arithmetic(
    tmp_path: Path, counters: list[dict[int, float]], start: int, length: int
) -> None:
    desk = fresh(tmp_path / "w")
    desk.take(answer(*(series(TOKENS, list(points.items()), pod=f"p{n}") for n, points in enumerate(counters))))
    with desk.ledger() as ledger:
        found = {r.workload_id: (r.quantity, r.restarts) for r in ledger.increments(at(start), at(start + length))}
    wanted = {}
    for number, points in enumerate(counters):
        exact = {us(time): Decimal(repr(value)) for time, value in points.items()}
        counted = measured.counted(exact, us(start), us(start + length))
        if counted:
            wanted[f"p{number}"] = (counted.quantity, counted.restarts)
    assert found == wanted


@FEW
@given(points=COUNTERS, cuts=st.lists(MOMENTS, min_size=1, max_size=4, unique=True))
def test_neighbouring_windows_and_days_add_up_to_the_whole(
    tmp_path: Path, points: dict[int, float], cuts: list[int]
) -> None:
    desk = fresh(tmp_path / "w")
    desk.take(answer(series(TOKENS, list(points.items()))))
    edges = [-4 * DAY, *sorted(cuts), 4 * DAY]
    with desk.ledger() as ledger:
        whole = sum(r.quantity for r in ledger.increments())
        windows = [sum(r.quantity for r in ledger.increments(at(first), at(last))) for first, last in pairwise(edges)]
        days = [r.quantity for r in ledger.increments(daily=True)]
    assert sum(windows) == whole
    assert sum(days) == whole
    assert all(part >= 0 for part in [*windows, *days])


@FEW
@given(points=STATES, start=MOMENTS, length=st.integers(1, 3 * DAY))
def test_the_query_means_as_the_plain_arithmetic(
    tmp_path: Path, points: dict[int, float], start: int, length: int
) -> None:
    desk = fresh(tmp_path / "w")
    desk.take(answer(series(BUSY, list(points.items()), UUID="GPU-1")))
    with desk.ledger() as ledger:
        found = ledger.gauges(at(start), at(start + length))
    wanted = measured.state({us(time): value for time, value in points.items()}, us(start), us(start + length))
    if wanted is None:
        assert all(row.mean is None for row in found)
        return
    [row] = found
    assert row.mean is not None
    # The ledger keeps products of value and time to 10^-3 us; the plain sum is one of doubles.
    assert isclose(row.mean, wanted.mean, rel_tol=1e-9, abs_tol=1e-9)
    assert us(row.known_s) == wanted.known_us
    assert isclose(row.known_s + row.unknown_s, length, abs_tol=1e-6)


@FEW
@given(
    points=st.dictionaries(st.integers(0, 60), COUNTS, min_size=2, max_size=12),
    pieces=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_any_files_in_any_order_that_hold_all_samples_count_the_same(
    tmp_path: Path, points: dict[int, float], pieces: list[tuple[int, int]], order: Sequence[object]
) -> None:
    timed = [(minute * SECONDS_PER_MINUTE, value) for minute, value in points.items()]
    whole = fresh(tmp_path / "whole")
    whole.take(answer(series(TOKENS, timed, pod="a")))
    files = [("rest", timed)]
    for number, (first, last) in enumerate(pieces):
        part = [(t, v) for t, v in timed if first * SECONDS_PER_MINUTE <= t <= last * SECONDS_PER_MINUTE]
        files.append((f"part{number}", part))
    order.shuffle(files)  # type: ignore[attr-defined]
    parts = fresh(tmp_path / "parts")
    for name, part in files:
        parts.take(answer(series(TOKENS, part, pod="a")), name=f"{name}.json")
    with whole.ledger() as one, parts.ledger() as many:
        assert [(r.quantity, r.restarts) for r in one.increments()] == [
            (r.quantity, r.restarts) for r in many.increments()
        ]


def test_files_by_day_join(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for day in range(3):
        points = [(day * DAY + hour * HOUR, 100 * (day * 24 + hour)) for hour in range(24)]
        desk.take(answer(series(TOKENS, points, pod="a")), name=f"{day}.json")
    with desk.ledger() as ledger:
        [row] = ledger.increments()
        days = {r.day: r.quantity for r in ledger.increments(daily=True)}
    assert row.quantity == 71 * 100
    assert days == {date(2031, 9, 1): 2_400, date(2031, 9, 2): 2_400, date(2031, 9, 3): 2_300}


def test_a_series_seen_once_tells_nothing_and_one_that_stands_still_tells_zero(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(series(TOKENS, [(0, 70)], pod="once"), series(TOKENS, [(0, 9), (60, 9)], pod="still")))
    with desk.ledger() as ledger:
        assert [(r.workload_id, r.quantity) for r in ledger.increments()] == [("still", 0)]


def test_old_and_new_names_of_one_counter_count_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    points = [(0, 0), (60, 500)]
    names = ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits")
    desk.take(answer(*(series(name, points, pod="a") for name in names)))
    with desk.ledger() as ledger:
        assert [(r.unit, r.quantity) for r in ledger.increments()] == [("tokens", 500)]


def test_replicas_of_a_prometheus_see_one_series(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(
        answer(
            series(TOKENS, [(0, 0), (60, 90), (120, 200)], pod="a", prometheus_replica="0"),
            series(TOKENS, [(0, 0), (60, 95), (120, 205)], pod="a", prometheus_replica="1"),
        )
    )
    with desk.ledger() as ledger:
        assert [(r.quantity, r.restarts) for r in ledger.increments()] == [(205, 0)]


def test_sums_by_workload_card_and_node(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    joules = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    cards = [("GPU-1", "n1", 10), ("GPU-2", "n1", 20), ("GPU-3", "n2", 40)]
    desk.take(
        answer(
            *(series(joules, [(0, 5), (60, 5 + grown)], UUID=card, Hostname=node) for card, node, grown in cards),
            series(TOKENS, [(0, 0), (60, 7)], namespace="ml", pod="chat", engine="0"),
            series(TOKENS, [(0, 0), (60, 8)], namespace="ml", pod="chat", engine="1"),
        )
    )
    with desk.ledger() as ledger:
        energy = ["gpu_energy"]
        assert {r.node: int(r.quantity) for r in ledger.increments(by="node", metrics=energy)} == {"n1": 30, "n2": 40}
        by_card = {r.resource_id: int(r.quantity) for r in ledger.increments(by="resource", metrics=energy)}
        assert by_card == {"GPU-1": 10, "GPU-2": 20, "GPU-3": 40}
        [tokens] = ledger.increments(by="workload", metrics=["generation_tokens"])
        assert (tokens.workload_id, tokens.quantity, tokens.series_count) == ("ml/chat", 15, 2)
        with pytest.raises(UnknownName, match="workload"):
            ledger.increments(by="wrkload")  # type: ignore[arg-type]


def test_a_long_gap_is_unknown_and_not_idle(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    points = [*steady(80.0, 11), *steady(80.0, 11, first_s=3_000)]
    desk.take(answer(series(BUSY, points, UUID="GPU-1")))
    with desk.ledger() as ledger:
        [row] = ledger.gauges(at(0), at(HOUR))
    # Of two times 11 samples, each of which stands for a minute, the last is at the end of the window.
    assert (row.mean, row.known_s, row.unknown_s) == (80.0, 21 * 60, HOUR - 21 * 60)


def test_a_short_gap_is_bridged(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    points = [point for point in steady(50.0, 61) if point[0] not in (600, 660)]
    desk.take(answer(series(BUSY, points, UUID="GPU-1")))
    with desk.ledger() as ledger:
        [row] = ledger.gauges(at(0), at(HOUR))
    assert (row.mean, row.known_s, row.unknown_s) == (50.0, HOUR, 0)


def test_pods_that_follow_each_other_have_means_of_their_own(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(
        answer(
            series(BUSY, steady(90.0, 30), UUID="GPU-1", pod="a", namespace="ml"),
            series(BUSY, steady(10.0, 30, first_s=1_800), UUID="GPU-1", pod="b", namespace="ml"),
        )
    )
    with desk.ledger() as ledger:
        [card] = ledger.gauges(at(0), at(HOUR))
        pods = {row.workload_id: (row.mean, row.shared_s) for row in ledger.gauges(at(0), at(HOUR), by="workload")}
    assert (card.mean, card.shared_s, card.workloads) == (50.0, 0, ("ml/a", "ml/b"))
    assert pods == {"ml/a": (90.0, 0), "ml/b": (10.0, 0)}


def test_a_mig_instance_is_a_card_of_its_own(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    active = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    desk.take(
        answer(
            series(active, steady(0.8, 61), UUID="GPU-1", GPU_I_ID="1", GPU_I_PROFILE="3g.40gb", pod="a"),
            series(active, steady(0.2, 61), UUID="GPU-1", GPU_I_ID="2", GPU_I_PROFILE="3g.40gb", pod="b"),
        )
    )
    with desk.ledger() as ledger:
        found = {row.resource_id: row.mean for row in ledger.gauges(at(0), at(HOUR))}
    assert found == pytest.approx({"GPU-1/1": 0.8, "GPU-1/2": 0.2})
    listed = desk.rows("SELECT resource_id, round(quantity, 4) FROM resources ORDER BY 1")
    assert [(card, float(share)) for card, share in listed] == [("GPU-1/1", 0.4286), ("GPU-1/2", 0.4286)]


# --- useful units -------------------------------------------------------------------------------------------------------


def outputs(desk: Desk, start: date | None = None, end: date | None = None) -> list[tuple[object, ...]]:
    with desk.ledger() as ledger:
        return [
            (row.service, row.day.day, row.unit, int(row.quantity), row.attempts, row.named_by)
            for row in ledger.metered_outputs(Selection(start=start, end=end))
        ]


def test_counters_of_useful_units_become_outputs_per_day(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    hours = [(hour * HOUR, 1_000 * hour) for hour in range(49)]
    desk.take(
        answer(
            series(TOKENS, hours, model_name="llama", pod="chat-0"),
            series(TOKENS, hours, model_name="llama", pod="chat-1"),
            series("vllm:prompt_tokens_total", [(0, 0), (HOUR, 5)], model_name="llama", pod="chat-0"),
        )
    )
    assert outputs(desk) == [
        ("llama", 1, "input tokens", 5, None, "label model_name"),
        ("llama", 1, "output tokens", 48_000, None, "label model_name"),
        ("llama", 2, "output tokens", 48_000, None, "label model_name"),
    ]
    assert [row[1] for row in outputs(desk, date(2031, 9, 2), date(2031, 9, 3))] == [2]


def test_predictions_are_not_requests_and_failures_are_attempts(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    counts = {"nv_inference_count": 800, "nv_inference_request_success": 100, "nv_inference_request_failure": 3}
    desk.take(answer(*(series(name, [(0, 0), (60, n)], model="resnet", version="1") for name, n in counts.items())))
    assert outputs(desk) == [
        ("resnet", 1, "predictions", 800, None, "label model"),
        ("resnet", 1, "requests", 100, 103, "label model"),
    ]


def test_requests_that_were_broken_off_are_no_useful_units(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    ends = {"stop": 40, "length": 5, "abort": 7}
    found = [
        series("vllm:request_success_total", [(0, 0), (60, n)], model_name="m", finished_reason=end)
        for end, n in ends.items()
    ]
    desk.take(answer(*found))
    assert outputs(desk) == [("m", 1, "requests", 45, 52, "label model_name")]


def test_the_owner_of_the_pod_names_the_service(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    owner = {"owner_kind": "ReplicaSet", "owner_name": "chat-5d8f7c9b4d"}
    desk.take(
        answer(
            series(TOKENS, [(0, 0), (60, 9)], model_name="llama", namespace="ml", pod="chat-5d8f7c9b4d-x2x4z"),
            series("kube_pod_owner", steady(1, 2), namespace="ml", pod="chat-5d8f7c9b4d-x2x4z", **owner),
        )
    )
    assert outputs(desk) == [("ml/chat", 1, "output tokens", 9, None, "owner of the pod")]


def test_loading_twice_changes_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    document = answer(series(TOKENS, [(0, 0), (60, 9)], model_name="m"))
    assert desk.take(document).outcome == "loaded"
    before = outputs(desk)
    assert desk.take(document).outcome == "unchanged"
    assert desk.take(document, answer(series(TOKENS, [(0, 0)], model_name="x"))).outcome == "replaced"
    assert outputs(desk) == before


def test_the_moments_of_samples_are_utc(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(series(TOKENS, [(0.25, 0), (60.5, 9)])))
    [(first, last)] = desk.rows("SELECT min(sampled_at), max(sampled_at) FROM samples")
    assert first == datetime(2031, 9, 1, 0, 0, 0, 250_000)
    assert last == datetime(2031, 9, 1, 0, 1, 0, 500_000)
    assert at(0).timestamp() == START_S


def test_how_long_a_gap_may_be_is_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    points = [*steady(80.0, 11), *steady(80.0, 11, first_s=3_000)]
    desk.take(answer(series(BUSY, points, UUID="GPU-1")))
    with desk.ledger() as ledger:
        known = {gap: ledger.gauges(at(0), at(HOUR), gap_intervals=gap)[0].known_s for gap in (3, 39, 40)}
    assert known == {3: 21 * 60, 39: 21 * 60, 40: HOUR}
