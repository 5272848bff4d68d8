"""Lists of nodes, and how what a life held is divided over them."""

from __future__ import annotations

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from work_files import Taken, load, take_text

from unitcost.readers.work.slurm_nodes import MOST_NODES, nodes_of, part_cells

HEADER = "JobID|Account|State|Start|End|NNodes|AllocTRES|NodeList"
DAY = "2031-04-01"


def job(tmp_path: Path, tres: str, nodes: str, count: str = "", **said: Any) -> Taken:
    row = f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|{count}|{tres}|{nodes}"
    return take_text(f"{HEADER}\n{row}\n", tmp_path, **{"timezone": "UTC", **said})


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("node[01-04,07],gpu-a", "node01 node02 node03 node04 node07 gpu-a"),
        ("n[8-10]", "n8 n9 n10"),
        ("n[098-101]", "n098 n099 n100 n101"),
        ("r[1-2]n[1-2]-ib", "r1n1-ib r1n2-ib r2n1-ib r2n2-ib"),
        ("cpn-f13-03-[01-02],cpn-f13-04-[01]", "cpn-f13-03-01 cpn-f13-03-02 cpn-f13-04-01"),
        ("a,b, a", "a b"),
        ("[1-2]", "1 2"),
        ("", ""),
    ],
)
def test_lists(text: str, nodes: str) -> None:
    assert " ".join(nodes_of(text)) == nodes


@pytest.mark.parametrize("text", [
    "n[1-", "n1]", "n[]", "n[a-b]", "n[4-1]", "n[1-9/2]", "n[1,,2]", "n[[1-2]]", ",n1", "n1 n2",
    f"n[1-{MOST_NODES + 1}]", "n[1-999999999999999999]", "n[1-300][1-300]", "n[1-60000],m[1-60000]",
])  # fmt: skip
def test_what_is_no_list_or_too_long(text: str) -> None:
    with pytest.raises(ValueError, match=r"list of nodes|range of numbers|before it begins|more than 65,536"):
        nodes_of(text)


@given(
    first=st.integers(0, 10**6), count=st.integers(1, 200), width=st.integers(1, 8), suffix=st.sampled_from(["", "-ib"])
)
def test_a_range_is_each_of_its_numbers(first: int, count: int, width: int, suffix: str) -> None:
    start = f"{first:0{width}}"
    expected = tuple(f"n{number:0{len(start)}}{suffix}" for number in range(first, first + count))
    assert nodes_of(f"n[{start}-{first + count - 1}]{suffix}") == expected


@given(quantity=st.decimals(0, 10**6, places=12), count=st.integers(1, 64))
def test_parts_add_up_exactly_and_in_millionths(quantity: Decimal, count: int) -> None:
    parts = [Fraction(cell) for cell in part_cells(quantity, count)]
    assert sum(parts) == Fraction(quantity)
    # The ledger adds up millionths, each holding rounded; a job must come to as many as it would undivided.
    half = Fraction(1, 2)
    assert sum(int(part * 10**6 + half) for part in parts) == int(Fraction(quantity) * 10**6 + half)


def test_each_node_holds_its_part(tmp_path: Path) -> None:
    loaded = job(tmp_path, "billing=96,cpu=128,gres/gpu:h100=16,gres/gpu=16,node=2", "node[01-02]", "2")
    found = loaded.column("holdings", "node", "accelerator", "quantity", "billing_weight")
    assert found == [
        ("node01", "cpu", "64.000000000000", "96.000000000000"), ("node02", "cpu", "64.000000000000", None),
        ("node01", "H100", "8.000000000000", None), ("node02", "H100", "8.000000000000", None),
    ]  # fmt: skip
    assert loaded.held_hours() == {"cpu": 128, "H100": 16}
    assert not loaded.flags.replace("Times without a zone are in UTC, as the user says.", "")
    assert "uneven_cards" not in loaded.labels("workloads", "tags")[0]


def test_cards_that_do_not_divide_evenly_are_said(tmp_path: Path) -> None:
    loaded = job(tmp_path, "cpu=8,gres/gpu=10", "n[1-3]", "3")
    parts = loaded.column("holdings", "node", "accelerator", "quantity")[3:]
    assert parts == [("n1", "gpu", "3.333333000000"), ("n2", "gpu", "3.333333000000"), ("n3", "gpu", "3.333334000000")]
    assert loaded.held_hours() == {"cpu": 8, "gpu": 10}
    assert loaded.labels("workloads", "tags")[0]["uneven_cards"] == "10 gpu on 3 nodes"
    assert "do not divide evenly by their nodes, each of which counts with an equal part: 1." in loaded.flags


def test_a_list_that_is_not_understood_gives_no_node(tmp_path: Path) -> None:
    loaded = job(tmp_path, "cpu=8,gres/gpu=10", "bgl[000x733]", "3")
    assert loaded.column("holdings", "node") == [None, None]
    assert loaded.held_hours() == {"cpu": 8, "gpu": 10}
    assert "list of nodes is not understood, so that no machine is known to be theirs: 1." in loaded.flags


def test_a_list_that_is_longer_than_said_counts(tmp_path: Path) -> None:
    loaded = job(tmp_path, "gres/gpu=4", "n[1-4]", "2")
    assert loaded.column("holdings", "node") == ["n1", "n2", "n3", "n4"]
    assert "has not as many as the dump says beside it" in loaded.flags


def test_an_unknown_part_of_a_card_is_unknown_on_each_node(tmp_path: Path) -> None:
    loaded = job(tmp_path, "cpu=2,gres/shard=4", "n[1-2]")
    assert loaded.column("holdings", "node", "quantity")[2:] == [("n1", None), ("n2", None)]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("n1[]-,0 9"), max_size=12))
def test_no_list_breaks_the_reader(tmp_path: Path, text: str) -> None:
    assert job(tmp_path, "cpu=8,gres/gpu=10", text).held_hours() == {"cpu": 8, "gpu": 10}


def test_jobs_of_a_real_dump_stand_on_all_their_nodes(tmp_path: Path, shared_bills: Path) -> None:
    path = shared_bills / "slurm_xdmod_phillips.log"
    loaded = load(path, tmp_path, timezone="America/New_York")
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream, delimiter="|", quoting=csv.QUOTE_NONE))
    expected = {(f"{row[2]}/{row[0]}", int(row[17])) for row in rows if row[24] != "None assigned"}
    found = loaded.ask("SELECT workload_id, count(DISTINCT node) FROM holdings WHERE accelerator = 'cpu' GROUP BY 1")
    assert set(found) == expected
    assert max(count for _, count in expected) > 4
    assert "nodes" not in "".join(loaded.plan.flags)
