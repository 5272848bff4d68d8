"""Spot traces: conventions are asked for, wrong values are named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from unitcost.errors import BadFile, NeedsAnswer
from unitcost.readers import spot_traces
from unitcost.readers.spot_traces import read, region_of
from unitcost.units import GIB


def written(folder: Path, data, name: str = "us-east-1a.json", **about) -> Path:
    path = folder / name
    more = {key: about.pop(key) for key in ("prices",) if key in about}
    path.write_text(json.dumps({"metadata": {"gap_seconds": 60, **about}, "data": data, **more}), encoding="utf-8")
    return path


def test_a_file_that_says_its_convention_is_read(tmp_path: Path) -> None:
    trace = read(written(tmp_path, [0, 2, 3], convention="count of nodes up (0..nodes)", nodes=4, prices=[1, 2, 3.5]))
    assert (list(trace.counts), trace.nodes, trace.gap_s, trace.region) == ([0, 2, 3], 4, 60.0, "us-east-1")
    assert list(trace.spot_usd_per_hour or ()) == [1.0, 2.0, 3.5]


def test_an_ambiguous_file_is_refused_with_the_question(tmp_path: Path) -> None:
    path = written(tmp_path, [0, 1, 1])
    with pytest.raises(NeedsAnswer, match="available, or that it was preempted"):
        read(path)
    assert list(read(path, means="available").counts) == [0, 1, 1]
    assert list(read(path, means="preempted").counts) == [1, 0, 0]


def test_a_file_that_says_preempted_is_turned_round(tmp_path: Path) -> None:
    assert list(read(written(tmp_path, [0, 1, 1], convention="1 = preempted")).counts) == [1, 0, 0]


def test_the_length_of_a_tick_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "z.json"
    path.write_text('{"metadata": {"convention": "1 = available"}, "data": [1, 0]}')
    with pytest.raises(NeedsAnswer, match="how long"):
        read(path)
    assert read(path, gap_s=30.0).gap_s == 30.0


def test_prices_of_a_machine_become_those_of_a_node(tmp_path: Path) -> None:
    about = {"device": "h100_1", "nodes": 16, "spot_usd_h_8gpu": 16.0, "on_demand_usd_h_8gpu": 80.0}
    trace = read(written(tmp_path, [16, 0], convention="nodes that launched", **about))
    assert list(trace.spot_usd_per_hour or ()) == [2.0, 2.0]
    assert trace.on_demand_usd_per_hour == 10.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "JSON"),
        ("[1, 2]", "no `data` list"),
        ('{"data": [1, 0.5]}', "tick 1 is 0.5"),
        ('{"data": [1, "x"]}', "tick 1 is 'x'"),
        ('{"metadata": {"gap_seconds": 60, "convention": "up"}, "data": []}', "no ticks"),
        ('{"metadata": {"gap_seconds": -5, "convention": "up"}, "data": [1]}', "-5"),
        ('{"metadata": {"gap_seconds": 60, "convention": "up"}, "data": [1], "prices": [NaN]}', "price of tick 0"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "z.json"
    path.write_text(text)
    with pytest.raises(BadFile, match=message):
        read(path)


@pytest.mark.parametrize("name", ["huge.json", "huge.csv"])
def test_a_trace_of_two_gigabytes_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as stream:
        stream.truncate(2 * GIB)
    with pytest.raises(BadFile, match="2048 MiB; at most 256"):
        read(path)


def test_a_packed_trace_that_unpacks_to_more_is_streamed_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spot_traces, "MOST_TICKS", 1000)
    path = tmp_path / "z.csv.gz"
    path.write_bytes(gzip.compress(b"seconds,available\n" + b"".join(b"%d,1\n" % (30 * n) for n in range(1001))))
    with pytest.raises(BadFile, match="more than 1,000 ticks"):
        read(path)


def test_a_csv_of_one_column_is_read(tmp_path: Path) -> None:
    path = tmp_path / "z.csv"
    path.write_text("available\n1\n0\n1\n")
    assert list(read(path, gap_s=60.0).counts) == [1, 0, 1]


def test_a_csv_of_available_ticks_is_read(tmp_path: Path) -> None:
    path = tmp_path / "us-central1-a.csv"
    path.write_text("seconds,available,usd_per_hour\n0,1,0.5\n30,0,0.6\n60,1,0.7\n")
    trace = read(path)
    assert (list(trace.counts), trace.gap_s, trace.region) == ([1, 0, 1], 30.0, "us-central1")
    assert list(trace.spot_usd_per_hour or ()) == [0.5, 0.6, 0.7]


def test_a_csv_of_uneven_ticks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "z.csv"
    path.write_text("seconds,available\n0,1\n30,0\n95,1\n")
    with pytest.raises(BadFile, match="tick 2 comes 65 s"):
        read(path)


def test_a_csv_of_zeros_and_ones_called_count_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "z.csv"
    path.write_text("seconds,count\n0,1\n30,0\n")
    with pytest.raises(NeedsAnswer):
        read(path)


@pytest.mark.parametrize(
    ("zone", "region"), [("us-east-1a", "us-east-1"), ("europe-west3-c", "europe-west3"), ("eastus", "eastus")]
)
def test_a_zone_lies_in_its_region(zone: str, region: str) -> None:
    assert region_of(zone) == region


def test_every_shared_trace_is_read(shared_data: Path) -> None:
    paths = sorted((shared_data / "spot").rglob("*.json"))
    traces = [read(path) for path in paths]
    assert len(traces) >= 20
    assert all(max(trace.counts) <= trace.nodes for trace in traces)
