"""The report is made from what is decided once, and speaks of the selected charges alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from unitcost.facts.charges import Facet
from unitcost.facts.rules import Settings
from unitcost.facts.spend import Attribution
from unitcost.jobs import review as room
from unitcost.jobs.ingest import load
from unitcost.jobs.review import review
from unitcost.jobs.selecting import select
from unitcost.jobs.workspace import Workspace, open_workspace

BILL = """BilledCost,EffectiveCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,Tags
10,10,USD,{a},{a2},2031-06-01,2031-07-01,"{{""team"":""serach""}}"
20,20,USD,{a},{a2},2031-06-01,2031-07-01,"{{""taem"":""search""}}"
30,30,EUR,{b},{b2},2031-07-01,2031-08-01,"{{""team"":""rsik""}}"
40,40,USD,{b},{b2},2031-07-01,2031-08-01,"{{""teem"":""risk""}}"
""".format(a="2031-06-05", a2="2031-06-06", b="2031-07-05", b2="2031-07-06")
KNOWN = '[owners.team]\nfrom = ["tags.team"]\nknown = ["risk", "search"]\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "bill.csv").write_text(BILL, encoding="utf-8")
    (tmp_path / "unitcost.toml").write_text(KNOWN, encoding="utf-8")
    made = open_workspace(tmp_path, as_of="2031-09-01")
    load(made, [str(tmp_path / "bill.csv")])
    return made


def near(workspace: Workspace, *, currency: str = "", **said: str) -> set[str]:
    report = review(workspace, select(workspace.settings, **said), currency=currency)
    return {miss["found"] for miss in report.answers["near_misses"]}


@pytest.mark.parametrize("place", ["billing", "charge"])
def test_near_misses_are_those_of_the_months(workspace: Workspace, place: str) -> None:
    assert near(workspace, place=place) == {"serach", "taem", "rsik", "teem"}
    assert near(workspace, place=place, month="2031-06") == {"serach", "taem"}
    assert near(workspace, place=place, since="2031-07") == {"rsik", "teem"}
    assert near(workspace, place=place, month="2031-01") == set()


def test_near_misses_are_those_of_the_currency(workspace: Workspace) -> None:
    assert near(workspace, currency="EUR") == {"rsik"}


def test_nothing_is_decided_again_until_rules_or_charges_change(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: list[int] = []
    before = room.decide

    def counting(facets: Iterable[Facet], settings: Settings) -> list[Attribution]:
        found = before(facets, settings)
        decided.append(len(found))
        return found

    monkeypatch.setattr(room, "decide", counting)
    first = near(workspace)
    assert decided == [4]
    assert near(workspace) == first
    assert decided == [4]
    (workspace.folder / "unitcost.toml").write_text(KNOWN.replace('"risk", ', ""), encoding="utf-8")
    near(open_workspace(workspace.folder))
    assert decided == [4, 4]
