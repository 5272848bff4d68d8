"""The commented settings that `unitcost init` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence

_HEAD = """\
# Settings of unitcost. Everything here is optional; what is commented out shows the default or an example.
# Reference: docs/reference/settings.md

[ledger]
# store = "duckdb:///.unitcost/ledger.duckdb"
cost = "effective"         # the cost that reports add up: billed | effective | list | contracted
currency = "USD"           # of totals; without a rate under [fx] currencies are never added
timezone = "UTC"           # of months and days in reports

# What a unit of another currency is worth from a day on.
# [fx]
# EUR = [ { from = 2026-01-01, usd = 1.10 } ]
"""
_TAIL = """
# Who owns a charge: rules first, then tags in this order, then what is inherited. Untagged is always shown.
[owners.team]
from = ["tags.team", "tags.cost-center"]    # case, separators and prefixes such as `user:` do not matter
# known = ["risk", "search"]                 # near misses are reported, never merged silently
# rules = [ { when = "resource_id ~ 'fraud-*'", is = "risk" } ]
# inherit = ["account", "resource_group"]    # marked as inherited

[owners.project]
from = ["tags.project"]

[owners.experiment]
from = ["tags.experiment", "tags.run"]

# What a charge is for, before the shipped rules; first match wins.
# [[drivers]]
# when = "usage_type ~ '*Host:ml.*'"
# is = "serving"

# Shared cost, divided among teams: even | proportional | fixed | metric.
# [[split]]
# of = { project = "platform" }
# how = "proportional"
# by = "team"

# What no bill shows.
# [[charge]]
# what = "labelling"
# usd = 3000
# on = 2026-09-01
# owner = { project = "fraud" }
# driver = "training"

# What the invoice says; `unitcost check` compares it to the cent.
# [[invoice]]
# id = "INV-2026-09"
# total = 182340.17
# currency = "USD"
# period = "2026-09"

# What counts as good enough: services are compared per useful unit only at this bar.
# [quality.fraud]
# metric = "auc"
# bar = 0.91
# margin = 0.005
# error_cost_usd = 0.04

# Prices of your own win over the price book; a model that no list knows is "unpriced", never free.
# [prices]
# files = ["our-prices.csv"]                # machines or models, one row per price
# litellm = ["model_prices.json"]           # the JSON form of litellm
# self_hosted = ["own-*"]                   # models whose cost is in the bill of your machines
# aliases = { "prod-chat" = "openai/gpt-4o" }
# same_as = { azure = ["openai"] }          # these providers' prices hold for it too

# Where two sources tell of the same calls, the one that counts.
# [calls]
# counts = "litellm"
"""


def template(files: Sequence[tuple[str, str]]) -> str:
    """Text of a new `unitcost.toml`.

    Parameters
    ----------
    files
        (path pattern, what it was recognised as) of each kind of file found.
    """
    entries = [f"\n[[load]]\npath = {_quoted(path)}    # {_one_line(kind)}\n" for path, kind in files]
    if not entries:
        entries = ['\n# [[load]]\n# path = "bills/*.parquet"    # the reader is found by the columns\n']
    return _HEAD + "".join(entries) + _TAIL


def _quoted(text: str) -> str:
    """TOML basic string: as in JSON, but DEL is escaped and nothing else beyond ASCII needs to be."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
