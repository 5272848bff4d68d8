"""Settings are read exactly, and every problem is named at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost import config
from unitcost.errors import BadSetting
from unitcost.facts.charges import Facet
from unitcost.facts.rules import FxRate, InvoiceTotal, QualityBar, Settings, StatedCharge

Write = Callable[[str], Path]

WHOLE = """
[ledger]
store = "duckdb:///books/l.duckdb"
cost = "billed"
currency = "usd"
timezone = "-05:00"

[fx]
EUR = [ { from = 2026-09-15, usd = 1.12 }, { from = 2026-09-01, usd = 1.10 } ]

[[load]]
path = "bills/*.parquet"
reader = "focus"
currency = "eur"
period = "2026-09"
date_order = "mdy"
decimal_comma = true
timezone = "Europe/Berlin"
encoding = "latin-1"
delimiter = ";"
provider = "neo"
columns = { billed_cost = "Amount", "tags.team" = "Team" }
rates = "rates.csv"
replace = "period"
version = "2"
part = true

[owners.team]
from = ["tags.team", "tags.Cost Center", "account"]
rules = [ { when = "resource_id ~ 'fraud-*'", is = "risk" } ]
known = ["risk", "search"]
inherit = ["account", "resource_group"]
ignore_case = false

[owners.project]
inherit = { "ep/d" = "job/b" }

[owners.lineage]
"ep/c" = "job/a"

[[drivers]]
when = "usage_type ~ '*Host:ml.*'"
is = "serving"

[[split]]
of = { project = "platform" }
how = "fixed"
by = "team"
shares = { risk = 0.25, search = 3 }
among = ["risk"]
places = "cents"

[[charge]]
what = "labelling"; usd = 3000; on = 2026-09-01; owner.project = "fraud"; driver = "training"

[[charge]]
what = "own hardware"
amount = 12.345678901234567890123456789012345
currency = "EUR"
on = 2026-09-02

[[invoice]]
id = "INV-2026-09"
total = 182340.17
currency = "USD"
period = "2026-09"
provider = "Amazon"

[quality.fraud]
metric = "auc"
bar = 0.91
margin = 0.005
error_cost_usd = 0.04
""".replace("; ", "\n")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a settings file; returns its folder."""

    def put(text: str) -> Path:
        (tmp_path / "unitcost.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return put


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert config.read(tmp_path) == Settings()


def test_everything_that_may_be_said_is_read(write: Write) -> None:
    settings = config.read(write(WHOLE))
    assert settings.ledger_path == "books/l.duckdb"
    assert (settings.cost, settings.currency, settings.timezone) == ("billed", "USD", "-05:00")
    assert settings.fx == (
        FxRate(currency="EUR", since=date(2026, 9, 1), rate=Decimal("1.10")),
        FxRate(currency="EUR", since=date(2026, 9, 15), rate=Decimal("1.12")),
    )
    [load] = settings.loads
    assert load.path == "bills/*.parquet"
    assert (load.options.currency, load.options.encoding, load.options.part) == ("EUR", "latin-1", True)
    assert load.options.columns == {"billed_cost": "Amount", "tags.team": "Team"}
    assert settings.file == "unitcost.toml"
    assert settings.qualities == (
        QualityBar(
            service="fraud", metric="auc", bar=Decimal("0.91"), margin=Decimal("0.005"), error_cost_usd=Decimal("0.04")
        ),
    )
    [invoice] = settings.invoices
    assert invoice == InvoiceTotal(
        invoice_id="INV-2026-09", total=Decimal("182340.17"), currency="USD", period="2026-09", provider="Amazon"
    )


def test_owners_drivers_and_splits_are_read(write: Write) -> None:
    settings = config.read(write(WHOLE))
    team = settings.owners["team"]
    assert team.sources == ("tags.team", "tags.Cost Center", "sub_account_id")
    assert (team.known, team.inherit, team.ignore_case) == (("risk", "search"), ("account", "resource_group"), False)
    assert team.rules[0].when(Facet(facet_id=1, values={"resource_id": "fraud-1"}, tags={}))
    assert team.lineage == {"ep/c": "job/a"}
    assert settings.owners["project"].lineage == {"ep/c": "job/a", "ep/d": "job/b"}
    assert settings.drivers[0].driver == "serving"
    [split] = settings.splits
    assert (split.of, split.how, split.by, split.places) == ({"project": "platform"}, "fixed", "team", 2)
    assert split.shares == {"risk": Decimal("0.25"), "search": Decimal(3)}


def test_stated_charges_keep_every_digit(write: Write) -> None:
    labelling, hardware = config.read(write(WHOLE)).charges
    assert labelling == StatedCharge(
        what="labelling", amount=Decimal(3000), currency="USD", on=date(2026, 9, 1), owner={"project": "fraud"},
        driver="training",
    )  # fmt: skip
    assert hardware.amount == Decimal("12.345678901234567890123456789012345")


def test_pyproject_is_read_when_it_speaks_of_us(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "x"\n', encoding="utf-8")
    assert config.read(tmp_path) == Settings()
    file.write_text('[tool.unitcost.ledger]\ncost = "list"\n', encoding="utf-8")
    assert config.read(tmp_path).cost == "list"
    (tmp_path / "unitcost.toml").write_text("", encoding="utf-8")
    assert config.read(tmp_path).cost == "effective"


def test_the_report_currency_names_the_key_of_a_rate(write: Write) -> None:
    text = '[ledger]\ncurrency = "EUR"\n[fx]\nUSD = [ { from = 2026-01-01, %s = 0.9 } ]'
    assert config.read(write(text % "eur")).fx[0].rate == Decimal("0.9")
    with pytest.raises(BadSetting, match=re.escape("`fx.USD[0]`: a rate says what one unit is in `eur`, found usd")):
        config.read(write(text % "usd"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[owners.team]\nform = []", "there is no setting `owners.team.form`; did you mean `from`?"),
        ("[owner.team]\nfrom = []", "there is no setting `owner`; did you mean `owners`?"),
        ("[[load]]\npath = 'x'\ncurency = 'USD'", "there is no setting `load[0].curency`; did you mean `currency`?"),
        ("[[load]]\nreader = 'focus'", "`load[0].path` is missing"),
        ("[[load]]\npath = 'x'\npart = 'yes'", "`load[0].part`: true or false is expected, found 'yes'"),
        ("[[load]]\npath = 'x'\nperiod = '2026-13'", "`load[0].period`: '2026-13' is not a month; write it as 2026-09"),
        ("[[load]]\npath = 'x'\nperiod = '0001-01'", "`load[0].period`: '0001-01' is not a month between 1990 and 2200"),
        ("[[invoice]]\nid = 'a'\ntotal = 1\nperiod = '9999-12'", "`invoice[0].period`: '9999-12' is not a month between"),
        ("[[charge]]\nwhat = 'a'\nusd = 1\non = 0001-01-01", "`charge[0].on`: 0001-01-01 is not a day between 1990 and 2200"),
        ("[[charge]]\nwhat = 'a'\nusd = 1\non = 2200-01-02", "`charge[0].on`: 2200-01-02 is not a day between 1990 and 2200"),
        ("[fx]\nEUR = [ { from = 1026-01-01, usd = 1 } ]", "`fx.EUR[0].from`: 1026-01-01 is not a day between 1990 and 2200"),
        ("[[load]]\npath = 'x'\nencoding = 'klingon'", "`load[0].encoding`: there is no encoding `klingon`"),
        ("[ledger]\ntimezone = 'Mars/Phobos'", "`ledger.timezone`: there is no time zone 'Mars/Phobos'"),
        ("[ledger]\nstore = 'spark://host:7077'", "'spark://host:7077' is not available yet"),
        ("[ledger]\nstore = 'ledger.duckdb'", "'ledger.duckdb' is no store"),
        ("[[drivers]]\nwhen = \"usage_typ = 'x'\"\nis = 'a'", "there is no column `usage_typ`; did you mean `usage_type`"),
        ("[owners.team]\nfrom = ['tag.team']", "`owners.team.from[0]`: there is no column `tag.team`"),
        ("[owners.team]\ninherit = ['acount']", "`owners.team.inherit[0]`: must be 'account' or 'resource_group'"),
        ("[[split]]\nof = { team = 'a' }\nhow = 'fixed'", "a fixed split needs `shares`"),
        ("[[split]]\nof = { team = 'a' }\nhow = 'metric'", "needs `metric`"),
        ("[[split]]\nof = {}\nhow = 'even'", "`of` names one owner or driver"),
        ("[[charge]]\nwhat = 'a'\non = 2026-01-01", "give either `usd`, or `amount` and `currency`"),
        ("[[charge]]\nwhat = 'a'\namount = 1\non = 2026-01-01", "`amount` and `currency` belong together"),
        ("[[charge]]\nwhat = 'a'\nusd = 1\non = '2026-01-01'", "`charge[0].on`: a day is expected, without quotes"),
        ("[[invoice]]\nid = 'a'\ntotal = nan", "`invoice[0].total`: a finite number is expected"),
        ("[[invoice]]\nid = 'a'\ntotal = '12,5'", "`invoice[0].total`: '12,5' is not a number"),
        ("[[invoice]]\nid = 'a'\ntotal = 1\n[[invoice]]\nid = 'a'\ntotal = 2", "`invoice[1]`: a is stated twice"),
        ("[fx]\nEUR = [ { from = 2026-01-01, usd = 0 } ]", "the rate 0 is not a positive number"),
        ("[fx]\nEUR = [ { from = 2026-01-01, usd = inf } ]", "is not a positive number"),
        ("[fx]\nUSD = [ { from = 2026-01-01, usd = 1 } ]", "`fx.USD` is the currency of the report"),
        ("[fx]\nEUR = [{from = 2026-01-01, usd = 1}, {from = 2026-01-01, usd = 2}]", "another rate from 2026-01-01"),
        ("[quality.fraud]\nmetric = 'auc'\nbar = true", "`quality.fraud.bar`: a number is expected, found true"),
        ("ledger = 3", "`ledger`: "),
    ],
)  # fmt: skip
def test_a_problem_is_named_with_its_path(write: Write, text: str, problem: str) -> None:
    with pytest.raises(BadSetting, match=re.escape(problem)) as caught:
        config.read(write(text))
    assert caught.value.where == "unitcost.toml"
    assert caught.value.mend
    assert caught.value.exit_code == 2


def test_all_problems_are_named_at_once(write: Write) -> None:
    text = "[ledger]\ncost = 'cheap'\ntimezone = 'x'\nfoo = 1\n[[drivers]]\nwhen = '('\nis = ''\n[[split]]\nhow = 'odd'"
    with pytest.raises(BadSetting) as caught:
        config.read(write(text))
    for path in (
        "ledger.cost",
        "ledger.timezone",
        "ledger.foo",
        "drivers[0].when",
        "drivers[0].is",
        "split[0].of",
        "split[0].how",
    ):
        assert f"`{path}`" in str(caught.value)


@pytest.mark.parametrize("content", [b"x = ", b"\xff\xfe", b"a = 1\na = 2", b"a = " + b"[" * 3000])
def test_what_is_no_toml_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "unitcost.toml").write_bytes(content)
    with pytest.raises(BadSetting, match="cannot be read as TOML"):
        config.read(tmp_path)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be read: No such file"):
        config.read(tmp_path, file=tmp_path / "other.toml")
