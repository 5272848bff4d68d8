"""Lists of model prices: names match exactly, the user's file wins, a price has its time and variant."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost.economics.coverage import TokenUse, price_coverage
from unitcost.economics.token_prices import price_call
from unitcost.errors import BadPrice, NoPrice
from unitcost.facts.tokens import TokenCounts
from unitcost.money import add
from unitcost.prices.genai import GenaiPrices
from unitcost.prices.models import ModelBook, Naming
from unitcost.prices.opening import PriceFiles, open_models

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def book() -> ModelBook:
    return ModelBook([GenaiPrices.bundled(NOW)])


def opened(folder: Path, *, files: tuple[str, ...] = (), litellm: tuple[str, ...] = (), **naming: object) -> ModelBook:
    said = Naming(**naming)  # type: ignore[arg-type]
    return open_models(PriceFiles(folder=folder, now=NOW, files=files, litellm=litellm, naming=said))


@pytest.mark.parametrize(
    ("provider", "name", "model", "rule"),
    [
        ("openai", "gpt-4o", "gpt-4o", "exact"),
        ("OpenAI", "GPT-4o", "gpt-4o", "exact"),
        ("openai", "gpt-4o-2024-08-06", "gpt-4o", "alias of gpt-4o"),
        ("openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13", "exact"),
        ("", "openai/gpt-4o", "gpt-4o", "exact"),
        ("litellm", "openai/gpt-4o", "gpt-4o", "exact"),
        ("", "claude-3-5-sonnet-20241022", "claude-3-5-sonnet", "snapshot of claude-3-5-sonnet"),
        ("anthropic", "claude-3-opus-20240229", "claude-3-opus-latest", "snapshot of claude-3-opus-latest"),
        ("vertex_ai", "gemini-2.5-flash", "gemini-2.5-flash", "exact"),
        ("groq", "openai/gpt-oss-20b", "openai/gpt-oss-20b", "exact"),
        (
            "bedrock", "eu.anthropic.claude-sonnet-4-20250514-v1:0",
            "regional.anthropic.claude-sonnet-4-20250514-v1:0",
            "Bedrock id of regional.anthropic.claude-sonnet-4-20250514-v1:0",
        ),
    ],
)  # fmt: skip
def test_a_name_leads_to_a_model_by_a_rule_that_is_said(
    book: ModelBook, provider: str, name: str, model: str, rule: str
) -> None:
    match = book.match(name, provider)
    assert (match.state, match.model, match.rule) == ("priced", model, rule)


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "gpt-4o-mini-turbo"),  # begins like gpt-4o-mini
        ("openai", "gpt-4o-2023-13-45"),  # no date
        ("openai", "gpt-5-nano-tuned"),  # the list's own pattern would take it
        ("anthropic", "claude-3-5-sonnet-v9"),
        ("google", "gemini-2.5-pro-preview-99"),
        ("azure", "gpt-4o"),  # another provider's price is no price
        ("nobody", "gpt-4o"),
        ("", "lab-special-v3"),
    ],
)
def test_what_only_looks_alike_is_unpriced(book: ModelBook, provider: str, name: str) -> None:
    match = book.match(name, provider)
    assert match.state == "unpriced"
    assert match.reason
    with pytest.raises(NoPrice):
        book.price(match, NOW)


def test_near_names_are_offered(book: ModelBook) -> None:
    assert "gpt-4o-mini" in book.near(book.match("gpt-4o-mimi", "openai"))


def test_a_model_that_charges_by_the_hour_is_listed_but_has_no_token_price(book: ModelBook) -> None:
    match = book.match("whisper-1", "openai")
    assert (match.state, match.listed) == ("unpriced", True)
    assert "audio_hours" in match.reason


def test_a_name_that_several_sell_and_nobody_makes_needs_a_provider(book: ModelBook) -> None:
    assert "name the provider" in book.match("deepseek-ai/deepseek-r1-0528").reason


def test_a_variant_must_be_listed_and_in_force(book: ModelBook) -> None:
    match = book.match("gpt-5.5", "openai")
    usual, batch = book.price(match, NOW), book.price(match, NOW, "batch")
    rates = {price.variant: {r.meter: r.price for r in price.rates} for price in (usual, batch)}
    assert rates["batch"]["input"] * 2 == rates[""]["input"]
    assert batch.standard == ("web_search",)
    assert book.price(match, NOW, "standard") == usual
    with pytest.raises(NoPrice, match="lists no `bulk` price") as refused:
        book.price(match, NOW, "bulk")
    assert "batch" in refused.value.mend
    with pytest.raises(NoPrice, match="no batch price for 2026-01-01; the first is from 2026-10-14"):
        book.price(match, datetime(2026, 1, 1, tzinfo=UTC), "batch")
    with pytest.raises(NoPrice, match="lists no `batch` price"):
        book.price(book.match("claude-3-opus-20240229"), NOW, "batch")


def test_hours_of_the_day_have_their_price(book: ModelBook) -> None:
    match = book.match("deepseek-v4-flash", "deepseek")
    night, day = (book.price(match, datetime(2026, 10, 1, hour, tzinfo=UTC)) for hour in (2, 12))
    assert (night.hours, day.hours) == ("01:00-04:00", "10:00-01:00")
    assert night.charged_as("input") != day.charged_as("input")


def test_intervals_of_a_model_leave_no_gap_and_no_overlap(book: ModelBook) -> None:
    match = book.match("gpt-5.6-luna", "openai")
    first, *later = book.intervals(match)
    assert first.effective_from is None
    for before, after in zip([first, *later], later, strict=False):
        assert before.effective_to == after.effective_from
    assert [first, *later][-1].effective_to is None


def test_case_06_a_price_change_in_the_middle_of_the_week(shared_cases: Path) -> None:
    folder = shared_cases / "06-price-change-mid-week"
    expected = json.loads((folder / "expected.json").read_text())
    models = opened(folder, files=("prices.csv",))
    amounts, ids = [], []
    with (folder / "input.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            at = datetime.fromisoformat(row["ts"])
            price = models.price(models.match(row["model"]), at)
            call = price_call(
                TokenCounts(input_tokens=int(row["input_tokens"]), output_tokens=int(row["output_tokens"])), price
            )
            assert call.amount is not None
            amounts.append(call.amount)
            ids.append(call.price_id)
    assert amounts == [Decimal(amount) for amount in expected["rows"]]
    assert add(amounts) == Decimal(expected["total_usd"])
    assert len(set(ids)) == 2
    with pytest.raises(NoPrice, match="no price for 2029-12-31; the first is from 2030-01-01"):
        models.price(models.match("otter-mini"), datetime(2029, 12, 31, tzinfo=UTC))


def test_case_08_an_unknown_model_is_not_free(shared_cases: Path) -> None:
    folder = shared_cases / "08-unknown-model-is-not-free"
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / "input.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    hosted = [row["model"] for row in rows if row["hosting"] == "self"]
    models = opened(folder, files=("prices.csv",), self_hosted=hosted)
    amounts, uses = [], []
    for row in rows:
        match = models.match(row["model"])
        tokens = int(row["input_tokens"])
        uses.append(TokenUse(model=row["model"], tokens=tokens, state=match.state))
        if match.state == "priced":
            amount = price_call(TokenCounts(input_tokens=tokens), models.price(match, NOW)).amount
            assert amount is not None
            amounts.append(amount)
    found = price_coverage(uses)
    assert add(amounts) == Decimal(expected["priced_usd"])
    assert found.unpriced == expected["unpriced_tokens"]
    assert found.self_hosted == expected["self_hosted_tokens"]
    assert found.share == Decimal(expected["api_price_coverage"])


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return path.name


def test_the_users_own_price_wins_from_its_day_and_the_list_fills_the_time_before(tmp_path: Path) -> None:
    name = write(
        tmp_path / "own.csv",
        "model,provider,effective_from,input_usd_per_mtok,output_usd_per_mtok\n"
        "gpt-4o,openai,2026-06-01,1.5,6\ngpt-4o,openai,2026-09-01,1.4,6\n",
    )
    models = opened(tmp_path, files=(name,))
    match = models.match("openai/gpt-4o")
    assert (match.source, match.rule) == ("own.csv", "exact")
    days = {"2026-05-31": Decimal("2.5"), "2026-06-01": Decimal("1.5"), "2026-09-01": Decimal("1.4")}
    for day, usd in days.items():
        price = models.price(match, datetime.fromisoformat(day).replace(tzinfo=UTC))
        record = price.charged_as("input")
        assert record is not None
        assert record.price == usd
    intervals = models.intervals(match)
    assert len(intervals) == 3
    assert {p.source.licence for p in intervals} == {"own", "MIT"}
    with pytest.raises(NoPrice, match=r"own\.csv lists no `batch` price"):
        models.price(match, NOW, "batch")


def test_tiers_and_variants_in_an_own_file(tmp_path: Path) -> None:
    name = write(
        tmp_path / "own.csv",
        "model,variant,prompt_tokens_over,input_usd_per_mtok,cache_write_usd_per_mtok,usd_per_request\n"
        "m,,0,3,3.75,0.01\nm,,200000,6,7.5,\nm,batch,,1.5,,\n",
    )
    models = opened(tmp_path, files=(name,))
    match = models.match("m", "anyone")
    call = price_call(TokenCounts(input_tokens=200_001, cache_write_5m_tokens=0), models.price(match, NOW))
    assert call.amount == Decimal("1.210006")
    assert models.variants(match) == ("batch",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model,input_usd_per_mtok\nm,cheap\n", "own.csv:2: `input_usd_per_mtok` is 'cheap', not a number"),
        ("model,input_usd_per_mtok\nm,-1\n", "is negative"),
        ("model,input_usd_per_mtok\n,1\n", "`model` is empty"),
        ("model,input_usd_per_mtok\nm,\n", "the row has no price"),
        ("model,input_usd_per_mtok\nm,1\nm,2\n", "two prices"),
        ("model,inpt_usd_per_mtok\nm,1\n", "did you mean `input_usd_per_mtok`"),
        ("model,effective_from,input_usd_per_mtok\nm,soon,1\n", "not a date"),
        ("model,prompt_tokens_over,input_usd_per_mtok\nm,200000,1\n", "no price for short prompts"),
        ("name,price\nm,1\n", "neither a column `model` nor `instance_type`"),
        ("instance_type,usd_per_hour,usd_per_accelerator_hour\nm,1,1\n", "needs either"),
        ("instance_type,usd_per_hour,category\nm,1,cheap\n", "`category` is 'cheap'"),
    ],
)
def test_a_bad_own_file_names_file_row_and_column(tmp_path: Path, text: str, words: str) -> None:
    name = write(tmp_path / "own.csv", text)
    with pytest.raises(BadPrice) as refused:
        opened(tmp_path, files=(name,))
    assert words in str(refused.value)
    assert "Mend:" in str(refused.value) or "did you mean" in str(refused.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(BadPrice, match="cannot be read"):
        opened(tmp_path, files=("none.csv",))
    (tmp_path / "odd.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadPrice, match="cannot be read"):
        opened(tmp_path, files=("odd.csv",))
    with pytest.raises(BadPrice, match="cannot be read"):
        opened(tmp_path, litellm=("none.json",))


LITELLM = {
    "sample_spec": {"input_cost_per_token": 0, "mode": "documentation"},
    "otter-large": {
        "litellm_provider": "otter", "mode": "chat", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
        "cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06,
        "cache_creation_input_token_cost_above_1hr": 6e-06, "input_cost_per_token_above_200k_tokens": 6e-06,
        "output_cost_per_token_above_200k_tokens": 2.25e-05, "cache_read_input_token_cost_above_200k_tokens": 6e-07,
        "cache_creation_input_token_cost_above_200k_tokens": 7.5e-06, "input_cost_per_token_batches": 1.5e-06,
        "output_cost_per_token_batches": 7.5e-06, "max_input_tokens": 1000000,
    },
    "otter/otter-small": {"litellm_provider": "otter", "input_cost_per_token": 1e-07, "output_cost_per_token": 4e-07},
    "otter-free": {"litellm_provider": "otter", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
}  # fmt: skip


def test_a_file_in_the_form_of_litellm(tmp_path: Path) -> None:
    name = write(tmp_path / "prices.json", json.dumps(LITELLM))
    models = opened(tmp_path, litellm=(name,))
    match = models.match("otter-large", "otter")
    tokens = TokenCounts(
        input_tokens=20_000, cache_read_tokens=190_000, cache_write_5m_tokens=5_000, output_tokens=1_000
    )
    assert price_call(tokens, models.price(match, NOW)).amount == Decimal("0.294")  # as in case 04
    batch = models.price(match, NOW, "batch")
    assert price_call(TokenCounts(input_tokens=1_000_000), batch).amount == Decimal("1.5")
    assert set(batch.standard) == {"cache_read", "cache_write_5m", "cache_write_1h"}
    assert models.match("otter/otter-small").model == "otter-small"
    assert models.match("otter-small", "otter").source == "prices.json"


def test_zero_in_the_form_of_litellm_is_no_price(tmp_path: Path) -> None:
    name = write(tmp_path / "prices.json", json.dumps(LITELLM))
    match = opened(tmp_path, litellm=(name,)).match("otter-free", "otter")
    assert match.state == "unpriced"
    assert "also writes for unknown" in match.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [("[", "cannot be read"), ("[]", "not an object"), ('{"m": 1}', "not an object"),
     ('{"m": {"input_cost_per_token": "free"}}', "not a price"), ('{"m": {"input_cost_per_token": -1}}', "not a price")],
)  # fmt: skip
def test_a_bad_file_in_the_form_of_litellm(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadPrice, match=words):
        opened(tmp_path, litellm=(write(tmp_path / "p.json", text),))


def test_the_first_list_wins(tmp_path: Path) -> None:
    own = write(tmp_path / "own.csv", "model,input_usd_per_mtok,output_usd_per_mtok\notter-large,1,1\n")
    other = write(tmp_path / "p.json", json.dumps(LITELLM))
    assert opened(tmp_path, files=(own,), litellm=(other,)).match("otter-large").source == "own.csv"
    assert opened(tmp_path, litellm=(other,)).match("otter-large").source == "p.json"


def test_the_user_says_what_a_name_means(tmp_path: Path) -> None:
    models = opened(
        tmp_path, aliases={"Prod-Chat": "openai/gpt-4o"}, same_as={"azure": ["openai"]}, self_hosted=["own-*"]
    )
    alias = models.match("prod-chat", "azure")
    assert (alias.model, alias.rule) == ("gpt-4o", "[prices.aliases] prod-chat; exact")
    same = models.match("gpt-4o", "Azure")
    assert (same.provider, same.rule) == ("openai", "[prices.same_as] Azure; exact")
    assert models.match("OWN-heron-32b").state == "self-hosted"
    with pytest.raises(NoPrice, match="own machines"):
        models.price(models.match("own-heron-32b"), NOW)
