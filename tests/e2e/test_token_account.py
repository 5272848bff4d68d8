"""Calls in the ledger, through the report, the check and explain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import pytest

from tests.call_files import AT, load_calls
from tests.e2e.conftest import AS_OF, Desk
from unitcost import money
from unitcost.figure import Rows, recompute
from unitcost.jobs.call_rows import call_groups
from unitcost.jobs.calls import priced_calls
from unitcost.jobs.explain import RowReader
from unitcost.jobs.prices import open_models
from unitcost.jobs.review import review
from unitcost.jobs.selecting import parse_tag, select
from unitcost.jobs.token_sums import number
from unitcost.jobs.workspace import open_workspace
from unitcost.ledger import Ledger

_CLASSES = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
PRICES = "\n".join([
    ",".join(["model", "provider", "prompt_tokens_over", *(f"{c}_usd_per_mtok" for c in _CLASSES)]),
    "otter,lab,,2,0.2,2.5,4,8",
    "otter,lab,200000,4,0.4,5,8,16",
    "heron,lab,,1,0.5,,,4",
])  # fmt: skip
SETTINGS = '[prices]\nfiles = ["prices.csv"]\nself_hosted = ["own-*"]\n'


@pytest.fixture
def lab(desk: Desk) -> Desk:
    """A desk with prices of its own."""
    desk.write("prices.csv", PRICES)
    desk.write("unitcost.toml", SETTINGS)
    return desk


def put(desk: Desk, rows: Iterable[Mapping[str, Any]], name: str = "calls") -> None:
    """Put calls into the ledger of a desk; they are of the model `otter` unless a row says otherwise."""
    with Ledger.open(desk.folder / ".unitcost" / "ledger.duckdb") as ledger:
        load_calls(ledger, desk.folder, [{"provider": "lab", "model": "otter", **row} for row in rows], name=name)


def tokens(desk: Desk, *arguments: str) -> dict[str, Any]:
    """Token account of the JSON report."""
    return dict(desk.report(*arguments)["tokens"])


def test_each_class_is_priced_once_and_by_its_own_price(lab: Desk) -> None:
    put(lab, [{"input_tokens": 3_000, "cache_read_tokens": 9_000, "output_tokens": 500, "key": "k1"}])
    found = tokens(lab)
    line = found["models"]["USD"]["lab/otter"]
    assert Decimal(line["cost"]) == Decimal("0.0118")
    assert (line["input_tokens"], line["output_tokens"], line["calls"]) == (12_000, 500, 1)
    assert Decimal(line["per_mtok_input"]) == Decimal("0.0078") / 12_000 * 10**6
    assert Decimal(line["per_mtok_output"]) == 8
    assert Decimal(line["per_mtok_blended"]) == Decimal("0.944")
    assert line["blend"] == "96.00 % input"
    assert line["price_records"]
    (cache,) = found["prompt_cache"]
    assert (cache["hit_share"], cache["saved"], cache["earned_by"]) == ("0.7500", "0.0162", "provider")
    assert Decimal(cache["ceiling"]) == Decimal("0.0216")


def test_the_whole_prompt_chooses_the_tier_of_every_class(lab: Desk) -> None:
    put(lab, [
        {"input_tokens": 150_000, "cache_read_tokens": 50_000, "output_tokens": 1_000},
        {"input_tokens": 150_000, "cache_read_tokens": 50_001, "output_tokens": 1_000},
    ])  # fmt: skip
    below = 150_000 * 2 + 50_000 * Decimal("0.2") + 1_000 * 8
    above = 150_000 * 4 + 50_001 * Decimal("0.4") + 1_000 * 16
    assert Decimal(tokens(lab)["spend"]["USD"]) * 10**6 == below + above


def test_a_reported_zero_a_missing_cost_and_an_estimate_are_three_things(lab: Desk) -> None:
    put(lab, [
        {"reported_cost": "0", "reported_currency": "USD", "cost_basis": "measured", "input_tokens": 1_000, "status": "cached"},
        {"input_tokens": 1_000},
        {"model": "kea", "input_tokens": 1_000, "reported_cost": "0.005", "reported_currency": "USD", "cost_basis": "estimated"},
        {"model": "kea", "input_tokens": 1_000, "reported_cost": "0", "reported_currency": "USD", "cost_basis": "estimated"},
        {"input_tokens": 1_000, "reported_cost": "0.003", "reported_currency": "USD", "cost_basis": "measured"},
        {"input_tokens": 1_000, "reported_cost": "0.004", "reported_currency": "USD", "cost_basis": "estimated"},
    ])  # fmt: skip
    found = tokens(lab)
    states = {name: Decimal(amount) for name, amount in found["states"]["USD"].items()}
    assert states == {
        "cached": Decimal(0), "measured": Decimal("0.003"), "computed": Decimal("0.004"), "estimated": Decimal("0.005"),
    }  # fmt: skip
    assert found["unpriced_tokens"] == 1_000  # an estimate of zero says nothing
    apart = found["apart"]["USD"]["answered from the gateway's cache"]
    assert (apart["calls"], apart["cost"], apart["avoided"]) == (1, "0", "0.002")
    (compared,) = found["reported_and_computed"]
    assert (compared["reported"], compared["computed"], compared["rows"]) == ("0.007", "0.004", 2)


def test_failures_retries_and_broken_answers_are_counted_apart_and_paid(lab: Desk) -> None:
    put(lab, [
        {"input_tokens": 1_000_000, "status": "failed", "attempt": 1, "accepted": False},
        {"input_tokens": 1_000_000, "status": "ok", "attempt": 2, "accepted": True},
        {"input_tokens": 1_000_000, "output_tokens": 10, "status": "aborted"},
    ])  # fmt: skip
    found = tokens(lab)
    apart = {name: (row["calls"], Decimal(row["cost"])) for name, row in found["apart"]["USD"].items()}
    assert apart["failed"] == (1, Decimal(4))
    assert apart["retries"] == (1, Decimal(4))
    assert apart["aborted, cost is a lower bound"] == (1, Decimal("4.00016"))
    line = found["models"]["USD"]["lab/otter"]
    assert (Decimal(line["cost"]), line["low"], line["high"]) == (Decimal("12.00016"), "12.00016", None)
    assert Decimal(line["per_accepted"]) == Decimal("12.00016")


def test_a_cache_written_for_an_unknown_time_has_a_range(lab: Desk) -> None:
    put(lab, [{"input_tokens": 0, "cache_write_tokens": 100_000, "output_tokens": 0, "key": "waste"}])
    found = tokens(lab)
    line = found["models"]["USD"]["lab/otter"]
    assert (line["cost"], line["low"], line["high"]) == ("0.25", "0.25", "0.4")
    assert any("default lifetime" in note for note in found["notes"])
    (cache,) = found["prompt_cache"]
    assert (cache["key"], cache["saved"], cache["earned_by"]) == ("waste", "-0.05", "caller")  # written and never read


def test_a_sum_of_calls_has_the_tier_of_its_mean_and_a_range(lab: Desk) -> None:
    put(lab, [{"requests": 10, "input_tokens": 1_000_000}])
    line = tokens(lab)["models"]["USD"]["lab/otter"]
    assert (line["calls"], line["cost"], line["low"], line["high"]) == (10, "2", "2", "4")


def test_calls_are_owned_by_the_rules_for_charges(lab: Desk) -> None:
    lab.write(
        "unitcost.toml",
        SETTINGS
        + """
[owners.team]
from = ["tags.team"]
rules = [ { when = "resource_id = 'sk-7'", is = "risk" } ]
""",
    )
    put(lab, [
        {"input_tokens": 1_000_000, "tags": {"Team": "search", "trace": "1"}},
        {"input_tokens": 2_000_000, "tags": {"team": "search", "trace": "2"}, "key": "sk-7"},
        {"input_tokens": 4_000_000, "tags": {"trace": "3"}, "key": "sk-8"},
    ])  # fmt: skip
    found = tokens(lab)
    teams = {name: Decimal(line["cost"]) for name, line in found["teams"]["USD"].items()}
    assert teams == {"search": 4, "risk": 8, "untagged": 16}
    assert {name: line["cost"] for name, line in found["keys"]["USD"].items()} == {
        "(none)": "4",
        "sk-7": "8",
        "sk-8": "16",
    }


def test_two_currencies_are_not_added_without_a_rate(lab: Desk) -> None:
    rows = [
        {"reported_cost": "100", "reported_currency": "USD", "cost_basis": "measured"},
        {"reported_cost": "50", "reported_currency": "EUR", "cost_basis": "measured"},
    ]
    put(lab, rows)
    assert tokens(lab)["spend"] == {"EUR": "50", "USD": "100"}
    lab.write("unitcost.toml", SETTINGS + "[fx]\nEUR = [ { from = 2031-06-01, usd = 1.20 } ]\n")
    assert tokens(lab)["spend"] == {"USD": "160"}


def test_a_month_has_its_own_calls(lab: Desk) -> None:
    put(lab, [{"input_tokens": 1_000_000}, {"input_tokens": 3_000_000, "called_at": AT.replace(month=5)}])
    assert tokens(lab, "--month", "2031-05")["spend"]["USD"] == "12"
    assert tokens(lab, "--month", "2031-06")["spend"]["USD"] == "4"
    assert tokens(lab)["spend"]["USD"] == "16"


def test_an_unknown_model_is_unpriced_with_its_near_names(lab: Desk) -> None:
    put(lab, [
        {"model": "heron", "input_tokens": 2_000_000}, {"model": "herron", "input_tokens": 6_000_000},
        {"model": "own-heron-32b", "input_tokens": 1_000_000},
    ])  # fmt: skip
    found = tokens(lab)
    assert found["coverage"] == "0.2500"
    assert found["spend"] == {"USD": "2"}
    (one,) = found["unpriced"]
    assert (one["model"], one["tokens"], one["near"][0]) == ("herron", 6_000_000, "heron")
    assert found["self_hosted_tokens"] == {"own-heron-32b": 1_000_000}
    failed = lab.run("check", "--min-coverage", "0.95", "--as-of", AS_OF)
    assert failed.exit_code == 3
    assert "herron" in failed.output
    assert "`heron`" in failed.output
    assert lab.run("check", "--min-coverage", "0.2", "--as-of", AS_OF).exit_code == 0


def test_every_figure_can_be_made_again_from_the_rows(lab: Desk) -> None:
    put(lab, [
        {"input_tokens": 12_345, "cache_read_tokens": 777, "output_tokens": 99, "key": "a", "tags": {"team": "x"}},
        {"input_tokens": 2_345, "output_tokens": 9, "key": "b", "accepted": True},
        {"model": "heron", "output_tokens": 11, "reported_cost": "0.5", "reported_currency": "EUR", "cost_basis": "measured"},
        {"model": "nobody", "output_tokens": 11},
    ])  # fmt: skip
    workspace = open_workspace(lab.folder, as_of=AS_OF)
    report = review(workspace, select(workspace.settings))
    with workspace.open_ledger() as ledger:
        priced = priced_calls(ledger, open_models(workspace), workspace.settings, report.selection)
    assert priced is not None

    def leaf(rows: Rows) -> Decimal:
        assert rows.table == "calls"
        groups = call_groups(priced, rows)
        assert sum(group.sum.rows for group in groups) == rows.row_count
        return number(rows.column, (group.sum for group in groups))

    figures = report.figures()
    assert sum(figure.op == "rows" for figure in figures.values()) > 20
    for figure in figures.values():
        assert recompute(figure, leaf) == figure.value, figure.id


def test_explain_unfolds_a_cost_to_calls_and_price_records(lab: Desk) -> None:
    put(lab, [{"input_tokens": 1_000_000, "output_tokens": 5}, {"input_tokens": 500_000, "key": "k"}])
    line = tokens(lab)["models"]["USD"]["lab/otter"]
    result = lab.run("explain", line["figure"], "--json", "--as-of", AS_OF)
    assert result.exit_code == 0, result.output
    text = json.dumps(json.loads(result.stdout))
    assert all(record in text for record in line["price_records"])
    assert '"file": "calls.csv"' in text
    words = lab.run("explain", line["figure"], "--as-of", AS_OF).output
    assert "calls.csv:1" in words
    assert "price records price-" in " ".join(words.split())


def test_parts_of_the_account_add_up_to_it(lab: Desk) -> None:
    put(
        lab,
        [
            {"input_tokens": 1_000 * place, "key": f"k{place % 90}", "tags": {"team": f"t{place % 7}"}}
            for place in range(1, 200)
        ],
    )
    found = tokens(lab)
    for name in ("models", "teams", "projects", "keys"):
        costs = [Decimal(line["cost"]) for line in found[name]["USD"].values()]
        assert money.add(costs) == Decimal(found["spend"]["USD"])
    assert "other (30)" in found["keys"]["USD"]


BILL = (
    "BilledCost,EffectiveCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,"
    "ServiceProviderName,ServiceName,ServiceCategory,ResourceId,ChargeDescription,Tags\n"
    '30,30,USD,2031-06-10,2031-06-11,2031-06-01,2031-07-01,lab,API,AI and Machine Learning,,tokens,"{""driver"":""LLM API""}"\n'
    "48,48,USD,2031-06-10,2031-06-12,2031-06-01,2031-07-01,lab,API,AI and Machine Learning,ptu-1,"
    'Provisioned Throughput Units,"{""driver"":""LLM API""}"\n'
    '240,240,USD,2031-06-10,2031-06-11,2031-06-01,2031-07-01,AWS,EC2,Compute,chat,GPU,"{""driver"":""serving"",""project"":""chat""}"\n'
)
OUTPUTS = "service,day,unit,quantity\nchat,2031-06-10,input tokens,90000000\nchat,2031-06-10,output tokens,10000000\n"


@pytest.fixture
def billed(lab: Desk) -> Desk:
    """A desk with a bill for calls, reserved throughput and a machine that serves, and a million tokens of calls."""
    lab.load(str(lab.write("bill.csv", BILL)), str(lab.write("outputs.csv", OUTPUTS)))
    put(
        lab,
        [{"input_tokens": 1_000_000, "called_at": AT}, {"output_tokens": 500_000, "called_at": AT.replace(minute=59)}],
    )
    return lab


def test_calls_and_own_serving_stand_in_one_table_and_the_report_closes(billed: Desk) -> None:
    report = billed.report()
    (section,) = [section for section in report["sections"] if section["key"] == "tokens"]
    table = section["tables"][0]
    rows = {row[0]: row for row in table["rows"]}
    names = [column["name"] for column in table["columns"]]
    assert (rows["chat"][1], rows["lab/otter"][1]) == ("own machines", "API")
    blended = names.index("per M blended")
    assert rows["chat"][blended]["value"] == "2.4"  # 240 USD over 100 million tokens
    assert Decimal(rows["lab/otter"][blended]["value"]) == money.divide(Decimal(8), Decimal("1.5"))
    assert "90.00 % input" in rows["chat"][-1]
    assert report["total"] == {"USD": "318"}  # the bill alone
    assert sum(Decimal(amount) for amount in report["drivers"]["USD"].values()) == 318


def test_the_bill_wins_and_the_difference_is_shown(billed: Desk) -> None:
    (row,) = tokens(billed)["bills"]["USD"]
    assert row == {
        "provider": "lab",
        "month": "2031-06",
        "billed": "78",
        "called": "8",
        "difference": "70",
        "counts": "78",
    }


def test_reserved_throughput_is_spread_over_its_use(billed: Desk) -> None:
    (row,) = tokens(billed)["reserved"]["USD"]
    assert (row["name"], row["cost"], row["tokens"]) == ("ptu-1", "48", 1_500_000)
    assert Decimal(row["per_mtok"]) == 32
    assert (row["used_hours"], row["paid_hours"], row["unused"]) == ("1", "48", "47")


def test_explain_unfolds_what_was_not_used(billed: Desk) -> None:
    (row,) = tokens(billed)["reserved"]["USD"]
    result = billed.run("explain", row["figure"], "--json", "--as-of", AS_OF)
    assert result.exit_code == 0, result.output
    assert "bill.csv" in result.stdout


def test_the_html_report_shows_the_account(billed: Desk) -> None:
    page = billed.folder / "report.html"
    result = billed.run("report", "--html", str(page), "--as-of", AS_OF)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "lab/otter" in text
    assert "own machines" in text


def test_one_currency_alone_can_be_asked_for(lab: Desk) -> None:
    eur = {"reported_cost": "50", "reported_currency": "EUR", "cost_basis": "measured"}
    put(lab, [{**eur, "input_tokens": 1}, {"input_tokens": 1_000_000}])
    workspace = open_workspace(lab.folder, as_of=AS_OF)
    report = review(workspace, select(workspace.settings), currency="EUR")
    assert report.answers["tokens"]["spend"] == {"EUR": "50"}


def test_tokens_on_a_bill_have_a_price_without_calls(desk: Desk) -> None:
    header = (
        "BilledCost,EffectiveCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,"
        "ServiceProviderName,ServiceName,ServiceCategory,SkuMeter,ConsumedQuantity,ConsumedUnit\n"
    )
    days = "USD,2031-06-10,2031-06-11,2031-06-01,2031-07-01,AWS,Amazon Bedrock,AI and Machine Learning"
    rows = f"6,6,{days},USE1-Nova-input-tokens,7500,1K tokens\n4,4,{days},USE1-Nova-output-tokens,1250,1K tokens\n"
    desk.load(str(desk.write("bill.csv", header + rows)))
    found = tokens(desk)
    (line,) = found["metered"]
    assert (line["provider"], line["input_tokens"], line["per_mtok_input"]) == ("aws", "7500000", "0.8")
    assert (line["output_tokens"], line["per_mtok_output"]) == ("1250000", "3.2")
    assert (line["cost"], line["blend"]) == ("10", "85.71 % input")
    assert line["per_mtok_blended"].startswith("1.142857142857142857")
    assert found["models"] == {}
    assert found["coverage"] is None
    (row,) = (
        line for line in desk.run("report", "--section", "tokens").stdout.splitlines() if line.startswith("Nova ")
    )
    assert row.split() == ["Nova", "API", "bill", "10.00", "0.8000", "3.200", "1.143", "85.71", "%", "input"]


def test_own_machines_alone_have_a_price_per_million_tokens(desk: Desk) -> None:
    usage = "resource,start,end,quantity,usd_per_hour\nheron,2031-06-10T00:00:00Z,2031-06-10T01:00:00Z,1,3.20\n"
    made = "heron,2031-06-10,input tokens,12000000\nheron,2031-06-10,output tokens,3000000\n"
    desk.load(str(desk.write("usage.csv", usage)), "--currency", "USD", "--provider", "own")
    desk.load(str(desk.write("made.csv", "service,day,unit,quantity\n" + made)))
    line = tokens(desk)["own"]["USD"]["heron"]
    assert (line["cost"], line["blend"]) == ("3.2", "80.00 % input")
    assert desk.run("report", "--section", "tokens").exit_code == 0


def test_a_model_on_own_machines_is_not_called_an_api(lab: Desk) -> None:
    put(
        lab,
        [{"model": "own-heron", "provider": "", "input_tokens": 1_000}, {"input_tokens": 1_000, "output_tokens": 1}],
    )
    lines = lab.run("report", "--section", "tokens").stdout.splitlines()
    (row,) = (line for line in lines if line.startswith("own-heron"))
    assert "own machines" in row


def bucket(day: int, count: int) -> dict[str, Any]:
    """A day of June 2031 in an answer of OpenAI's usage API: calls of 1,000 tokens in and out."""
    start = int((AT.replace(day=day, hour=0)).timestamp())
    result = {
        "object": "organization.usage.completions.result", "input_tokens": 1_000 * count, "output_tokens": 1_000 * count,
        "input_cached_tokens": 0, "num_model_requests": count, "model": "otter-2031-01-01",
    }  # fmt: skip
    return {"object": "bucket", "start_time": start, "end_time": start + 86_400, "results": [result]}


@pytest.fixture
def reported(desk: Desk) -> Desk:
    """A desk with a usage report of two days: two calls on the 10th, three on the 11th."""
    desk.write("prices.csv", "model,provider,input_usd_per_mtok,output_usd_per_mtok\notter,openai,2,8\n")
    desk.write("unitcost.toml", '[prices]\nfiles = ["prices.csv"]\naliases = { "otter-2031-01-01" = "openai/otter" }\n')
    page = {"object": "page", "data": [bucket(10, 2), bucket(11, 3)], "has_more": False}
    desk.load(str(desk.write("usage.json", json.dumps(page))))
    return desk


def test_a_usage_report_beside_the_calls_of_its_days_counts_once(reported: Desk) -> None:
    assert tokens(reported)["spend"] == {"USD": "0.05"}
    put(reported, [{"provider": "", "model": "openai/otter", "input_tokens": 1_000, "output_tokens": 1_000}] * 2)
    found = tokens(reported)
    line = found["models"]["USD"]["openai/otter"]
    assert (line["cost"], line["input_tokens"], line["calls"]) == ("0.05", 5_000, 5)
    assert (found["priced_tokens"], found["states"]) == (10_000, {"USD": {"computed": "0.05"}})
    (note,) = [note for note in found["notes"] if "usage report" in note]
    assert "openai tells of 4,000 tokens on days of 2031-06" in note
    checked = reported.run("check", "--min-coverage", "1")
    assert (checked.exit_code, "100.0 % of 10,000" in checked.output) == (0, True)


@pytest.mark.parametrize(
    "apart", [{"status": "cached"}, {"model": "own-otter"}, {"called_at": None}, {"provider": "lab"}]
)
def test_calls_that_a_provider_never_saw_leave_its_usage_report_alone(reported: Desk, apart: dict[str, Any]) -> None:
    reported.write("unitcost.toml", (reported.folder / "unitcost.toml").read_text() + 'self_hosted = ["own-*"]\n')
    put(reported, [{"provider": "openai", "model": "otter", "input_tokens": 1_000, "output_tokens": 1_000, **apart}])
    line = tokens(reported)["models"]["USD"]["openai/otter"]
    assert line["input_tokens"] - 1_000 * ("provider" not in apart and "model" not in apart) == 5_000


def test_two_usage_reports_of_one_day_count_once(reported: Desk) -> None:
    activity = "date,model,n_context_tokens_total,n_generated_tokens_total,n_requests\n2031-06-10,otter-2031-01-01,2000,2000,2\n"
    reported.load(str(reported.write("activity.csv", activity)))
    found = tokens(reported)
    assert found["models"]["USD"]["openai/otter"]["input_tokens"] == 5_000
    assert any("4,000 tokens" in note for note in found["notes"])


@pytest.mark.parametrize("limit", [1, None])
def test_calls_behind_many_figures_are_those_behind_each(lab: Desk, limit: int | None) -> None:
    rows = [
        {"input_tokens": 100 * n, "output_tokens": n, "key": f"k{n % 3}", "model": m}
        for n in range(1, 7)
        for m in ("otter", "kea")
    ]
    put(lab, rows)
    workspace = open_workspace(lab.folder, as_of=AS_OF)
    figures = review(workspace, parse_tag("all,effective")).figures().values()
    leaves = [figure for figure in figures if figure.rows is not None and figure.rows.table == "calls"]
    assert len(leaves) > 5
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, (), workspace)
        together = reader.read_all(leaves, limit)
        assert together == [reader.read(leaf, limit) for leaf in leaves]
    assert any(together)


def test_the_title_says_what_is_there_instead_of_charges(lab: Desk) -> None:
    put(lab, [{"input_tokens": 1_000_000}])
    assert lab.report()["title"] == "Calls of models, without charges"
    assert "Calls of models, without charges" in lab.run("report", "--as-of", AS_OF).stdout
