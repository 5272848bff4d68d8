"""The `unitcost.toml` of the sample."""

from __future__ import annotations

from unitcost import money
from unitcost.samples.truth import Invoice, Truth

_HEAD = """\
# Settings of the sample workspace. docs/reference/settings.md says what each key means.

[ledger]
cost = "effective"
currency = "USD"
timezone = "UTC"

[fx]                                   # the GPU rental bills in euro; no rate, no total across currencies
EUR = [
  { from = 2026-01-01, usd = 1.10 },
  { from = 2026-09-15, usd = 1.12 },
]

[[load]]
path = "bills/aws-cur/*.csv"

[[load]]
path = "bills/azure/*.csv"

[[load]]
path = "bills/gcp/*.jsonl"

[[load]]
path = "bills/focus/*.csv"

[[load]]
path = "bills/neocloud/usage.csv"      # usage without prices; the rate card prices it
rates = "bills/neocloud/rates.csv"
provider = "neocloud"

[[load]]
path = "outputs.csv"

[owners.team]
from = ["tags.team", "tags.Team", "tags.cost-center"]
known = ["ads", "platform", "risk", "search", "support"]
inherit = ["account"]                  # a bucket without tags in an account that has one team
rules = [
  { when = "resource_id = 'vector-index'", is = "search" },
]

[owners.project]
from = ["tags.project"]

[owners.experiment]
from = ["tags.experiment", "tags.run"]

[[drivers]]                            # before the shipped rules, which know most of these bills
when = "tags.workload = 'prep'"
is = "preprocessing"

[[drivers]]
when = "sku_id = 'shared-storage'"
is = "storage"

[[split]]
of = { project = "platform" }
how = "proportional"
by = "team"
"""


def text(truth: Truth) -> str:
    """Settings file, with the invoice totals that the bills must meet."""
    return "\n".join([_HEAD, *(_invoice(invoice) for invoice in truth.invoices)])


def _invoice(invoice: Invoice) -> str:
    lines = [
        "[[invoice]]",
        f'id = "{invoice.number}"',
        f"total = {money.text(invoice.total)}",
        f'currency = "{invoice.currency}"',
    ]
    if not invoice.named:
        lines += [f'period = "{invoice.billing_month}"', f'provider = "{invoice.provider}"']
    return "\n".join([*lines, ""])
