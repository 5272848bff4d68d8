"""A refresh adds prices; it changes none that was kept, and a source that fails keeps what it had."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from tests.prices.recorded import answers, serve

from unitcost.errors import UnknownName
from unitcost.facts.prices import PriceRecord
from unitcost.jobs.price_refresh import feed_names, refresh_prices
from unitcost.jobs.prices import open_book, open_models
from unitcost.jobs.workspace import Workspace, open_workspace
from unitcost.prices import Wanted

DAY = "2026-11-30"
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def workspace(folder: Path, day: str = DAY) -> Workspace:
    return open_workspace(folder, as_of=day)


def price(space: Workspace, name: str, region: str, at: datetime = AT, category: str = "Standard") -> PriceRecord:
    return open_book(space).price(name, region=region, at=at, category=category).record  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_new_prices_hold_from_their_reading_and_older_ones_stay(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    before = price(space, "p5.48xlarge", "us-east-1")
    [outcome] = refresh_prices(space, ["aws"], regions=["us-east-1"], fetch=serve(answers()))
    assert (outcome.status, outcome.prices, outcome.news) == ("read", 2, 1)
    assert price(space, "p5.48xlarge", "us-east-1").price == 51
    earlier = price(space, "p5.48xlarge", "us-east-1", datetime(2026, 11, 19, tzinfo=UTC))
    assert (earlier.id, earlier.price) == (before.id, Decimal("55.04"))


def test_a_price_that_is_read_again_is_no_longer_stale(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    wanted = Wanted(sku="g6.xlarge", provider="aws", region="us-east-1", category="Standard")
    [old] = open_book(space).find(wanted, AT)
    assert "stale" in old.notes(AT)[0]
    refresh_prices(space, ["aws"], regions=["us-east-1"], fetch=serve(answers()))
    [new] = open_book(space).find(wanted, AT)
    assert new.notes(AT) == ()
    assert new.record.price == old.record.price


def test_a_stated_beginning_does_not_rewrite_what_was_read_later(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    refresh_prices(space, ["azure"], regions=["eastus"], fetch=serve(answers()))
    # The API says 0.53 since January; in June 0.526 was read.
    june = datetime(2026, 6, 20, tzinfo=UTC)
    assert price(space, "Standard_NC4as_T4_v3", "eastus", june).price == Decimal("0.526")
    assert price(space, "Standard_NC4as_T4_v3", "eastus").price == Decimal("0.53")
    # 7.1 since September, after the last reading of another price: that day counts.
    assert price(space, "Standard_NC40ads_H100_v5", "eastus", datetime(2026, 8, 31, tzinfo=UTC)).price == Decimal(
        "6.98"
    )
    assert price(space, "Standard_NC40ads_H100_v5", "eastus", datetime(2026, 9, 1, tzinfo=UTC)).price == Decimal("7.1")


def test_nothing_that_was_kept_is_written_again(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    for _ in range(2):
        refresh_prices(space, ["gcp", "aws"], regions=["us-*"], fetch=serve(answers()))
    first = contents(tmp_path)
    ids = {record.id for record in open_book(space).records(Wanted(provider="gcp"))}
    changed = {
        **answers(),
        "machine-types-regions.csv": answers()["machine-types-regions.csv"].replace(b"84.0", b"80.0"),
    }
    refresh_prices(workspace(tmp_path, "2026-12-24"), ["gcp"], regions=["us-*"], fetch=serve(changed))
    after = contents(tmp_path)
    assert {name: after[name] for name in first} == first
    assert len(after) > len(first)
    assert ids < {record.id for record in open_book(space).records(Wanted(provider="gcp"))}


def test_one_failing_source_keeps_its_older_prices_and_says_so(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    down = {part: body for part, body in answers().items() if "azure" not in part and "page" not in part}
    outcomes = {o.feed: o for o in refresh_prices(space, ["azure", "gcp", "gpuhunt-runpod"], fetch=serve(down))}
    assert outcomes["azure"].status == "failed"
    assert "404" in outcomes["azure"].reason
    assert (outcomes["gcp"].status, outcomes["gpuhunt-runpod"].status) == ("read", "read")
    assert price(space, "Standard_NC40ads_H100_v5", "eastus").price == Decimal("6.98")
    assert price(space, "a3-highgpu-8g", "us-central1").price == 84
    assert not list((tmp_path / ".unitcost/prices").glob("azure/*"))


@pytest.mark.parametrize(
    "body", [b"[]", b'[{"id": "x"}]', b'{"Items": []}', b'{"Items": [{"serviceName": 5}]}', b"\xff"]
)
def test_a_feed_of_another_form_fails_alone(tmp_path: Path, body: bytes) -> None:
    strange = {"genai-prices": body, "azure": body, "awsstatic": body}
    outcomes = refresh_prices(
        workspace(tmp_path), ["azure", "aws", "genai-prices"], regions=["eastus", "us-east-1"], fetch=serve(strange)
    )
    assert [o.status for o in outcomes] == ["failed"] * 3
    assert all(o.reason for o in outcomes)
    assert not list((tmp_path / ".unitcost").glob("prices/*/*"))


def test_machines_that_the_book_does_not_know_are_kept_when_asked(tmp_path: Path) -> None:
    refresh_prices(workspace(tmp_path), ["aws"], regions=["us-east-1"], everything=True, fetch=serve(answers()))
    assert price(workspace(tmp_path), "x99.large", "us-east-1").price == Decimal("9.9")


def test_a_gpu_cloud_brings_its_machines(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    refresh_prices(space, ["gpuhunt-runpod"], fetch=serve(answers()))
    offers = open_book(space).offers(frozenset({"H100-80GB"}), ["US-KS-*"], AT)
    assert [(o.shape.instance_type, o.on_demand and o.on_demand.price) for o in offers] == [
        ("NVIDIA H100 80GB HBM3", Decimal("23.92"))
    ]


def test_an_unknown_feed_is_answered_with_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean `azure`"):
        refresh_prices(workspace(tmp_path), ["azur"], fetch=serve({}))
    assert "genai-prices" in feed_names()


def models(space: Workspace, at: str, name: str = "otter-mini") -> str:
    book = open_models(space)
    record = book.price(book.match(name, "otter"), datetime.fromisoformat(at).replace(tzinfo=UTC)).charged_as("input")
    assert record is not None
    return str(record.price)


def test_a_refreshed_list_of_models_is_used_and_a_later_reading_does_not_rewrite_it(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    [outcome] = refresh_prices(space, ["genai-prices"], fetch=serve(answers()))
    assert (outcome.status, outcome.prices) == ("read", 2)
    assert models(space, "2026-11-30") == "5"
    assert models(space, "2026-12-10") == "4"
    assert open_models(space).match("otter-xl", "otter").rule == "alias of otter-large"
    assert open_models(space).match("gpt-4o", "openai").state == "priced"  # the shipped reading still knows it

    data = json.loads(answers()["genai-prices"])
    data[0]["models"][0]["prices"][0]["prices"]["input_mtok"] = 7  # changed without saying from when
    data[0]["models"][1]["prices"]["input_mtok"] = 2
    later = workspace(tmp_path, "2026-12-05")
    refresh_prices(later, ["genai-prices"], fetch=serve({"genai-prices": json.dumps(data).encode()}))
    assert [models(later, day) for day in ("2026-11-30", "2026-12-04", "2026-12-05", "2026-12-10")] == [
        "5",
        "5",
        "7",
        "4",
    ]
    assert [models(later, day, "otter-large") for day in ("2026-12-04", "2026-12-05")] == ["3", "2"]
    assert models(space, "2026-12-05") == "5"  # as of November nobody knew


def test_without_a_refresh_nothing_is_fetched_or_written(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    open_book(space)
    open_models(space)
    assert contents(tmp_path) == {}
