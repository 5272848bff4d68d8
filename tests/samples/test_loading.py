"""The whole way of a bill: the sample, read and loaded by the tool, meets the truth that its generator wrote down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost import samples
from unitcost.attribution import decide, fingerprint
from unitcost.facts.charges import CostKind
from unitcost.facts.rules import UNKNOWN_DRIVER
from unitcost.facts.spend import Selection
from unitcost.jobs.ingest import LoadOutcome, load
from unitcost.jobs.workspace import open_workspace
from unitcost.ledger import Ledger
from unitcost.samples.truth import Truth

Loaded = tuple[Ledger, LoadOutcome, Truth]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """Ledger of a small sample, with owners and drivers decided."""
    folder: Path = tmp_path_factory.mktemp("sample")
    truth = samples.write(folder, rows=8_000)
    workspace = open_workspace(folder, as_of="2026-11-10")
    outcome = load(workspace)
    with workspace.open_ledger() as ledger:
        print_of = fingerprint(workspace.settings)
        ledger.write_attributions(print_of, decide(ledger.facets(), workspace.settings))
        yield ledger, outcome, truth


def test_every_file_loads_whole(loaded: Loaded) -> None:
    _, outcome, truth = loaded
    assert not outcome.failures
    assert outcome.exit_code() == 0
    assert {r.file: r.rows_accepted for r in outcome.records if r.dataset == "charges"} == truth.files
    assert {r.reader for r in outcome.records} == {
        "aws-cur", "azure", "gcp", "focus", "rate-card", "outputs-csv", "slurm", "resources-csv", "prometheus", "mlflow",
        "access-log", "cloudwatch", "s3-inventory", "litellm",
    }  # fmt: skip


@pytest.mark.parametrize("cost", ["billed", "effective", "list"])
def test_each_cost_is_that_of_the_truth(loaded: Loaded, cost: CostKind) -> None:
    ledger, _, truth = loaded
    column = {"billed": "billed", "effective": "effective", "list": "listed"}[cost]
    rows = ledger.spend(Selection(cost=cost), ("provider", "currency", "billing_month"))
    expected = {(t.provider, t.currency, t.billing_month): getattr(t, column) for t in truth.totals}
    assert {row.keys: row.amount for row in rows} == expected


@pytest.mark.parametrize(
    ("dimension", "part", "nobody"),
    [("team", "owners", None), ("project", "projects", None), ("driver", "drivers", UNKNOWN_DRIVER), ("line", "lines", "")],
)  # fmt: skip
def test_owners_and_drivers_are_those_of_the_truth(
    loaded: Loaded, dimension: str, part: str, nobody: str | None
) -> None:
    ledger, _, truth = loaded
    found: dict[str | None, dict[str, Decimal]] = defaultdict(dict)
    for row in ledger.spend(Selection(cost="effective"), (dimension,)):
        found[row.keys[0]][row.currency] = row.amount
    assert found == {name or nobody: amounts for name, amounts in getattr(truth, part).items()}


def test_every_invoice_is_met(loaded: Loaded) -> None:
    ledger, _, truth = loaded
    closing = ledger.closing(Selection())
    assert len(closing) == len(truth.invoices)
    assert all(row.invoice_total == row.billed for row in closing)


def test_the_bridge_leads_from_effective_to_billed(loaded: Loaded) -> None:
    ledger, _, _ = loaded
    bridged = [row for row in ledger.closing(Selection()) if row.steps]
    assert len(bridged) == 3
    for row in bridged:
        assert row.effective + sum(amount for _, amount in row.steps) == row.billed
    assert any(row.billed - row.effective > 5_000 for row in bridged)


def test_commitments_are_found_with_their_unused_part(loaded: Loaded) -> None:
    ledger, _, truth = loaded
    unused = sum(row.unused_effective for row in ledger.commitments(Selection()))
    assert unused == next(w.amount for w in truth.wastes if w.kind == "unused commitment")


def test_what_was_planted_can_be_found_by_its_resource(loaded: Loaded) -> None:
    ledger, _, truth = loaded
    by_resource: dict[tuple[str | None, ...], Decimal] = {
        row.keys: row.amount for row in ledger.spend(Selection(cost="effective"), ("resource",))
    }
    for name in ("ranking-canary", "on demand nobody", "bucket ml-checkpoints-2025", "old-prototype", "late"):
        planted = next(w for w in truth.wastes if w.name == name)
        assert by_resource[(planted.resource,)] == planted.amount
