"""Pods and nodes of kube-state-metrics: who held which accelerators, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics import Desk, answer, at, series, steady

from unitcost.readers.work.accelerators import asked, mig_share, resource_name
from unitcost.readers.work.prometheus_spans import Spans, common

ASKS, PHASE = "kube_pod_container_resource_requests", "kube_pod_status_phase"
HELD = "SELECT workload_id, node, quantity, epoch(started_at)::BIGINT, epoch(ended_at)::BIGINT, status FROM {} ORDER BY ALL"


def pod(name: str = "train-0", **labels: str) -> dict[str, str]:
    return {"namespace": "ml", "pod": name, "uid": f"uid-{name}", **labels}


def request(points: Any, resource: str = "nvidia_com_gpu", container: str = "main", **labels: str) -> dict[str, Any]:
    return series(ASKS, points, resource=resource, unit="integer", container=container, node="n1", **pod(**labels))


def phase(state: str, points: Any, **labels: str) -> dict[str, Any]:
    return series(PHASE, points, phase=state, **pod(**labels))


def held(desk: Desk, table: str = "holdings") -> list[tuple[Any, ...]]:
    start = int(at(0).timestamp())
    return [
        (workload, node, quantity, first - start, last - start, status)
        for workload, node, quantity, first, last, status in desk.rows(HELD.format(table))
    ]


def test_a_pod_holds_its_accelerators_while_it_is_running(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(
        answer(
            request(steady(4, 20)),
            phase("Pending", [(0, 1), (60, 1), *steady(0, 18, first_s=120)]),
            phase("Running", [(0, 0), (60, 0), *steady(1, 10, first_s=120), *steady(0, 8, first_s=720)]),
            phase("Succeeded", [*steady(0, 12), *steady(1, 8, first_s=720)]),
        )
    )
    assert held(desk) == [("ml/train-0", "n1", 4, 120, 720, "completed")]


def test_a_pod_that_never_ran_held_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take(answer(request(steady(4, 5)), phase("Pending", steady(1, 5)), phase("Running", steady(0, 5))))
    assert held(desk) == []
    assert not record.flags


def test_without_phases_listed_requests_count_and_it_is_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take(answer(request(steady(2, 5))))
    assert held(desk) == [("ml/train-0", "n1", 2, 0, 300, "unknown")]
    assert "kube_pod_status_phase" in record.flags[0]


def test_containers_of_a_pod_add_up_and_limits_stand_in_for_requests(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    limit = series(
        "kube_pod_container_resource_limits", steady(8, 5), resource="nvidia_com_gpu", container="a", **pod()
    )
    other = series(
        "kube_pod_container_resource_limits", steady(3, 5), resource="nvidia_com_gpu", container="c", **pod()
    )
    cores = request(steady(96, 5), resource="cpu", container="a")
    desk.take(answer(request(steady(1, 5), container="a"), request(steady(2, 5), container="b"), limit, other, cores))
    assert [row[2] for row in held(desk)] == [6]


def test_two_lives_of_a_pod_are_two_holdings(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(request([*steady(1, 5), *steady(1, 5, first_s=3_000)])))
    assert [row[3:5] for row in held(desk)] == [(0, 300), (3_000, 3_300)]


def test_days_join_and_overlaps_count_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for number, (first, count) in enumerate(((0, 10), (600, 10), (300, 10))):
        running = phase("Running", steady(1, count, first_s=first))
        desk.take(answer(request(steady(2, count, first_s=first)), running), name=f"{number}.json")
    assert len(held(desk)) == 3
    with desk.ledger() as ledger:
        found = ledger._con.execute(
            "SELECT quantity, epoch(started_at)::BIGINT, epoch(ended_at)::BIGINT, status FROM held"
        ).fetchall()
    start = int(at(0).timestamp())
    assert found == [(2, start, start + 1_200, "running")]


def test_a_single_moment_tells_no_duration_unless_the_start_is_known(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    begun = series("kube_pod_start_time", [(0, at(-600).timestamp())], **pod("known"))
    record = desk.take(
        answer(request([(0, 1)], name="known"), phase("Running", [(0, 1)], name="known"), begun, request([(0, 1)], name="other"))
    )  # fmt: skip
    assert [(row[0], row[3], row[4]) for row in held(desk)] == [("ml/known", -600, 0), ("ml/other", 0, 0)]
    assert any("one moment" in flag for flag in record.flags)


def test_a_pod_is_a_workload_with_an_owner_and_tags(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    chat = pod("chat-5d8f7c9b4d-x2x4z")
    desk.take(
        answer(
            series("kube_pod_labels", steady(1, 2), label_team="search", label_serving_kserve_io_inferenceservice="c", **chat),
            series("kube_pod_owner", steady(1, 2), owner_kind="ReplicaSet", owner_name="chat-5d8f7c9b4d", **chat),
            series("kube_replicaset_owner", [(0, 1)], namespace="ml", replicaset="chat-5d8f7c9b4d", owner_kind="Deployment",
                   owner_name="chat-main"),
            series("kube_pod_owner", steady(1, 2), owner_kind="PyTorchJob", owner_name="run7", **pod("run7-worker-0")),
            series("kube_pod_owner", steady(1, 2), owner_kind="<none>", owner_name="<none>", **pod("alone")),
            phase("Failed", steady(1, 2), name="run7-worker-0"),
        )
    )  # fmt: skip
    found = desk.rows(
        "SELECT workload_id, kind, name, parent, account, status, tags FROM workloads ORDER BY workload_id"
    )
    assert found == [
        ("ml/alone", None, "alone", None, "ml", "unknown", None),
        ("ml/chat-5d8f7c9b4d-x2x4z", "endpoint", "chat-5d8f7c9b4d-x2x4z", "ml/chat-main", "ml", "unknown",
         {"team": "search", "serving_kserve_io_inferenceservice": "c", "owner_kind": "Deployment"}),
        ("ml/run7-worker-0", "training", "run7-worker-0", "ml/run7", "ml", "failed", {"owner_kind": "PyTorchJob"}),
    ]  # fmt: skip


def node(**labels: str) -> dict[str, Any]:
    return series("kube_node_labels", steady(1, 5), node="n1", **labels)


def capacity(count: float, resource: str = "nvidia_com_gpu") -> dict[str, Any]:
    return series("kube_node_status_capacity", steady(count, 5), node="n1", resource=resource, unit="integer")


def test_a_node_is_a_resource(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(
        answer(
            capacity(8), capacity(96, "cpu"),
            node(label_node_kubernetes_io_instance_type="p5.48xlarge", label_nvidia_com_gpu_product="NVIDIA-H100-80GB-HBM3"),
            series("kube_node_info", [(0, 1)], node="n1", provider_id="aws:///us-east-1a/i-0abc"),
        )
    )  # fmt: skip
    columns = "resource_id, node, instance_id, instance_type, accelerator, quantity, replicas"
    assert desk.rows(f"SELECT {columns} FROM resources") == [
        ("n1", "n1", "i-0abc", "p5.48xlarge", "H100-80GB", 8, None)
    ]


@pytest.mark.parametrize(
    ("labels", "listed", "asks", "cards", "holds"),
    [
        # Time slices: the node lists eight, which are two cards in four slices each.
        ({"label_nvidia_com_gpu_replicas": "4", "label_nvidia_com_gpu_product": "Tesla-T4-SHARED"}, {"nvidia_com_gpu": 8},
         {"nvidia_com_gpu": 1}, "2", "0.25"),
        # MIG, all instances alike and called plain GPUs.
        ({"label_nvidia_com_gpu_product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}, {"nvidia_com_gpu": 7}, {"nvidia_com_gpu": 1},
         "1", "0.142857142857"),
        # MIG, instances under names of their own.
        ({}, {"nvidia_com_mig_3g_20gb": 2, "nvidia_com_gpu": 1}, {"nvidia_com_mig_3g_20gb": 1}, "1.85714285714",
         "0.428571428571"),
        ({}, {"nvidia_com_gpu": 1}, {"nvidia_com_gpu": 1, "nvidia_com_gpucores": 25}, "1", "0.25"),
    ],
)  # fmt: skip
def test_fractions_count_as_their_share_of_the_card(
    labels: dict[str, str], listed: Mapping[str, int], asks: Mapping[str, int], cards: str, holds: str, tmp_path: Path
) -> None:
    desk = Desk(tmp_path)
    lists = [capacity(count, name) for name, count in listed.items()]
    desk.take(answer(node(**labels), *lists, *(request(steady(n, 5), resource=name) for name, n in asks.items())))
    assert desk.rows("SELECT quantity FROM resources") == [(Decimal(cards),)]
    assert desk.rows("SELECT quantity FROM holdings") == [(Decimal(holds),)]
    assert "SHARED" not in str(desk.rows("SELECT accelerator FROM holdings"))


# --- fractions of cards (case 17) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requests", "quantity", "whole"),
    [
        ({"nvidia.com/gpu": "4"}, "4", True),
        ({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "25"}, "0.25", False),
        ({"nvidia.com/gpu": "2", "nvidia.com/gpucores": "50"}, "1", False),
        ({"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "30"}, "0.3", False),
        ({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3000"}, "1", True),
        ({"nvidia.com/gpucores": "15"}, "0.15", False),
        ({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "300"}, "1", False),
        ({"nvidia.com/mig-7g.40gb": "2"}, "2", False),
        ({"nvidia.com/mig-2g.12gb": "1"}, "0.5", False),
        ({"amd.com/gpu": "8"}, "8", True),
        ({"google.com/tpu": "4", "cpu": "9"}, "4", True),
    ],
)
def test_what_a_container_asks_for(requests: dict[str, str], quantity: str, whole: bool) -> None:
    found = asked({name: Decimal(number) for name, number in requests.items()})
    assert found is not None
    assert (found.quantity, found.whole) == (Decimal(quantity), whole)
    assert bool(found.note) == ("nvidia.com/gpumem" in requests)


def test_what_asks_for_no_accelerator() -> None:
    assert asked({"cpu": Decimal(4), "memory": Decimal(10**9)}) is None
    assert asked({"nvidia.com/gpu": Decimal(0)}) is None


def test_names_of_resources_in_both_spellings() -> None:
    assert resource_name("nvidia_com_gpu") == resource_name("nvidia.com/gpu") == "nvidia.com/gpu"
    assert resource_name("nvidia_com_mig_1g_5gb_me") == "nvidia.com/mig-1g.5gb.me"
    assert resource_name("cpu") == resource_name("ephemeral_storage") == ""
    assert mig_share("all") is None


def test_fractional_requests_of_the_case_add_up(shared_cases: Path) -> None:
    given = json.loads((shared_cases / "17-fractional-gpu-requests/input.json").read_text())
    found = [asked({k: Decimal(v) for k, v in pod["resources"].items()}) for pod in given["pods"]]
    assert sum(part.quantity for part in found if part) == Decimal("0.9")


# --- spans ------------------------------------------------------------------------------------------------------------

MOMENTS = st.lists(st.integers(0, 400), min_size=1, max_size=60)


@given(times=MOMENTS, cuts=st.lists(st.integers(0, 60), max_size=3))
def test_moments_in_pieces_make_the_same_spans(times: list[int], cuts: list[int]) -> None:
    whole, pieces = Spans(), Spans()
    whole.see([float(t) for t in times])
    edges = [0, *sorted(cuts), len(times)]
    ordered = sorted(times)
    for first, last in pairwise(edges):
        pieces.see([float(t) for t in ordered[first:last]])
    assert pieces.spans(5.0) == whole.spans(5.0)


@given(left=MOMENTS, right=MOMENTS)
def test_common_spans_are_those_of_the_seconds(left: list[int], right: list[int]) -> None:
    spans = []
    for times in (left, right):
        seen = Spans()
        seen.see([float(t) for t in times])
        spans.append(seen.spans(1.0))
    seconds = [{second for start, end in one for second in range(int(start), int(end))} for one in spans]
    found = {second for start, end in common(*spans) for second in range(int(start), int(end))}
    assert found == seconds[0] & seconds[1]
