"""Prompt and prediction caches on a plan through the jobs and the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from unitcost.cli import cli
from unitcost.facts.rentals import Rental
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import plan_serve
from unitcost.jobs.plan_serve_levers import pull_levers
from unitcost.jobs.plan_serve_page import serve_page
from unitcost.jobs.plan_words import as_data
from unitcost.jobs.serve_answers import ServeAsk
from unitcost.jobs.serve_cache import CacheTerms
from unitcost.jobs.workspace import open_workspace
from unitcost.serving.search import Limits

LOST = ("off", "blocks", "room", "routing", "timing")


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    own = Rental(
        accelerator="H100-80GB", machine="m", count=1, usd_per_hour=Decimal("2.50"), category="on-demand", region="r",
        source="test", as_of=date(2026, 7, 1),
    )  # fmt: skip
    return Prices(open_workspace(tmp_path, as_of="2026-07-01"), own=[own])


def asking(trace: Path) -> ServeAsk:
    return ServeAsk(
        model="llama-3.1-8b", limits=Limits(ttft_p95_s=1.0, tpot_p95_s=0.06), trace=trace, gpus=("H100-80GB",),
        precisions=("bf16",),
    )  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Pairs of prompts that begin alike; every fourth request is one that came before."""
    rows = []
    for i in range(240):
        which = i if i % 4 else i // 8
        rows.append(f"{i * 0.1:.1f},1536,60,{which // 2 * 10} {which // 2 * 10 + 1} {1000 + which},{which}")
    path = tmp_path / "trace.csv"
    path.write_text("timestamp,input_tokens,output_tokens,hash_ids,key\n" + "\n".join(rows) + "\n")
    return path


def test_the_account_of_the_prompt_cache_adds_up_and_is_shown(prices: Prices, trace: Path) -> None:
    plan, _ = plan_serve(asking(trace), prices)
    assert plan.prompt_cache is not None
    account = plan.prompt_cache.account
    assert account is not None
    lost = sum(getattr(account, f"lost_to_{reason}_tokens") for reason in LOST)
    assert account.found_tokens + lost == account.ceiling_tokens
    assert account.found_tokens > 0
    assert plan.prompt_cache.nothing_because == ""
    section = next(one for one in serve_page(plan).sections if one.key == "prompt-cache")
    assert section.tables[0].rows[-1][:2] == ("ceiling", f"{account.ceiling_tokens:,}")
    data = as_data(plan)["prompt_cache"]["account"]
    assert data["ceiling_tokens"] == account.ceiling_tokens


def test_without_hashes_there_is_no_account(prices: Prices, tmp_path: Path) -> None:
    bare = tmp_path / "bare.csv"
    bare.write_text("timestamp,input_tokens,output_tokens\n" + "".join(f"{i},500,20\n" for i in range(60)))
    plan, searched = plan_serve(asking(bare), prices)
    assert plan.prompt_cache is None
    rows = {row.lever: row for row in pull_levers(plan.ask, searched, prices, ()).rows}
    assert "does not say which requests are equal" in rows["prediction cache"].remark


def test_a_prediction_cache_is_played_and_paid(prices: Prices, trace: Path) -> None:
    ask = replace(
        asking(trace), cache=CacheTerms(entries=1000, usd_per_gb_month=Decimal(0), lookup_usd_per_1k=Decimal(0))
    )
    plan, searched = plan_serve(ask, prices)
    rows = {row.lever: row for row in pull_levers(ask, searched, prices, ()).rows}
    free = rows["prediction cache"]
    hits = 240 - len({i if i % 4 else i // 8 for i in range(240)})
    assert f"exact hits {hits / 240:.1%} of 240 requests" in free.remark
    assert "exact keys only" in free.remark
    assert free.quality.startswith("same answers")
    assert plan.chosen is not None
    paid = replace(ask, cache=CacheTerms(entries=1000, lookup_usd_per_1k=Decimal(1)))
    dear = {row.lever: row for row in pull_levers(paid, searched, prices, ()).rows}["prediction cache"]
    assert dear.usd_per_month > free.usd_per_month
    assert "don't" in dear.remark


def test_a_profile_with_keys_has_a_prediction_cache(tmp_path: Path) -> None:
    bench, requests = tmp_path / "bench.csv", tmp_path / "requests.csv"
    bench.write_text("option,batch,latency_ms,usd_per_hour\nL4,1,400,2.50\n")
    lines = [f"{i * 0.25},1,1,text {i // 4}" for i in range(4_000)]
    requests.write_text("timestamp,input_tokens,output_tokens,text\n" + "\n".join(lines) + "\n")
    words = ["plan", "serve", "--profile", str(bench), "--trace", str(requests), "--e2e-p95", "1s"]
    found = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert found["chosen"]["replicas"] == 2
    assert found["cache"]["replicas"] == 1
    # one replica less at 60 a day; 345,600 lookups a day at 0.001 per 1,000 and little storage
    assert float(found["cache"]["usd_per_day"]) == pytest.approx(60 + 0.3456 + 0.013, abs=0.02)
    assert "saves" in found["cache"]["remark"]
    none = [*words, "--cache-ttl", "100ms"]
    assert json.loads(CliRunner().invoke(cli, [*none, "--json"]).stdout)["cache"]["replicas"] == 2
    volume = CliRunner().invoke(cli, [*words[:4], "--predictions-per-day", "1m"])
    assert "does not say which requests are equal" in " ".join(volume.stdout.split()).replace("The trace", "the trace")
