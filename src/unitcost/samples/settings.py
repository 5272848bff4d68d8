"""The `unitcost.toml` of the sample."""

from __future__ import annotations

from unitcost import money
from unitcost.samples.truth import Invoice, Truth
from unitcost.samples.work_runs import ACCEPTED
from unitcost.samples.work_truth import PRICES

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

[[load]]
path = "work/slurm/sacct.txt"          # sacct --parsable2 -D: all lives of requeued jobs
timezone = "UTC"                       # sacct prints local times and names no zone

[[load]]
path = "work/slurm/nodes.csv"          # which instance of the bill each node is

[[load]]
path = "work/prometheus/*.json"        # cards (DCGM), pods (kube-state-metrics), counters of vLLM

[[load]]
path = "work/mlflow/runs.json"

[[load]]
path = "work/gateway/*"                # an access log, CloudWatch's counts of requests, LiteLLM's spend log

[[load]]
path = "work/stores/*.csv"             # S3 Inventory, one per bucket

[owners.team]
from = ["tags.team", "tags.Team", "tags.cost-center"]
known = ["ads", "platform", "risk", "search", "support"]
inherit = ["account"]                  # a bucket without tags in an account that has one team
rules = [
  { when = "resource_id = 'vector-index'", is = "search" },
  { when = "service_name = 'slurm' and sub_account_id = 'search'", is = "search" },   # accounts of the scheduler
  { when = "service_name = 'slurm' and sub_account_id = 'ads'", is = "ads" },
  { when = "service_name = 'slurm' and sub_account_id = 'risk'", is = "risk" },
]

[owners.project]
from = ["tags.project"]
rules = [                              # keys of the proxy, which have a team and no project
  { when = "resource_id in ('assistant-prod', 'assistant-own', 'triage-prod')", is = "assistant" },
  { when = "resource_id = 'rewrite-prod'", is = "ranking" },
]

[owners.experiment]
from = ["tags.experiment", "tags.run"]

[[drivers]]                            # before the shipped rules, which know most of these bills
when = "tags.workload = 'prep'"
is = "preprocessing"

[[drivers]]
when = "sku_id = 'shared-storage'"
is = "storage"

[work]
accepted = "@ACCEPTED@"
prices = [                             # what users of the cluster are charged; where a bill names the machine, it wins
@PRICES@
]
kinds = [                              # what jobs are for, which their sources do not tell
  { when = "resource_name = 'embed-build'", is = "preprocessing" },
  { when = "service_name = 'kubernetes' and sub_account_id = 'serving'", is = "endpoint" },
]

[prices]
files = ["model-prices.csv"]           # what the API charges for its models
self_hosted = ["assistant-8b"]         # runs on own machines: its cost is in their bill
same_as = { token_api = ["Token API"] }   # the proxy writes the API's name in its own way

[[split]]
of = { project = "platform" }
how = "proportional"
by = "team"
"""


def text(truth: Truth) -> str:
    """Settings file, with the invoice totals that the bills must meet."""
    prices = "\n".join(f'  {{ accelerator = "{name}", usd_per_hour = {usd} }},' for name, usd in PRICES.items())
    head = _HEAD.replace("@ACCEPTED@", ACCEPTED).replace("@PRICES@", prices)
    return "\n".join([head, *(_invoice(invoice) for invoice in truth.invoices)])


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
