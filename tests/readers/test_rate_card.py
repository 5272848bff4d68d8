"""Usage priced by an own rate card: exact, at the price in force, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadBill, BadFile, BadSetting, NeedsAnswer
from unitcost.facts.zones import zone_of
from unitcost.readers.moments import utc_moment
from unitcost.readers.rates import decimal_text, hours_between, unit_name

RATES = "sku,unit,price,currency,from,to\n"
USAGE = "resource,start,end,quantity,sku\n"
HOUR = "2026-09-01T00:00:00Z,2026-09-01T01:00:00Z"


@pytest.fixture
def priced(read, tmp_path):
    """Read usage at rates: the taken file."""

    def reading(usage: str, rates: str, **options: object):
        card = tmp_path / "rates.csv"
        card.write_text(RATES + rates)
        return read(usage, rates=str(card), **options)

    return reading


def costs(taken) -> list[str]:
    return taken.column("cost (priced)")


def test_the_run_across_the_month_end_of_case_29(take_file, shared_cases):
    taken = take_file(shared_cases / "29-utc-month-boundary" / "input.csv")
    assert (taken.plan.reader, costs(taken), taken.column("currency (priced)")) == ("rate-card", ["36"], ["USD"])
    assert taken.column("start (UTC)") == ["2031-02-01T01:00:00Z"]
    assert taken.column("end (UTC)") == ["2031-02-01T07:00:00Z"]


@pytest.mark.parametrize(
    ("header", "cells", "cost"),
    [
        ("run,start,end,gpus,usd_per_gpu_hour", f"r,{HOUR},8,2.50", "20"),
        ("run,start,end,gpus,usd_per_hour", f"r,{HOUR},8,2.50", "2.5"),
        ("resource,start,end,quantity,usd_per_hour", f"r,{HOUR},3,2.50", "7.5"),
        ("resource,start,end,quantity,unit_price,currency", f"r,{HOUR},3,2.50,USD", "7.5"),
        ("workload,start,end,quantity,unit,usd_per_gb_month", f"r,{HOUR},3,gb-month,0.02", "0.06"),
        ("resource,start,end,usd_per_hour", "r,2026-09-01T00:00:00Z,2026-09-01T00:00:10Z,0.001", "0.000002777778"),
        ("resource,start,end,usd_per_hour", f"r,{HOUR},0", "0"),
    ],
)
def test_prices_that_stand_beside_the_usage(read, header, cells, cost):
    taken = read(f"{header}\n{cells}\n")
    assert costs(taken) == [cost]
    assert taken.column("currency (priced)") == ["USD"]


def test_usage_is_priced_when_it_happened(priced):
    rates = "h100,gpu-hour,2,USD,2026-09-01,2026-09-02\nh100,gpu-hour,3,USD,2026-09-02,\n"
    usage = USAGE.replace("quantity", "gpus")
    before, across, after = (
        "a,2026-09-01T00:00:00Z,2026-09-01T04:00:00Z,1,h100\n",
        "b,2026-09-01T22:00:00Z,2026-09-02T01:00:00Z,2,h100\n",
        "c,2026-09-02T00:00:00Z,2026-09-02T01:00:00Z,1,H100\n",
    )
    taken = priced(usage + before + across + after, rates)
    assert costs(taken) == ["8", "14", "3"], "two hours at 2 and one at 3, on two GPUs, are 14"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (f"r,{HOUR},1,b200", "no price of 'b200'"),
        ("r,2025-09-01T00:00:00Z,2025-09-01T01:00:00Z,1,h100", "no price of 'h100' at 2025-09-01"),
        ("r,2026-09-01T02:00:00Z,2026-09-01T01:00:00Z,1,h100", "ends before it starts"),
        ("r,yesterday,2026-09-01T01:00:00Z,1,h100", "not an ISO date"),
        (f"r,{HOUR},many,h100", "not a number"),
        (f"r,{HOUR},,h100", "no quantity"),
        (f"r,{HOUR},NaN,h100", "not a number"),
    ],
)
def test_usage_that_cannot_be_priced_is_set_aside_and_not_free(priced, row, reason):
    taken = priced(USAGE + f"ok,{HOUR},1,h100\n" + row + "\n", "h100,hour,2,USD,2026-01-01,\n")
    assert costs(taken) == ["2"]
    ((number, why, raw),) = [(r.row, r.reason, r.raw) for r in taken.plan.rejects]
    assert (number, raw) == (2, row)
    assert reason in why


def test_local_times_are_asked_about(read, priced):
    local = "resource,start,end,usd_per_hour\nr,2026-10-25T00:30:00,2026-10-25T03:30:00,1\n"
    with pytest.raises(NeedsAnswer, match="zone") as caught:
        read(local)
    assert "--timezone" in caught.value.mend
    assert costs(read(local, timezone="Europe/Berlin")) == ["4"], "the clock goes back: four hours passed"
    assert costs(read(local, timezone="UTC")) == ["3"]
    assert costs(read(local, timezone="-05:00")) == ["3"]
    with pytest.raises(BadSetting, match="time zone"):
        read(local, timezone="Mars/Olympus")


def test_usage_without_a_price_asks_for_the_rate_card(read):
    with pytest.raises(NeedsAnswer, match="no price") as caught:
        read(USAGE + f"r,{HOUR},1,h100\n")
    assert "rates" in caught.value.mend


def test_a_bad_rate_card_is_refused(priced):
    usage = USAGE + f"r,{HOUR},1,h100\n"
    for rates in ("h100,hour,x,USD,,\n", "h100,hour,,USD,,\n", "h100,hour,1,USD,soon,\n"):
        with pytest.raises(BadBill) as caught:
            priced(usage, rates)
        assert caught.value.where == "rates.csv, row 1"
    with pytest.raises(BadBill, match="two prices"):
        priced(usage, "h100,hour,1,USD,,\nh100,hour,2,USD,2026-09-01,\n")


def test_a_rate_card_without_its_columns_or_file_is_refused(read, tmp_path):
    card = tmp_path / "rates.csv"
    card.write_text("sku,price\nh100,1\n")
    with pytest.raises(BadFile, match="lacks unit, currency"):
        read(USAGE + f"r,{HOUR},1,h100\n", rates=str(card))
    with pytest.raises(BadFile):
        read(USAGE + f"r,{HOUR},1,h100\n", rates=str(tmp_path / "absent.csv"))


def test_teams_and_tags_are_kept(read):
    taken = read(f"run,start,end,gpus,usd_per_gpu_hour,team,tags.project\nr,{HOUR},1,1,risk,fraud\n")
    assert dict(taken.plan.mapping["tags"].pairs) == {"run": "run", "team": "team", "project": "tags.project"}


@given(st.integers(1, 10**7), st.integers(0, 10**6), st.integers(0, 10**9))
def test_a_cost_is_rounded_once_half_up(seconds, milli_price, millionths):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    hours = hours_between(start, start + timedelta(seconds=seconds))
    exact = hours * Fraction(milli_price, 1000) * Fraction(millionths, 10**6)
    with localcontext(prec=80, rounding=ROUND_HALF_UP):
        quotient = Decimal(exact.numerator) / Decimal(exact.denominator)
        assert Decimal(decimal_text(exact)) == quotient.quantize(Decimal("1e-12"))
        assert Decimal(decimal_text(-exact)) == -quotient.quantize(Decimal("1e-12"))


@given(st.datetimes(datetime(2000, 1, 1), datetime(2099, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_offsets_are_honoured(moment, minutes):
    moment = moment.replace(microsecond=0)
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    offset = f"{sign}{hours:02d}:{rest:02d}"
    expected = (moment - timedelta(minutes=minutes)).replace(tzinfo=UTC)
    assert utc_moment(moment.isoformat() + offset, None) == expected
    assert utc_moment(moment.isoformat(), zone_of(offset)) == expected


@pytest.mark.parametrize("text", ["GPU hours", "gpu_hour", "GPU-Hour", "gpu-h", "gpu hrs"])
def test_one_unit_has_one_spelling(text):
    assert unit_name(text) == "gpu-hour"
