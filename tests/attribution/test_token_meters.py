"""Names of meters, as bills write them, and which tokens they count."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from unitcost.attribution.token_meters import token_meter, tokens_of, tokens_per_unit
from unitcost.facts.token_charges import MeteredQuantity


def metered(**changes: Any) -> MeteredQuantity:
    known: dict[str, Any] = {
        "meter": "", "usage_type": "", "description": "", "service": "", "provider": "", "unit": "", "quantity": None,
        "pricing_unit": "", "pricing_quantity": None, "currency": "USD", "billed_cost": None, "effective_cost": None,
    }  # fmt: skip
    return MeteredQuantity(**{**known, **changes})


@pytest.mark.parametrize(
    ("column", "name", "model", "token_class", "variant"),
    [
        ("usage_type", "USE1-Claude4.6Sonnet-input-tokens", "Claude4.6Sonnet", "input", ""),
        ("usage_type", "USE1-NovaPro-output-tokens-batch", "NovaPro", "output", "batch"),
        ("usage_type", "APN1-Nova2.0Lite-input-tokens-cross-region-global", "Nova2.0Lite", "input", ""),
        ("usage_type", "USE1-NovaPro-cache-read-input-token-count", "NovaPro", "cache_read", ""),
        ("usage_type", "USE1-NovaPro-cache-write-input-token-count", "NovaPro", "cache_write", ""),
        ("usage_type", "USE1-Qwen3-32B-output-tokens-priority", "Qwen3-32B", "output", "priority"),
        ("usage_type", "USE1-openai.gpt-oss-120b-mantle-input-tokens-flex", "openai.gpt-oss-120b", "input", "flex"),
        ("usage_type", "USE1-MP:USE1_CacheReadInputTokenCount-Units", "Heron 4", "cache_read", ""),
        ("meter", "gpt-4o-0806-Inp-glbl Tokens", "gpt-4o-0806", "input", ""),
        ("meter", "gpt-4o-0806-cached-Inp-glbl Tokens", "gpt-4o-0806", "cache_read", ""),
        ("meter", "gpt 4.1 cchd Inp Data Zone Tokens", "gpt 4.1", "cache_read", ""),
        ("meter", "gpt-4o-0806-Batch-Outp-glbl Tokens", "gpt-4o-0806", "output", "batch"),
        ("meter", "GPT 5 outp pp glbl 1M Tokens", "GPT 5", "output", "priority"),
        ("meter", "gpt-4o-rt-aud-Inp-glbl Tokens", "gpt-4o-rt", "input_audio", ""),
        ("description", "Claude Opus 5 Input Tokens", "Claude Opus 5", "input", ""),
        ("description", "Claude Sonnet 5 Cache Read Tokens", "Claude Sonnet 5", "cache_read", ""),
        ("description", "Claude Sonnet 5 Cache Write 1h Tokens", "Claude Sonnet 5", "cache_write_1h", ""),
        ("description", "Fresh input tokens of heron-2", "heron-2", "input", ""),
        ("description", "Cache write tokens of heron-2", "heron-2", "cache_write", ""),
        ("meter", "Fresh input tokens", "Heron 4", "input", ""),
        ("meter", "Uncached input tokens", "Heron 4", "input", ""),
    ],
)
def test_names_of_meters(column: str, name: str, model: str, token_class: str, variant: str) -> None:
    found = token_meter(metered(service="Heron 4 (Amazon Bedrock Edition)", **{column: name}))
    assert found is not None
    assert (found.model, found.token_class, found.variant) == (model, token_class, variant)


def test_the_description_names_the_model_where_the_meter_names_none() -> None:
    found = token_meter(
        metered(meter="Fresh input tokens", description="Fresh input tokens of heron-2", service="Model API")
    )
    assert found is not None
    assert found.model == "heron-2"


@pytest.mark.parametrize(
    "name",
    [
        "USE1-BoxUsage:p5.48xlarge", "gpt-4o training Tokens", "Provisioned Managed Global Unit",
        "USE1-NovaPro-Customization-Training-tokens", "Text Records", "DataTransfer-Out-Bytes", "gemini cache storage Tokens", "",
    ],
)  # fmt: skip
def test_what_counts_no_tokens_of_calls(name: str) -> None:
    assert token_meter(metered(meter=name)) is None


@pytest.mark.parametrize(
    ("unit", "tokens"),
    [
        ("Tokens", 1), ("1K tokens", 1_000), ("1K", 1_000), ("1M", 1_000_000), ("1000000 Tokens", 1_000_000), ("1,000 tokens", 1_000),
        ("Units", 1_000_000), ("count", 1), ("Hrs", None), ("", None), ("100 Hours", None), ("1", None), ("10 Units", None),
    ],
)  # fmt: skip
def test_units_of_tokens(unit: str, tokens: int | None) -> None:
    assert tokens_per_unit(unit) == (None if tokens is None else Decimal(tokens))


def test_the_unit_that_says_it_counts() -> None:
    charge = metered(unit="", quantity=Decimal(5), pricing_unit="1K tokens", pricing_quantity=Decimal("12.5"))
    assert tokens_of(charge) == 12_500
    assert tokens_of(metered(unit="Hrs", quantity=Decimal(5))) is None


def test_a_bill_alone_gives_tokens_by_class(tmp_path: Path, shared_bills: Path) -> None:
    from tests.readers.calls.call_files import load

    from unitcost.facts.spend import Selection
    from unitcost.ledger import Ledger

    for name in ("focus_ai_cached_tokens_marketplace.csv", "gcp_billing_vertex_tokenbill_excerpt.csv"):
        load(shared_bills / name, tmp_path)
    with Ledger.open(tmp_path / "ledger.duckdb", read_only=True) as ledger:
        charges = ledger.work.metered(Selection(cost="billed"))
    found = {(m.model, m.token_class): tokens_of(charge) for charge in charges if (m := token_meter(charge))}
    assert found == {
        ("Solora Neptune 5.0", "cache_read"): 50_000_000, ("Solora Neptune 5.0", "cache_write"): 15_000_000,
        ("Claude Opus 5", "input"): 2_000_000, ("Claude Opus 5", "output"): 150_000, ("Claude Sonnet 5", "cache_read"): 9_000_000,
        ("Claude Haiku 4.5", "input"): 500_000, ("Gemini 3 Flash", "input"): 1,
    }  # fmt: skip
