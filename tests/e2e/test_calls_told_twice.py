"""Calls that are told twice: by rows of one id that differ, and by two sources that have no id in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.call_exports import Traffic, langfuse, litellm, otel, renamed, traffic
from tests.e2e.conftest import AS_OF, Desk

EXPORTS: dict[str, Callable[[list[Traffic]], str]] = {"litellm": litellm, "otel-genai": otel, "langfuse": langfuse}
PRICES = "model,provider,input_usd_per_mtok,output_usd_per_mtok\notter,lab,2,8\nheron,lab,1,4\n"
SETTINGS = '[prices]\nfiles = ["prices.csv"]\naliases = { "otter-2031-05-01" = "lab/otter", "heron-2031-05-01" = "lab/heron" }\n'
QUESTION = "Does each call of a model count once?"


@pytest.fixture
def lab(desk: Desk) -> Desk:
    """A desk with prices of its own."""
    desk.write("prices.csv", PRICES)
    desk.write("unitcost.toml", SETTINGS)
    return desk


def put(desk: Desk, reader: str, calls: list[Traffic], name: str = "") -> dict[str, Any]:
    """Load calls as one of the sources writes them; returns what the load says of the file."""
    path = desk.write(f"{name or reader}.json", EXPORTS[reader](calls))
    (found,) = desk.load(str(path))["files"]
    assert (found["reader"], found["rows_rejected"]) == (reader, 0)
    return dict(found)


def tokens(desk: Desk) -> dict[str, Any]:
    """Token account of the report."""
    return dict(desk.report()["tokens"])


def counted(found: dict[str, Any]) -> tuple[int, int, int]:
    """Calls, input and output tokens of an account."""
    lines = [line for by_unit in found["models"].values() for line in by_unit.values()]
    calls, fresh, made = (sum(line[name] for line in lines) for name in ("calls", "input_tokens", "output_tokens"))
    return calls, fresh, made


def once(desk: Desk) -> dict[str, Any]:
    """The check of calls that are told twice."""
    result = desk.run("check", "--json", "--as-of", AS_OF)
    (found,) = [check for check in json.loads(result.stdout)["checks"] if check["question"] == QUESTION]
    return dict(found)


@pytest.mark.parametrize("reader", EXPORTS)
def test_a_later_statement_of_a_call_counts_and_the_earlier_is_named(lab: Desk, reader: str) -> None:
    call = Traffic(id="c1", taken=1_000, made=40)
    put(lab, reader, [call, Traffic(id="c2")])
    said = put(lab, reader, [replace(call, made=55)], name="later")
    found = tokens(lab)
    assert counted(found) == (2, 2_000, 155)
    assert found["statements"] == {"same": 0, "superseded": 1, "shared": 0}
    named = [note for note in said["notes"] if "fuller or later row" in note]
    assert len(named) == 1
    assert f"{reader}.json:1 has 1,000 + 40 tokens" in named[0]
    assert "later.json:1 has 1,000 + 55 tokens" in named[0]
    checked = once(lab)
    assert checked["verdict"] == "warn"
    assert named[0] in checked["answer"]
    assert any("1 row states other tokens" in note for note in found["notes"])


@pytest.mark.parametrize("reader", EXPORTS)
def test_the_statement_that_ended_last_counts_whatever_the_order_of_rows(lab: Desk, reader: str) -> None:
    final = Traffic(id="c1", taken=900, made=300)
    partial = replace(final, made=12)
    text = EXPORTS[reader]([final, partial])
    # The stream was cut short two seconds before the end of the whole answer.
    early = final.ended - timedelta(seconds=2)
    rows = text.split("\n") if reader == "otel-genai" else json.loads(text)
    last = rows[1] if reader != "otel-genai" else json.loads(rows[1])
    if reader == "otel-genai":
        last["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["endTimeUnixNano"] = str(int(early.timestamp()) * 10**9)
        text = f"{rows[0]}\n{json.dumps(last)}"
    else:
        last["endTime"] = early.isoformat()
        text = json.dumps(rows)
    lab.load(str(lab.write("calls.json", text)))
    assert counted(tokens(lab)) == (1, 900, 300)


def test_another_cost_of_the_same_tokens_is_another_statement(lab: Desk) -> None:
    header = "call_id,called_at,model,provider,input_tokens,output_tokens,reported_cost,reported_currency\n"
    row = "c1,2031-06-10T12:00:00Z,otter,lab,1000,100,{},USD\n"
    lab.load(str(lab.write("calls.csv", header + row.format("0.003") + row.format("0.005"))))
    found = tokens(lab)
    assert found["spend"] == {"USD": "0.005"}
    assert found["statements"]["superseded"] == 1
    assert "for 0.003 USD" in once(lab)["answer"]


@pytest.mark.parametrize("reader", EXPORTS)
def test_calls_of_one_id_at_other_times_all_count_and_are_named(lab: Desk, reader: str) -> None:
    first = Traffic(id="chat-7")
    put(lab, reader, [first, replace(first, at=first.at + timedelta(minutes=5), made=200)])
    found = tokens(lab)
    assert counted(found) == (2, 2_000, 300)
    assert found["statements"] == {"same": 0, "superseded": 0, "shared": 2}
    assert "2 calls share an id with calls at another time" in once(lab)["answer"]


def test_a_failed_try_and_its_repetition_under_one_id_are_two_calls(lab: Desk) -> None:
    failed = Traffic(id="c1", taken=0, made=0, cost="0", status="failure")
    put(lab, "litellm", [failed, Traffic(id="c1")])
    found = tokens(lab)
    assert counted(found) == (2, 1_000, 100)
    assert found["statements"]["superseded"] == 0


@pytest.mark.parametrize("pair", [("litellm", "otel-genai"), ("litellm", "langfuse"), ("langfuse", "otel-genai")])
def test_two_sources_without_a_common_id_are_told(lab: Desk, pair: tuple[str, str]) -> None:
    calls = traffic(60)
    put(lab, pair[0], calls)
    said = put(lab, pair[1], renamed(calls[:45]))
    found = tokens(lab)
    assert counted(found)[0] == 105  # nothing is dropped silently
    (overlap,) = found["overlaps"]
    assert (overlap["readers"], overlap["calls"]) == (sorted(pair), 45)
    cost = sum(
        Decimal(c.taken * (2 if c.model == "otter" else 1) + c.made * (8 if c.model == "otter" else 4))
        for c in calls[:45]
    )
    assert {reader: Decimal(costs["USD"]) * 10**6 for reader, costs in overlap["costs"].items()} == dict.fromkeys(
        pair, cost
    )
    assert any("45 calls of" in note and "no id tells" in note for note in said["notes"])
    checked = once(lab)
    assert checked["verdict"] == "warn"
    assert "so that much may be double" in checked["answer"]
    assert checked["answer"] in found["notes"]


@pytest.mark.parametrize("kept", ["litellm", "otel-genai"])
def test_the_source_that_is_named_counts(lab: Desk, kept: str) -> None:
    calls = traffic(30)
    put(lab, "litellm", calls)
    put(lab, "otel-genai", renamed(calls))
    double = Decimal(tokens(lab)["spend"]["USD"])
    lab.write("unitcost.toml", f'{SETTINGS}[calls]\ncounts = "{kept}"\n')
    found = tokens(lab)
    assert counted(found)[0] == 30
    assert Decimal(found["spend"]["USD"]) * 2 == double
    assert found["overlaps"] == []
    assert any("are told again elsewhere" in note and f"{kept} tells" in note for note in found["notes"])
    assert once(lab)["verdict"] == "ok"


def test_models_and_days_of_which_the_named_source_tells_nothing_count(lab: Desk) -> None:
    calls = [
        Traffic(id="c1"),
        Traffic(id="c2", model="heron"),
        Traffic(id="c3", at=Traffic(id="").at + timedelta(days=1)),
    ]
    put(lab, "litellm", calls[:1])
    put(lab, "otel-genai", renamed(calls))
    lab.write("unitcost.toml", f'{SETTINGS}[calls]\ncounts = "litellm"\n')
    assert counted(tokens(lab))[0] == 3


def test_other_traffic_of_the_same_time_is_not_told(lab: Desk) -> None:
    put(lab, "litellm", traffic(60))
    said = put(lab, "otel-genai", renamed(traffic(60, seed=2)))
    assert tokens(lab)["overlaps"] == []
    assert not any("agree" in note for note in said["notes"])
    assert once(lab) == {**once(lab), "verdict": "ok", "answer": "yes"}


def test_calls_that_agree_by_chance_are_not_told(lab: Desk) -> None:
    """Two services that ask for the same few tokens all the time."""
    short = [
        replace(call, taken=20 + number % 2, made=1, model="otter")
        for number, call in enumerate(traffic(900, every_s=1))
    ]
    put(lab, "litellm", short)
    put(lab, "otel-genai", renamed(short, late_s=0.7))
    assert tokens(lab)["overlaps"] == []


def test_a_name_that_is_no_reader_of_calls_is_refused(lab: Desk) -> None:
    lab.write("unitcost.toml", f'{SETTINGS}[calls]\ncounts = "litelm"\n')
    result = lab.run("load", str(lab.write("calls.json", litellm(traffic(1)))))
    assert result.exit_code != 0
    assert "litellm" in result.output
