"""Reading what is known about work: how fast, and in how much memory.

    python benchmarks/work.py [--sacct-rows N] [--runs K] [--folder F] [--json]

The file is made here, the same for the same number of rows. What stands beside what, each in a fresh process:

sacct
    A dump of `sacct -P -D` with a header and twenty columns: 2 % of the jobs have two lives, every fourth holds cards.
    Peer: DuckDB reads the file with every column as text and adds up GPU-hours and CPU-hours. Ours: the reader's two
    passes, each row checked and turned into a workload and its holdings, and the load into a ledger, until it is closed.
    Both must come to the same hours.

Figures: `sacct_rows_per_s`, `sacct_ratio` (ours over the peer's by the clock, best of K runs each), `sacct_cpu_ratio` (by
user and system time, which a busy machine changes less), `peak_rss_mib` (largest resident set of our process).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from unitcost import readers
from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkPlan
from unitcost.ledger import Ledger

RSS_TARGET_MIB = 1536.0
ZONE = "Europe/Berlin"
#: Column -> DuckDB expression over i, the row, and j, its job.
SACCT: dict[str, str] = {
    "JobID": "CASE WHEN j % 5 = 0 THEN (j // 50) || '_' || j % 50 ELSE j::VARCHAR END",
    "JobIDRaw": "j",
    "JobName": "'job-' || j % 5000",
    "Cluster": "'heron'",
    "Partition": "CASE WHEN j % 4 = 0 THEN 'gpu' ELSE 'cpu' END",
    "Account": "'account-' || j % 60",
    "User": "'user' || j % 900",
    "QOS": "'normal'",
    "State": "CASE WHEN i > j THEN 'PREEMPTED' WHEN j % 9 = 0 THEN 'CANCELLED by 1001' ELSE 'COMPLETED' END",
    "ExitCode": "'0:0'",
    "Submit": "strftime(t - INTERVAL 10 MINUTE, '%Y-%m-%dT%H:%M:%S')",
    "Start": "strftime(t, '%Y-%m-%dT%H:%M:%S')",
    "End": "strftime(t + to_seconds(s), '%Y-%m-%dT%H:%M:%S')",
    "ElapsedRaw": "s",
    "NNodes": "1",
    "NCPUS": "c",
    "ReqMem": "'64G'",
    "AllocTRES": "'billing=' || c || ',cpu=' || c || CASE WHEN j % 4 = 0 THEN ',gres/gpu:h100=' || g || ',gres/gpu=' || g "
    "ELSE '' END || ',mem=64G,node=1'",
    "NodeList": "'node' || j % 700",
    "WorkDir": "'/home/user' || j % 900",
}


def make_sacct(folder: Path, rows: int) -> Path:
    """Dump of so many rows; made anew only when it is not there. No time touches an hour that comes twice."""
    file = folder / f"sacct-{rows}.psv"
    if not file.exists():
        columns = ", ".join(f'{sql} AS "{name}"' for name, sql in SACCT.items())
        source = (
            "SELECT *, TIMESTAMP '2031-04-02' + to_seconds((hash(i) % 8000000)::BIGINT) AS t, (60 + hash(i * 3) % 90000)::BIGINT "
            "AS s, 1 + hash(i * 5) % 64 AS c, 1 + hash(i * 7) % 8 AS g FROM (SELECT i, CASE WHEN i % 50 = 1 THEN i - 1 ELSE i END "
            f"AS j FROM range({rows}) r(i))"
        )
        with duckdb.connect() as con:
            con.execute(f"COPY (SELECT {columns} FROM ({source})) TO '{file}' (DELIM '|', QUOTE '', ESCAPE '', HEADER)")
    return file


def peer_sacct(file: Path, _: Path) -> dict[str, Any]:
    """DuckDB by hand: hours of cards and of cores."""
    with duckdb.connect() as con:
        columns = ", ".join(f"'{name}': 'VARCHAR'" for name in SACCT)
        found = con.execute(
            "SELECT sum(coalesce(TRY_CAST(regexp_extract(AllocTRES, 'gres/gpu=(\\d+)', 1) AS BIGINT), 0) * s), "
            "sum(CAST(regexp_extract(AllocTRES, 'cpu=(\\d+)', 1) AS BIGINT) * s) FROM (SELECT *, CAST(ElapsedRaw AS BIGINT) AS s "
            f"FROM read_csv('{file}', delim = '|', quote = '', header = true, auto_detect = false, columns = {{{columns}}}))"
        ).fetchall()
    return {"gpu_held_s": int(found[0][0]), "cpu_held_s": int(found[0][1])}


def our_sacct(file: Path, folder: Path) -> dict[str, Any]:
    """Reader and ledger."""
    options = ReadOptions(timezone=ZONE)
    plan = readers.read(file, options, workdir=folder)
    assert isinstance(plan, WorkPlan)
    read_s = time.perf_counter()
    with Ledger.open(folder / "ledger.duckdb") as ledger:
        ledger.load(
            plan, file=file.name, sha256="0", source="bench", options=options, now=datetime(2031, 9, 1, tzinfo=UTC)
        )
    return {"read_until_s": read_s, "rejects": len(plan.rejects)}


def hours_sacct(folder: Path) -> dict[str, Any]:
    """What the ledger holds, asked after the clock has stopped."""
    with duckdb.connect(str(folder / "ledger.duckdb"), read_only=True) as con:
        rows = con.execute(
            "SELECT accelerator = 'cpu', CAST(sum(quantity * (epoch(ended_at) - epoch(started_at))::BIGINT) AS BIGINT) FROM "
            "holdings GROUP BY 1"
        ).fetchall()
    found = dict(rows)
    return {"gpu_held_s": found.get(False, 0), "cpu_held_s": found[True]}


PARTS = {"peer-sacct": peer_sacct, "our-sacct": our_sacct}


def run_part(part: str, file: Path) -> None:
    """Do one part in this process and print what it took."""
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        start = time.perf_counter()
        found = PARTS[part](file, Path(scratch))
        took_s = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_SELF)
        if "read_until_s" in found:
            found["read_s"] = found.pop("read_until_s") - start
            found |= hours_sacct(Path(scratch))
    stated = {"took_s": took_s, "cpu_s": used.ru_utime + used.ru_stime, "peak_mib": used.ru_maxrss / 1024}
    print(json.dumps({**stated, **found}))


def measured(part: str, file: Path, runs: int) -> dict[str, Any]:
    """Best of several fresh processes."""
    command = [sys.executable, __file__, "--part", part, "--file", str(file)]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(runs)
    ]
    return min(found, key=lambda each: float(each["took_s"]))


def sacct_figures(folder: Path, rows: int, runs: int) -> dict[str, float]:
    """Figures of the dump of sacct; stops when the two do not come to the same hours."""
    file = make_sacct(folder, rows)
    peer, ours = measured("peer-sacct", file, runs), measured("our-sacct", file, runs)
    if (peer["gpu_held_s"], peer["cpu_held_s"]) != (ours["gpu_held_s"], ours["cpu_held_s"]) or ours["rejects"]:
        raise SystemExit(f"the hours differ: {peer} {ours}")
    return {
        "sacct_rows_per_s": round(rows / ours["took_s"]),
        "sacct_ratio": round(ours["took_s"] / peer["took_s"], 1),
        "sacct_cpu_ratio": round(ours["cpu_s"] / peer["cpu_s"], 1),
        "sacct_s": round(ours["took_s"], 2),
        "sacct_read_s": round(ours["read_s"], 2),
        "sacct_peer_s": round(peer["took_s"], 2),
        "peak_rss_mib": round(ours["peak_mib"], 1),
    }


def main() -> int:
    """Measure, print, and return 1 when the memory is above its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sacct-rows", type=int, default=1_000_000, help="rows of the dump of sacct")
    parser.add_argument("--runs", type=int, default=1, help="runs of each; the best counts")
    parser.add_argument("--folder", type=Path, help="where files are made and kept; a scratch folder by default")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options.part, options.file)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = sacct_figures(folder, options.sacct_rows, options.runs)
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            target = f"   target < {RSS_TARGET_MIB:.0f}" if name == "peak_rss_mib" else ""
            print(f"{name:20} {value:12,}{target}")
    return int(found["peak_rss_mib"] >= RSS_TARGET_MIB)


if __name__ == "__main__":
    sys.exit(main())
