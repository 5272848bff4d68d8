"""Pods and nodes: what each way of sharing cards holds, and how a pod ended."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from work_files import SAMPLES, Taken, load, shown, take_text

from unitcost.readers.work.kubernetes_cards import Doubts, cards_of, node_of, quantity

GPU = "nvidia.com/gpu"


def pods(*rows: dict[str, Any]) -> str:
    """Own table of pods; each runs for one hour unless it says otherwise."""
    base = {"namespace": "atlas", "pod": "p", "started_at": "2031-04-01T00:00:00Z", "ended_at": "2031-04-01T01:00:00Z"}
    made = [{**base, **row} for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in made for name in row)), restval="")
    writer.writeheader()
    writer.writerows(made)
    return text.getvalue()


def one(tmp_path: Path, **cells: Any) -> Taken:
    return take_text(
        pods({name: json.dumps(cell) if isinstance(cell, dict) else cell for name, cell in cells.items()}), tmp_path
    )


def test_sample(tmp_path: Path, golden: Any) -> None:
    golden(
        SAMPLES / "kubectl.golden",
        shown(load(SAMPLES / "kubectl.json", tmp_path), "resources", "workloads", "holdings"),
    )


def test_fractions_case_17(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "17-fractional-gpu-requests"
    given_, expected = (json.loads((case / name).read_text()) for name in ("input.json", "expected.json"))
    assert given_["hours"] == 1
    text = pods(*(
        {"pod": pod["pod"], "node": "n1", "labels": json.dumps({"team": pod["team"]}), "requests": json.dumps(pod["resources"])}
        for pod in given_["pods"]
    ))  # fmt: skip
    path = tmp_path / "pods.csv"
    path.write_text(text)
    loaded = load(path, tmp_path)
    price, cards = Fraction(given_["node"]["usd_per_gpu_hour"]), given_["node"]["gpus"]
    in_team = "workload_id IN (SELECT workload_id FROM workloads WHERE tags['team'] = '{}')"
    usd = {team: loaded.held_hours(in_team.format(team))["gpu"] * price for team in ("atlas", "birch", "cobalt")}
    total = cards * given_["hours"] * price
    assert {**usd, "idle": total - sum(usd.values()), "total": total} == {k: Fraction(v) for k, v in expected.items()}


A100_40 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960"}


@pytest.mark.parametrize(
    ("labels", "requests", "held"),
    [
        ({}, {GPU: "2"}, {"gpu": 2}),
        (A100_40, {GPU: "2"}, {"NVIDIA-A100-SXM4-40GB": 2}),
        ({}, {"nvidia.com/mig-1g.5gb": "2"}, {"gpu": Fraction(2, 7)}),
        (A100_40, {"nvidia.com/mig-1g.10gb": "1"}, {"NVIDIA-A100-SXM4-40GB": Fraction(1, 4)}),
        ({}, {"nvidia.com/mig-1g.10gb": "1"}, {"gpu": Fraction(1, 7)}),
        ({"nvidia.com/gpu.replicas": "4"}, {"nvidia.com/gpu.shared": "1"}, {"gpu": Fraction(1, 4)}),
        ({"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.product": "Tesla-T4-SHARED"}, {GPU: "1"}, {"Tesla-T4": Fraction(1, 4)}),
        ({"nvidia.com/gpu.replicas": "4"}, {GPU: "1"}, {"gpu": 1}),  # renamed: only `.shared` is a slice
        ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}, {GPU: "1"}, {"NVIDIA-A100-SXM4-40GB": Fraction(1, 7)}),
        ({"nvidia.com/gpu.replicas": "2"}, {"nvidia.com/mig-3g.20gb.shared": "1"}, {"gpu": Fraction(1, 4)}),
        ({"cloud.google.com/gke-max-shared-clients-per-gpu": "3"}, {GPU: "1"}, {"gpu": Fraction(1, 3)}),
        ({}, {GPU: "1", "nvidia.com/gpucores": "25"}, {"gpu": Fraction(1, 4)}),
        ({}, {GPU: "2", "nvidia.com/gpucores": "25"}, {"gpu": Fraction(1, 2)}),  # of each of two cards
        ({}, {"nvidia.com/gpucores": "25"}, {"gpu": Fraction(1, 4)}),
        ({}, {GPU: "1", "nvidia.com/gpucores": "25", "nvidia.com/gpumem-percentage": "50"}, {"gpu": Fraction(1, 2)}),
        (A100_40, {GPU: "1", "nvidia.com/gpumem": "10240"}, {"NVIDIA-A100-SXM4-40GB": Fraction(1, 4)}),
        ({}, {GPU: "1", "nvidia.com/gpumem": "10240"}, {"gpu": None}),
        ({}, {GPU: "1", "nvidia.com/gpucores": "250"}, {"gpu": 1}),
        ({}, {"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-cores": "30"}, {"gpu": Fraction(3, 10)}),
        ({}, {"nvidia.com/gpu.shared": "1"}, {"gpu": None}),
        ({}, {"nvidia.com/mig-5g.99gb": "1"}, {"gpu": 1}),
        ({}, {"amd.com/gpu": "2", "google.com/tpu": "4"}, {"gpu": 2, "tpu": 4}),
        ({}, {"aws.amazon.com/neuron": "1", "aws.amazon.com/neuroncore": "2"}, {"neuron": 1, "neuroncore": 2}),
        ({}, {GPU: "0", "cpu": "4", "memory": "1Gi", "ephemeral-storage": "1Gi"}, {}),
    ],
)  # fmt: skip
def test_cards(labels: dict[str, str], requests: dict[str, str], held: dict[str, Fraction | None]) -> None:
    doubts = Doubts()
    found = cards_of({name: quantity(text) for name, text in requests.items()}, node_of(labels), doubts)
    assert {name: number for name, number in found.items() if number != 0} == held
    doubtful = None in held.values() or "nvidia.com/mig-5g.99gb" in requests
    assert bool(doubts.flags()) == doubtful


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", 2), ("500m", Fraction(1, 2)), ("1.5", Fraction(3, 2)), ("64Gi", 64 * 2**30), ("1M", 10**6), ("1e3", 1000),
     ("100u", Fraction(1, 10_000)), ("1E", 10**18), ("2k", 2000)],
)  # fmt: skip
def test_quantities(text: str, value: Fraction) -> None:
    assert quantity(text) == value


@pytest.mark.parametrize("text", ["", "-1", "1GB", "one", "NaN", "1e999", "1 Gi", "٣"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match=r"quantity|negative|number"):
        quantity(text)


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        ({"phase": "Succeeded"}, "completed"), ({"phase": "Failed"}, "failed"), ({"phase": "Running"}, "running"),
        ({"phase": "Failed", "reason": "Evicted"}, "preempted"), ({"phase": "Failed", "reason": "DeadlineExceeded"}, "timeout"),
        ({"phase": "Failed", "reason": "OOMKilled"}, "failed"), ({"phase": "Unknown"}, "unknown"), ({"phase": ""}, "unknown"),
        ({"phase": "Pending", "node": "n1"}, "running"), ({"phase": "Pending", "started_at": "", "ended_at": ""}, "never started"),
    ],
)  # fmt: skip
def test_statuses(tmp_path: Path, cells: dict[str, str], status: str) -> None:
    taken = one(tmp_path, **{GPU: "1"}, **cells)
    assert taken.column("workloads", "status") == [status]
    assert ("holdings" in taken.tables) == (status != "never started")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [({"owner_kind": "PyTorchJob"}, "training"), ({"owner_kind": "InferenceService"}, "endpoint"), ({"owner_kind": "Job"}, None),
     ({"labels": {"notebook-name": "n"}}, "notebook"), ({"owner_kind": "ReplicaSet", "owner": "web-1"}, None)],
)  # fmt: skip
def test_kinds_are_told_only_by_what_means_them(tmp_path: Path, cells: dict[str, Any], kind: str | None) -> None:
    assert one(tmp_path, cpu="1", **cells).column("workloads", "kind") == [kind]


def test_a_deployment_is_the_parent(tmp_path: Path) -> None:
    taken = one(
        tmp_path,
        owner_kind="ReplicaSet",
        owner="web-6d4b",
        labels={"pod-template-hash": "6d4b", "Team": "atlas"},
        cpu="1",
    )
    assert taken.column("workloads", "parent") == ["atlas/web"]
    assert taken.labels("workloads", "tags")[0]["Team"] == "atlas"


def test_lives_of_one_pod_are_numbered(tmp_path: Path) -> None:
    later = {"started_at": "2031-04-02T00:00:00Z", "ended_at": "2031-04-02T02:00:00Z"}
    taken = take_text(pods({"pod": "web-0", GPU: "1"}, {"pod": "web-0", GPU: "1", **later}), tmp_path)
    assert taken.column("holdings", "attempt") == ["1", "2"]
    assert taken.column("workloads", "workload_id") == ["atlas/web-0"]
    assert taken.held_hours() == {"gpu": 3}


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({GPU: "-1"}, GPU), ({GPU: "one"}, GPU), ({"requests": "{"}, "requests"), ({"requests": {GPU: "x"}}, "requests"),
        ({"labels": "[]"}, "labels"), ({"phase": "Sleeping"}, "phase"), ({"ended_at": "2031-03-01T00:00:00Z"}, "ended_at"),
        ({"started_at": "1066-01-01"}, "started_at"), ({"pod": ""}, "pod"), ({GPU: "1e30"}, ""),
    ],
)  # fmt: skip
def test_a_pod_that_cannot_be_is_set_aside(tmp_path: Path, cells: dict[str, Any], column: str) -> None:
    taken = one(tmp_path, cpu="1", **cells)
    assert [(row, where) for row, where, _ in taken.rejects] == [(1, column)]
    assert not taken.tables


# --- JSON ---------------------------------------------------------------------------------------------------------


def listed(*items: Any) -> str:
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=2)


def pod(**changes: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "atlas", "name": "p"},
        "spec": {"nodeName": "n1", "containers": [{"resources": {"limits": {GPU: "2"}}}]},
        "status": {"phase": "Running", "startTime": "2031-04-01T00:00:00Z"}, **changes,
    }  # fmt: skip


def test_containers_add_up_and_the_largest_that_runs_before_counts(tmp_path: Path) -> None:
    containers = [{"resources": {"requests": {GPU: "1", "cpu": "500m"}}}, {"resources": {"requests": {"cpu": 2}}}]
    before = [
        {"resources": {"requests": {GPU: "3"}}},
        {"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
    ]
    spec = {"containers": containers, "initContainers": before}
    taken = take_text(listed(pod(spec=spec)), tmp_path)
    assert taken.column("holdings", "accelerator", "quantity") == [("gpu", "3.000000000000"), ("cpu", "3.500000000000")]


def test_an_end_is_that_of_the_last_container(tmp_path: Path) -> None:
    ends = ["2031-04-01T02:00:00Z", "2031-04-01T03:00:00Z", None]
    status = {
        "phase": "Succeeded", "startTime": "2031-04-01T00:00:00Z",
        "containerStatuses": [{"state": {"terminated": {"finishedAt": end}}} for end in ends],
    }  # fmt: skip
    assert take_text(listed(pod(status=status)), tmp_path).held_hours() == {"gpu": 6}


@pytest.mark.parametrize("form", ["list", "list of pods", "lines", "one"])
def test_forms(tmp_path: Path, form: str) -> None:
    bare = {name: value for name, value in pod().items() if name not in ("kind", "apiVersion")}
    text = {
        "list": listed(pod()), "one": json.dumps(pod()), "lines": json.dumps(pod()) + "\n" + json.dumps(pod()),
        "list of pods": json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [bare]}),
    }[form]  # fmt: skip
    taken = take_text(text, tmp_path)
    assert taken.plan.reader == "kubernetes"
    assert taken.plan.rows_read == (2 if form == "lines" else 1)
    assert taken.column("holdings", "quantity")[0] == "2.000000000000"


def test_an_empty_list_and_a_cut_off_file(tmp_path: Path) -> None:
    assert take_text('{"apiVersion": "v1", "kind": "PodList", "items": []}', tmp_path).plan.rows_read == 0
    taken = take_text(listed(pod(), pod())[:-40], tmp_path)
    assert taken.plan.rows_read == 2
    assert len(taken.rejects) == 1
    assert "not JSON" in taken.rejects[0][2]


def test_nodes_without_a_count_of_cut_cards_are_unknown(tmp_path: Path) -> None:
    node = {
        "kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1", "annotations": {"hami.io/node-nvidia-register": "x"}},
        "status": {"capacity": {GPU: "10", "cpu": "8"}},
    }  # fmt: skip
    taken = take_text(listed(node), tmp_path)
    assert taken.column("resources", "accelerator", "quantity") == [("gpu", None), ("cpu", "8.000000000000")]
    assert "plug-in" in taken.flags


def test_halves_of_characters_and_zero_bytes_do_no_harm(tmp_path: Path) -> None:
    text = listed(pod(metadata={"namespace": "a", "name": "p", "labels": {"x": "@", "y": "\x00", "z": "é"}}))
    taken = take_text(text.replace('"@"', '"\\ud800"'), tmp_path)
    assert len(taken.rejects) + len(taken.tables.get("workloads", [])) == taken.plan.rows_read == 1


def test_claims_are_said(tmp_path: Path) -> None:
    taken = take_text(listed(pod(spec={"containers": [], "resourceClaims": [{"name": "gpu"}]})), tmp_path)
    assert "claim devices through resourceClaims" in taken.flags


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PARTS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["Pod", "Node"])},
    optional={
        "metadata": ANYTHING
        | st.fixed_dictionaries({"name": ANYTHING, "labels": ANYTHING, "ownerReferences": ANYTHING}),
        "spec": ANYTHING | st.fixed_dictionaries({"containers": ANYTHING, "initContainers": ANYTHING}),
        "status": ANYTHING | st.fixed_dictionaries({"phase": ANYTHING, "capacity": ANYTHING, "startTime": ANYTHING}),
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(PARTS | ANYTHING, max_size=4))
def test_no_document_breaks_it_and_nothing_is_lost(tmp_path: Path, items: list[Any]) -> None:
    taken = take_text(listed(pod(), *items), tmp_path)
    assert taken.plan.rows_read == len(items) + 1
    assert taken.column("holdings", "workload_id")[0] == "atlas/p"
