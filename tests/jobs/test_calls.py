"""What calls are joined with: months, exchange rates, tags that rules look at, sellers of bills."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from tests.call_files import AT, load_calls

from unitcost.attribution.periods import months_between
from unitcost.facts.call_sums import MOST_TOKENS
from unitcost.facts.rules import FxRate, Settings
from unitcost.facts.spend import Selection
from unitcost.facts.tokens import COUNTED
from unitcost.jobs.calls import priced_calls
from unitcost.jobs.sellers import seller
from unitcost.ledger import Ledger
from unitcost.prices.models import ModelBook
from unitcost.prices.own import read
from unitcost.prices.own_models import OwnModels


@pytest.fixture
def book(tmp_path: Path) -> ModelBook:
    (tmp_path / "p.csv").write_text("model,input_usd_per_mtok\notter,2\n", encoding="utf-8")
    return ModelBook([OwnModels("p.csv", read(tmp_path / "p.csv", name="p.csv", observed="2031-01-01").models)])


def test_months_of_a_zone_follow_each_other() -> None:
    first, last = datetime(2031, 1, 31, 23, 30, tzinfo=UTC), datetime(2031, 3, 1, tzinfo=UTC)
    found = months_between(first, last, "Europe/Berlin")
    assert [label for label, _, _ in found] == [
        "2031-02",
        "2031-03",
    ]  # half past midnight of the first of February there
    assert found[0][2] == found[1][1] == datetime(2031, 2, 28, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Amazon Web Services", "aws"), ("AWS", "aws"), ("Microsoft", "azure"), ("Google Cloud", "google"),
        ("OpenAI", "openai"), ("vertex_ai", "google"), ("bedrock", "aws"), ("", ""),
    ],
)  # fmt: skip
def test_a_seller_is_the_same_in_bills_and_calls(name: str, wanted: str) -> None:
    assert seller(name) == wanted


def test_calls_are_cut_at_months_and_at_exchange_rates(tmp_path: Path, book: ModelBook) -> None:
    rates = (FxRate(currency="EUR", since=AT.date().replace(day=8), rate=Decimal("1.1")),)
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        days = [AT.replace(day=7), AT.replace(day=8, hour=0), AT.replace(month=7, day=1, hour=0)]
        load_calls(ledger, tmp_path, [{"model": "otter", "input_tokens": 1, "called_at": at} for at in days])
        found = priced_calls(ledger, book, Settings(fx=rates), Selection())
    assert found is not None
    assert sorted((g.month, str(g.rate_since), g.sum.rows) for g in found.groups) == [
        ("2031-06", "2031-06-08", 1), ("2031-06", "None", 1), ("2031-07", "2031-06-08", 1),
    ]  # fmt: skip


def test_only_tags_that_rules_look_at_tell_calls_apart(tmp_path: Path, book: ModelBook) -> None:
    rows = [{"model": "otter", "input_tokens": 1, "tags": {"Team": "a", "trace": str(n)}} for n in range(50)]
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        load_calls(ledger, tmp_path, rows)
        found = priced_calls(ledger, book, Settings(), Selection())
    assert found is not None
    (group,) = found.groups
    assert (group.team, group.sum.rows, found.question.tag_keys) == ("a", 50, ("Team",))


def test_a_call_without_a_time_is_priced_where_one_price_holds_always(tmp_path: Path, book: ModelBook) -> None:
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        load_calls(ledger, tmp_path, [{"model": "otter", "input_tokens": 10**6, "called_at": None}, {"model": "otter"}])
        found = priced_calls(ledger, book, Settings(), Selection())
        june = priced_calls(ledger, book, Settings(), Selection(start=AT.date().replace(day=1)))
    assert found is not None
    assert june is not None
    assert [g.sum.cost for g in found.groups if g.sum.group.state == "computed"] == [2]
    assert sum(g.sum.rows for g in june.groups) == 1


def test_counts_beyond_all_sense_are_unpriced_and_stop_nothing(tmp_path: Path, book: ModelBook) -> None:
    rows = [{"model": "otter", "input_tokens": MOST_TOKENS + 1}, {"model": "otter", **dict.fromkeys(COUNTED, 2**62)}]
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        load_calls(ledger, tmp_path, rows)
        found = priced_calls(ledger, book, Settings(), Selection())
    assert found is not None
    assert {g.sum.group.state for g in found.groups} == {"unpriced"}


def test_ten_thousand_names_are_priced_or_named(tmp_path: Path, book: ModelBook) -> None:
    rows = [{"model": f"lab-{n}", "input_tokens": 1} for n in range(10_000)] + [{"model": "otter", "input_tokens": 1}]
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        load_calls(ledger, tmp_path, rows)
        found = priced_calls(ledger, book, Settings(), Selection())
    assert found is not None
    assert sum(g.sum.rows for g in found.groups if g.sum.group.state == "unpriced") == 10_000
    assert 0 < len(found.near) < 50


@pytest.mark.parametrize("model", ["azure/eu/gpt-4o", "bedrock/eu-central-1/anthropic.claude-v2:1"])
def test_a_zone_without_a_price_says_so(tmp_path: Path, book: ModelBook, model: str) -> None:
    with Ledger.open(tmp_path / "l.duckdb") as ledger:
        load_calls(ledger, tmp_path, [{"model": model, "input_tokens": 1}])
        found = priced_calls(ledger, book, Settings(), Selection())
    assert found is not None
    (group,) = found.groups
    assert group.sum.group.state == "unpriced"
    assert "Azure data zone" in group.reason
