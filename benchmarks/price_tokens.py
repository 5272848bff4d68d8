"""Pricing the spend log of a gateway: all calls by a join, beside one call at a time.

    python benchmarks/price_tokens.py [--rows N] [--sample N] [--folder F] [--json]

The log is made here, the same for the same number of rows, in the layout of LiteLLM's spend log: 25 models of five
providers, cache reads and writes in `metadata`, 2 % long prompts, 3 % of the calls of 500 models that nobody knows, 40 keys, 12
teams. Each part runs in a fresh process that is bound to one core.

load
    The log read into a ledger, each cell checked, until the file is closed.
price
    Ours: names matched, each call joined with the price in force when it was made, tier by the whole prompt, summed by model,
    key, team, month and state, exact decimals; price lists opened inside of the clock.
peer
    `genai_prices.calc_price` for each row of a sample, its counts parsed from the log outside of the clock, amounts added up.
    What a row takes is scaled to all rows: the ratio says so much. Pricing all of 5 million rows so would take hours.

Both must come to the same total over the priced calls of the sample, exactly.

Figures: `load_s`, `price_s`, `rows_per_s` (priced), `peer_us_per_row`, `ratio` (the peer's scaled time over ours),
`ratio_with_load`, `price_peak_rss_mib`, `load_peak_rss_mib`, `unpriced_rows`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from genai_prices import Usage, calc_price

from unitcost import money
from unitcost.facts.spend import Selection
from unitcost.jobs.calls import priced_calls
from unitcost.jobs.ingest import load
from unitcost.jobs.prices import open_models
from unitcost.jobs.workspace import open_workspace

PRICE_TARGET_S, RSS_TARGET_MIB = 60.0, 1024.0
#: Rows from which the targets are meant.
JUDGED_FROM = 5_000_000
AS_OF = "2026-11-30"
#: Models and their providers, as a gateway names them.
MODELS = (
    *((name, "openai") for name in ("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-5", "gpt-5-mini",
                                    "gpt-5-nano", "o3", "o4-mini", "gpt-5.5")),
    *((name, "anthropic") for name in ("claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-1")),
    *((name, "gemini") for name in ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.0-flash")),
    *((name, "deepseek") for name in ("deepseek-chat", "deepseek-reasoner")),
    *((name, "mistral") for name in ("mistral-large-latest", "mistral-small-latest")),
    *((name, "xai") for name in ("grok-4-0709", "grok-3")),
)  # fmt: skip
#: Column of the log -> DuckDB expression over i, m (the model), the counts p, r, w, o, and t.
LOG: dict[str, str] = {
    "request_id": "'chatcmpl-' || md5(i::VARCHAR)",
    "call_type": "'acompletion'",
    "api_key": "md5('key' || k)",
    "spend": "CASE WHEN unknown THEN 0 ELSE round((p * 2 + o * 8) / 1e6, 9) END",
    "total_tokens": "p + o",
    "prompt_tokens": "p",
    "completion_tokens": "o",
    "startTime": "strftime(t, '%Y-%m-%d %H:%M:%S.%g')",
    "endTime": "strftime(t + INTERVAL 3 SECOND, '%Y-%m-%d %H:%M:%S.%g')",
    "model": "CASE WHEN unknown THEN 'lab-special-' || (hash(i * 13) % 500) ELSE names[m] END",
    "custom_llm_provider": "CASE WHEN unknown THEN '' ELSE sellers[m] END",
    "user": "'user-' || (hash(i * 17) % 5000)",
    "team_id": "'team-' || (k % 12)",
    "cache_hit": "'False'",
    "status": "'success'",
    "metadata": '\'{{"user_api_key_alias":"key-\' || k || \'","user_api_key_team_alias":"team-\' || (k % 12) || '
    '\'","usage_object":{{"prompt_tokens":\' || p || \',"completion_tokens":\' || o || '
    '\',"prompt_tokens_details":{{"cached_tokens":\' || r || \',"cache_creation_tokens":\' || w || '
    '\',"cache_creation_token_details":{{"ephemeral_5m_input_tokens":\' || w || \',"ephemeral_1h_input_tokens":0}}}}}}}}\'',
}


def make_log(folder: Path, rows: int) -> Path:
    """Spend log of so many rows; made anew only when it is not there."""
    file = folder / f"spend-logs-{rows}.csv"
    if not file.exists():
        names, sellers = ([pair[place] for pair in MODELS] for place in (0, 1))
        columns = ", ".join(f'{sql.replace("{{", "{").replace("}}", "}")} AS "{name}"' for name, sql in LOG.items())
        source = (
            f"SELECT *, {names} AS names, {sellers} AS sellers, (fresh + r + w) AS p FROM (SELECT i, "
            f"1 + (hash(i) % {len(MODELS)})::BIGINT AS m, hash(i * 3) % 100 < 3 AS unknown, hash(i * 5) % 40 AS k, "
            "CASE WHEN hash(i * 7) % 50 = 0 THEN 200000 ELSE 0 END + hash(i * 7) % 6000 AS fresh, "
            "CASE WHEN hash(i * 11) % 2 = 0 THEN hash(i * 11) % 30000 ELSE 0 END AS r, "
            f"CASE WHEN sellers_of[1 + (hash(i) % {len(MODELS)})::BIGINT] = 'anthropic' THEN hash(i * 19) % 2000 ELSE 0 END AS w, "
            "hash(i * 23) % 2500 AS o, TIMESTAMP '2026-09-01' + to_milliseconds((hash(i * 29) % 7689600000)::BIGINT) AS t "
            f"FROM range({rows}) rows_(i), (SELECT {sellers} AS sellers_of))"
        )
        with duckdb.connect() as con:
            con.execute(f"COPY (SELECT {columns} FROM ({source})) TO '{file}' (HEADER)")
    return file


def do_load(file: Path, folder: Path) -> dict[str, Any]:
    """Read the log into the ledger of a folder."""
    outcome = load(open_workspace(folder, as_of=AS_OF), [str(file)])
    if outcome.failures:
        raise outcome.failures[0][1]
    return {"rows": outcome.rows_read}


def do_price(_: Path, folder: Path) -> dict[str, Any]:
    """Price what the ledger holds."""
    workspace = open_workspace(folder, as_of=AS_OF)
    with workspace.open_ledger() as ledger:
        found = priced_calls(ledger, open_models(workspace), workspace.settings, Selection())
    assert found is not None
    sums = [group.sum for group in found.groups]
    return {
        "total": money.text(money.add(s.cost for s in sums if s.group.state == "computed")),
        "priced_rows": sum(s.rows for s in sums if s.group.state == "computed"),
        "unpriced_rows": sum(s.rows for s in sums if s.group.state == "unpriced"), "groups": len(sums),
    }  # fmt: skip


def do_peer(file: Path, _: Path) -> dict[str, Any]:
    """Price the log row by row with genai-prices; its reading is outside of the clock."""
    calls = []
    with file.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            details = json.loads(row["metadata"])["usage_object"]["prompt_tokens_details"]
            usage = Usage(
                input_tokens=int(row["prompt_tokens"]), cache_read_tokens=details["cached_tokens"],
                cache_write_tokens=details["cache_creation_tokens"], output_tokens=int(row["completion_tokens"]),
            )  # fmt: skip
            seller = {"gemini": "google", "xai": "x-ai"}.get(row["custom_llm_provider"], row["custom_llm_provider"])
            calls.append((usage, row["model"], seller or None, datetime.fromisoformat(row["startTime"] + "+00:00")))
    start = time.perf_counter()
    amounts: list[Decimal] = []
    for usage, model, seller, at in calls:
        try:
            price = calc_price(usage, model, provider_id=seller, genai_request_timestamp=at)
        except LookupError:
            continue
        amounts.append(price.total_price)
    took_s = time.perf_counter() - start
    return {"total": money.text(money.add(amounts)), "priced_rows": len(amounts), "rows": len(calls), "clock_s": took_s}


TASKS = {"load": do_load, "price": do_price, "peer": do_peer}


def run_task(name: str, file: Path, folder: Path) -> None:
    """Do one task in this process, on one core, and print what it took."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    start = time.perf_counter()
    found = TASKS[name](file, folder)
    took_s = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {"took_s": took_s, "cpu_s": used.ru_utime + used.ru_stime, "peak_mib": used.ru_maxrss / 1024, **found}
        )
    )


def task(name: str, file: Path, folder: Path) -> dict[str, Any]:
    """What a task took in a fresh process."""
    command = [sys.executable, __file__, "--task", name, "--file", str(file), "--workspace", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def figures(folder: Path, rows: int, sample: int) -> dict[str, Any]:
    """All figures; stops when the two totals of the sample differ."""
    whole, part = make_log(folder, rows), make_log(folder, sample)
    with tempfile.TemporaryDirectory(dir=folder) as here:
        spaces = {name: Path(here, name) for name in ("whole", "part")}
        for space in spaces.values():
            space.mkdir()
        task("load", part, spaces["part"])
        peer, same = task("peer", part, spaces["part"]), task("price", part, spaces["part"])
        if (peer["total"], peer["priced_rows"]) != (same["total"], same["priced_rows"]):
            raise SystemExit(f"the totals of the sample differ: {peer} {same}")
        loaded, priced = task("load", whole, spaces["whole"]), task("price", whole, spaces["whole"])
    peer_s = peer["clock_s"] / peer["rows"] * rows
    return {
        "rows": rows, "load_s": round(loaded["took_s"], 1), "load_cpu_s": round(loaded["cpu_s"], 1),
        "price_s": round(priced["took_s"], 1), "price_cpu_s": round(priced["cpu_s"], 1),
        "rows_per_s": round(rows / priced["took_s"]), "sample_rows": peer["rows"],
        "peer_us_per_row": round(peer["clock_s"] / peer["rows"] * 10**6, 1), "peer_scaled_s": round(peer_s),
        "ratio": round(peer_s / priced["took_s"], 1), "ratio_with_load": round(peer_s / (priced["took_s"] + loaded["took_s"]), 1),
        "price_peak_rss_mib": round(priced["peak_mib"]), "load_peak_rss_mib": round(loaded["peak_mib"]),
        "unpriced_rows": priced["unpriced_rows"], "groups": priced["groups"],
    }  # fmt: skip


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=JUDGED_FROM, help="rows of the log")
    parser.add_argument("--sample", type=int, default=20_000, help="rows that the peer prices one by one")
    parser.add_argument("--folder", type=Path, help="where files are made and kept; a scratch folder by default")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--workspace", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.task:
        run_task(said.task, said.file, said.workspace)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = said.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = figures(folder, said.rows, said.sample)
    if said.json:
        print(json.dumps(found))
    else:
        targets = {"price_s": PRICE_TARGET_S, "price_peak_rss_mib": RSS_TARGET_MIB}
        for name, value in found.items():
            print(f"{name:20} {value:12,}" + (f"   target < {targets[name]:.0f}" if name in targets else ""))
    missed = found["price_s"] >= PRICE_TARGET_S or found["price_peak_rss_mib"] >= RSS_TARGET_MIB
    return int(missed and said.rows >= JUDGED_FROM)


if __name__ == "__main__":
    sys.exit(main())
