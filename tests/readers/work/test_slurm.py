"""Slurm's accounting: real dumps add up, and each oddity of `sacct` has its answer."""

from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from work_files import SAMPLES, Taken, load, shown, take_text

from unitcost.errors import BadFile, BadSetting, NeedsAnswer, UnknownName

HEADER = "JobID|Account|State|Start|End|ElapsedRaw|AllocTRES"
DAY = "2031-04-01"


def dump(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


def one(tmp_path: Path, row: str, header: str = HEADER, **said: Any) -> Taken:
    return take_text(dump(row, header=header), tmp_path, **{"timezone": "UTC", **said})


def test_sample(tmp_path: Path, golden: Any) -> None:
    loaded = load(SAMPLES / "slurm.psv", tmp_path, timezone="Europe/Berlin")
    golden(SAMPLES / "slurm.golden", shown(loaded, "workloads", "holdings"))


# --- real dumps ---------------------------------------------------------------------------------------------------


def test_phillips_adds_up(tmp_path: Path, shared_bills: Path) -> None:
    path = shared_bills / "slurm_xdmod_phillips.log"
    loaded = load(path, tmp_path, timezone="America/New_York")
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream, delimiter="|", quoting=csv.QUOTE_NONE))
    expected: dict[str, Fraction] = Counter()
    for row in rows:
        counts = dict(entry.split("=") for entry in row[22].split(","))
        days, _, clock = row[14].rpartition("-")
        hours, minutes, seconds = map(int, clock.split(":"))
        lasted = Fraction(int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + seconds, 3600)
        expected["cpu"] += int(counts["cpu"]) * lasted
        expected["gpu"] += int(counts.get("gres/gpu", 0)) * lasted
    assert loaded.held_hours() == expected
    assert expected["gpu"] > 500
    assert (loaded.record.rows_read, loaded.record.rows_rejected) == (len(rows), 0) == (4285, 0)
    assert loaded.ask("SELECT count(*), count(DISTINCT workload_id) FROM workloads") == [(4285, 4285)]
    waited = sum(row[24] == "None assigned" for row in rows)
    assert loaded.ask("SELECT count(*) FROM workloads WHERE status = 'never started'") == [(waited,)]
    words = Counter(row[16].split()[0].lower() for row in rows if row[24] != "None assigned")
    assert dict(loaded.ask("SELECT status, count(DISTINCT workload_id) FROM holdings GROUP BY 1")) == words


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("slurm_gcm_sacct.txt", {}),
        ("slurm_gcm_sacct_running.txt", {}),
        ("slurm_gcm_sacct_midnight.txt", {"timezone": "America/Los_Angeles"}),
    ],
)
def test_dumps_with_steps_add_up(tmp_path: Path, shared_bills: Path, name: str, said: dict[str, str]) -> None:
    lines = (shared_bills / name).read_text().splitlines()
    sign = re.findall(r"[^A-Za-z]+", lines[0])[0]
    rows = [dict(zip(lines[0].split(sign), line.split(sign), strict=True)) for line in lines[1:]]
    jobs = [row for row in rows if "." not in row["JobID"]]
    loaded = load(shared_bills / name, tmp_path, **said)
    assert (loaded.record.rows_read, loaded.record.rows_rejected) == (len(rows), 0)
    assert loaded.ask("SELECT count(*) FROM workloads") == [(len(jobs),)]
    assert f"Steps of jobs, which are left out: {len(rows) - len(jobs):,}." in loaded.plan.flags
    lasted = sum((datetime.fromisoformat(j["End"]) - datetime.fromisoformat(j["Start"])).total_seconds() for j in jobs)
    found = loaded.ask("SELECT coalesce(sum(epoch_us(ended_at) - epoch_us(started_at)), 0) FROM holdings")[0][0]
    assert Fraction(int(found), 10**6) == lasted
    assert loaded.held_hours() == {}  # these dumps name no resources for whole jobs: unknown, not zero
    assert ("do not say what they held" in "".join(loaded.plan.flags)) == bool(jobs)


def test_steps_and_requeues_case(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "30-slurm-steps-and-requeues"
    loaded = load(case / "input.psv", tmp_path, timezone="UTC")
    hours = loaded.held_hours()
    assert sum(hours[name] for name in hours if name != "cpu") == 22
    cut = loaded.held_hours("status IN ('preempted', 'failed') AND accelerator <> 'cpu'")
    assert sum(cut.values()) * 2 == 20  # USD, at 2.00 an hour
    lives = loaded.ask(
        "SELECT attempt, status FROM holdings WHERE workload_id = '500' AND accelerator = 'cpu' ORDER BY 1"
    )
    assert lives == [(1, "preempted"), (2, "completed")]
    assert loaded.ask("SELECT account, count(*) FROM workloads GROUP BY 1 ORDER BY 1") == [("atlas", 1), ("birch", 2)]


# --- building of the file -----------------------------------------------------------------------------------------

ROW = {"JobID": "7", "State": "COMPLETED", "Start": f"{DAY}T00:00:00", "End": f"{DAY}T02:00:00",
       "AllocTRES": "cpu=8,gres/gpu=4", "JobName": "train", "Account": "atlas"}  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.permutations(list(ROW)), sign=st.sampled_from(["|", "|#", "^", "\t", ";", "~", " :: "]), cut=st.booleans()
)
def test_any_order_of_columns_and_any_delimiter(tmp_path: Path, order: list[str], sign: str, cut: bool) -> None:
    end = sign if cut else ""
    text = f"{sign.join(order)}{end}\n{sign.join(ROW[name] for name in order)}{end}\n"
    loaded = take_text(text, tmp_path, timezone="UTC")
    assert loaded.held_hours() == {"cpu": 16, "gpu": 8}
    assert loaded.column("workloads", "workload_id", "name", "account", "status") == [
        ("7", "train", "atlas", "completed")
    ]


def test_a_csv_that_a_data_frame_wrote(tmp_path: Path) -> None:
    text = ',JobID,State,Start,End,AllocTRES\r\n0,7,COMPLETED,2031-04-01 00:00:00,2031-04-01 02:00:00,"cpu=8,gres/gpu=4"\r\n'
    assert take_text(text, tmp_path, timezone="UTC").held_hours() == {"cpu": 16, "gpu": 8}
    quoted = '"JobID","State","Start","End","AllocTRES"\n' + text.splitlines()[1].partition(",")[2] + "\n"
    assert take_text(quoted, tmp_path, timezone="UTC").held_hours() == {"cpu": 16, "gpu": 8}


def test_a_dump_without_header_says_where_its_fields_stand(tmp_path: Path) -> None:
    text = f"atlas|7|COMPLETED|{DAY}T00:00:00|{DAY}T02:00:00|gres/gpu=4\n"
    with pytest.raises(BadFile, match="no header"):
        take_text(text, tmp_path, timezone="UTC")
    columns = {"Account": "1", "JobID": "2", "State": "3", "Start": "4", "End": "5", "AllocTRES": "6"}
    loaded = take_text(text, tmp_path, reader="slurm", columns=columns, timezone="UTC")
    assert loaded.held_hours() == {"gpu": 8}
    assert loaded.plan.dialect == "sacct without header, columns as the user says"
    with pytest.raises(BadSetting, match="'9'"):
        take_text(text, tmp_path, reader="slurm", columns={**columns, "End": "9"}, timezone="UTC")
    with pytest.raises(UnknownName, match="did you mean `Account`"):
        take_text(text, tmp_path, reader="slurm", columns={**columns, "Acount": "1"}, timezone="UTC")


def test_a_name_may_hold_the_delimiter_where_it_comes_last(tmp_path: Path) -> None:
    header = "JobID|State|Start|End|NCPUS|JobName"
    loaded = one(tmp_path, f'7|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|2|"a|b" \'; DROP TABLE workloads', header=header)
    assert loaded.column("workloads", "name") == ['"a|b" \'; DROP TABLE workloads']


def test_odd_rows_are_set_aside_and_the_rest_loads(tmp_path: Path) -> None:
    good = f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2"
    loaded = take_text(
        dump(
            good, "8|a|COMPLETED", HEADER, good.replace("7|a", "seven|a"), good.replace("7|a", "9|a").replace("cpu=2", "cpu=-2"),
            good.replace("7|a", "10|a").replace(f"{DAY}T01", f"{DAY}T25"), good.replace("7|a", "11|a").replace("2031", "0031"),
            f"12|a|COMPLETED|{DAY}T02:00:00|{DAY}T01:00:00|3600|cpu=2", good.replace("7|a", "13|a").replace("cpu=2", "cpu=1e30"),
            good.replace("7|a", "14|a").replace("cpu=2", "cpu=NaN"), "|\x1b|", good.replace("7|a", "15.x y|a"),
        ),
        tmp_path, timezone="UTC",
    )  # fmt: skip
    assert [(row, column) for row, column, _ in loaded.rejects] == [
        (2, ""), (3, "JobID"), (4, "JobID"), (5, "AllocTRES"), (6, "End"), (7, "Start"), (8, "End"), (9, "AllocTRES"),
        (10, "AllocTRES"), (11, ""), (12, "JobID"),
    ]  # fmt: skip
    assert loaded.plan.rows_read == 12
    assert loaded.held_hours() == {"cpu": 2}


TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.lists(st.text(TEXT, max_size=12), min_size=1, max_size=8).map("|".join), max_size=6))
def test_no_text_breaks_it_and_nothing_is_lost(tmp_path: Path, rows: list[str]) -> None:
    text = dump(f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2", *rows)
    loaded = take_text(text.encode("utf-8", "replace"), tmp_path, timezone="UTC")
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]
    assert loaded.plan.rows_read == len(lines) - 1
    assert loaded.held_hours()["cpu"] >= 2


# --- jobs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("COMPLETED", "completed"), ("FAILED", "failed"), ("NODE_FAIL", "crashed"), ("OUT_OF_MEMORY", "failed"),
        ("OUT_OF_ME+", "failed"), ("CANCELLED by 1001", "cancelled"), ("CANCELLED+", "cancelled"), ("TIMEOUT", "timeout"),
        ("DEADLINE", "timeout"), ("PREEMPTED", "preempted"), ("REQUEUED", "preempted"), ("RUNNING", "running"),
        ("CD", "completed"), ("SLEEPWALKING", "unknown"), ("", "unknown"),
    ],
)  # fmt: skip
def test_states(tmp_path: Path, state: str, status: str) -> None:
    loaded = one(tmp_path, f"7|a|{state}|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2")
    assert loaded.column("workloads", "status") == loaded.column("holdings", "status") == [status]
    assert ("not known here" in loaded.flags) == (status == "unknown")


@pytest.mark.parametrize(
    ("tres", "held"),
    [
        ("cpu=4,gres/gpu:h100=4,gres/gpu=4", {"cpu": 4, "H100": 4}),
        ("gres/gpu=4,gres/gpu:a100=2,gres/gpu:h100=1", {"A100": 2, "H100": 1, "gpu": 1}),
        ("gres/gpu:h100=8", {"H100": 8}),
        ("cpu=1,gres/gpu:a100_1g.5gb=7,gres/gpu=7", {"cpu": 1, "A100": 1}),
        ("cpu=1,gres/nic=2,license/matlab=1,bb/datawarp=10", {"cpu": 1}),
        ("cpu=1,gres/gpu=0", {"cpu": 1}),
    ],
)
def test_cards_are_counted_once(tmp_path: Path, tres: str, held: dict[str, Fraction]) -> None:
    assert one(tmp_path, f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|{tres}").held_hours() == held


def test_shards_are_an_unknown_part_of_a_card(tmp_path: Path) -> None:
    loaded = one(tmp_path, f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2,gres/shard=4")
    assert loaded.column("holdings", "accelerator", "quantity") == [("cpu", "2.000000000000"), ("gpu", None)]
    assert "shards" in loaded.flags


def test_old_versions_list_generic_resources(tmp_path: Path) -> None:
    header = "JobID|State|Start|End|AllocTRES|AllocGRES|AllocCPUS|AllocNodes|ReqMem"
    row = f"7|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00||gpu:tesla:4,craynetwork:1|16|2|31000Mn"
    loaded = one(tmp_path, row, header=header)
    assert loaded.held_hours() == {"cpu": 16, "tesla": 4}
    assert loaded.labels("workloads", "metrics") == [{"memory_bytes": str(2 * 31_000 * 2**20)}]


def test_what_was_asked_for_counts_only_where_nothing_else_is_there(tmp_path: Path) -> None:
    header = "JobID|State|Start|End|ReqTRES"
    loaded = one(tmp_path, f"7|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|cpu=2,gres/gpu=1", header=header)
    assert loaded.held_hours() == {"cpu": 2, "gpu": 1}
    assert "what they asked for" in loaded.flags


def test_the_billing_weight_adds_up(tmp_path: Path) -> None:
    loaded = one(
        tmp_path, f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|billing=12.5,cpu=4,gres/gpu:h100=1,gres/gpu=1"
    )
    assert loaded.column("holdings", "billing_weight") == ["12.500000000000", None]


LIVES = [
    f"7|a|PREEMPTED|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2", f"7|a|NODE_FAIL|{DAY}T02:00:00|{DAY}T03:00:00|3600|cpu=2",
    f"7|a|RUNNING|{DAY}T04:00:00|Unknown|60|cpu=2",
]  # fmt: skip


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_lives_are_numbered_by_their_start(tmp_path: Path, order: list[int]) -> None:
    loaded = take_text(dump(*(LIVES[i] for i in order)), tmp_path, timezone="UTC")
    found = loaded.column("holdings", "attempt", "status", "ended_at")
    ends = (f"{DAY} 01:00:00.000000", f"{DAY} 03:00:00.000000")
    assert found == [("1", "preempted", ends[0]), ("2", "crashed", ends[1]), ("3", "running", None)]
    workload = loaded.column("workloads", "status", "started_at", "ended_at")
    assert workload == [("running", f"{DAY} 00:00:00.000000", None)]
    assert "still running when the dump was made, and so have no end: 1." in loaded.flags


def test_a_life_that_two_exports_state_counts_once_with_its_end(tmp_path: Path) -> None:
    done = f"7|a|COMPLETED|{DAY}T04:00:00|{DAY}T06:00:00|7200|cpu=2"
    for rows in ([LIVES[2], done, LIVES[2]], [done, LIVES[2], done]):
        loaded = take_text(dump(*rows), tmp_path, timezone="UTC")
        assert loaded.held_hours() == {"cpu": 4}
        assert loaded.column("workloads", "status") == ["completed"]
        assert "a life which another row states too: 2;" in loaded.flags


@pytest.mark.parametrize(
    ("last", "status"),
    [("PENDING|Unknown|Unknown|0|", "preempted"), (f"CANCELLED by 5|None|{DAY}T09:00:00|0|", "cancelled")],
)
def test_a_job_that_waits_again_has_run_before(tmp_path: Path, last: str, status: str) -> None:
    loaded = take_text(dump(LIVES[0], f"7|a|{last}"), tmp_path, timezone="UTC")
    assert loaded.column("workloads", "status") == [status]
    assert loaded.held_hours() == {"cpu": 2}


@pytest.mark.parametrize("row", [
    "7|a|PENDING|Unknown|Unknown|0|", f"7|a|CANCELLED by 5|None|{DAY}T09:00:00|0|", "7_[1-5%2]|a|PENDING|Unknown|Unknown|0|",
])  # fmt: skip
def test_a_job_that_never_started_holds_nothing(tmp_path: Path, row: str) -> None:
    loaded = one(tmp_path, row)
    assert loaded.column("workloads", "status", "started_at") == [("never started", None)]
    assert "holdings" not in loaded.tables


def test_clusters_do_not_mix(tmp_path: Path) -> None:
    header = "Cluster|JobID|State|Start|End|NCPUS"
    rows = [f"{name}|7_1|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|2" for name in ("heron", "wren")]
    loaded = take_text(dump(*rows, header=header), tmp_path, timezone="UTC")
    assert loaded.column("workloads", "workload_id", "parent") == [("heron/7_1", "heron/7"), ("wren/7_1", "wren/7")]
    assert loaded.column("holdings", "workload_id", "attempt") == [("heron/7_1", "1"), ("wren/7_1", "1")]
    named = one(tmp_path, f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2", provider="heron")
    assert named.column("workloads", "workload_id") == ["heron/7"]


# --- time ---------------------------------------------------------------------------------------------------------


def test_local_times_ask_for_their_zone(tmp_path: Path) -> None:
    row = f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T01:00:00|3600|cpu=2"
    with pytest.raises(NeedsAnswer, match="unknown zone"):
        one(tmp_path, row, timezone="")
    stated = row.replace("T00:00:00", "T00:00:00+02:00").replace("T01:00:00", "T01:00:00+02:00")
    loaded = one(tmp_path, stated, timezone="")
    assert loaded.column("holdings", "started_at") == ["2031-03-31 22:00:00.000000"]
    epochs = row.replace(f"{DAY}T00:00:00", "1932768000").replace(f"{DAY}T01:00:00", "1932771600")
    assert one(tmp_path, epochs, timezone="").held_hours() == {"cpu": 2}


FOLD = "2031-10-26"


@pytest.mark.parametrize(
    ("start", "end", "elapsed", "hours", "said"),
    [
        (
            "02:30:00",
            "02:45:00",
            "900",
            Fraction(1, 4),
            "the first is taken",
        ),  # both in the same pass of the hour, but which?
        ("02:30:00", "02:15:00", "2700", Fraction(3, 4), "their length tells"),
        ("01:30:00", "02:30:00", "3600", 1, "their length tells"),
        ("01:30:00", "02:30:00", "7200", 2, "their length tells"),
        ("01:30:00", "03:30:00", "10800", 3, ""),
        ("02:30:00", "04:00:00", "", Fraction(5, 2), "the first is taken"),
    ],
)
def test_the_hour_that_comes_twice(
    tmp_path: Path, start: str, end: str, elapsed: str, hours: Fraction, said: str
) -> None:
    row = f"7|a|COMPLETED|{FOLD}T{start}|{FOLD}T{end}|{elapsed}|cpu=1"
    loaded = one(tmp_path, row, timezone="Europe/Berlin")
    assert loaded.held_hours() == {"cpu": hours}
    assert said in loaded.flags
    assert ("twice" in loaded.flags) == bool(said)
    assert "elapsed time is not" not in loaded.flags


def test_a_length_that_is_not_from_start_to_end_is_said(tmp_path: Path) -> None:
    loaded = one(tmp_path, f"7|a|COMPLETED|{DAY}T00:00:00|{DAY}T02:00:00|3600|cpu=1")
    assert loaded.held_hours() == {"cpu": 2}
    assert "row 1: 7,200 s, stated 3,600 s" in loaded.flags


def test_suspended_time_counts_as_held(tmp_path: Path) -> None:
    header = "JobID|State|Start|End|Elapsed|Suspended|NCPUS"
    loaded = one(tmp_path, f"7|COMPLETED|{DAY}T00:00:00|{DAY}T02:00:00|01:30:00|00:30:00|1", header=header)
    assert loaded.held_hours() == {"cpu": 2}
    assert "suspended: 1, for 1,800 seconds" in loaded.flags
    assert "elapsed time is not" not in loaded.flags
