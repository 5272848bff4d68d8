"""Own table of calls: `model` and counts of tokens, with whatever else is known."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.calls import CALL_STATUSES, STATED, TAG, VARIANTS
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls.currency import currency_of
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "calls-csv"
CONVENTIONS = (
    f"A row is one call, or the sum of `requests` calls. Columns: {', '.join(f'`{name}`' for name in STATED)}. All but "
    "`model` may be missing; an empty cell is not known, and 0 is zero.",
    "`input_tokens` and so on name the counts as well. Other columns become tags, and `tag.KEY` the tag KEY.",
    "`input` is fresh input only, unless the file has a column `input_convention` (or `input_includes_cache`) that says "
    "`gross` (yes): then it holds what was read from and written to a cache, and what exceeds it is refused.",
    "`output` holds what was reasoned, unless `output_convention` says `beside-reasoning`.",
    f"`status` is one of {', '.join(CALL_STATUSES)}; empty is ok. `variant` is one of {', '.join(v for v in VARIANTS if v)}, or empty.",
    "`reported_cost` is what was measured, 0 included. Where it is empty, `estimated_cost` counts and is called an "
    "estimate; where the gateway answered by itself (`cached`), it is what was avoided.",
    "Times are ISO 8601, in UTC unless they say otherwise or `timezone` does.",
)
DEFINING = ("model", "input_tokens", "output_tokens")

#: Other names of columns.
_ALIASES = {
    "id": "call_id", "request_id": "call_id", "time": "called_at", "start": "called_at", "end": "ended_at",
    "user": "caller", "currency": "reported_currency", "api_key": "key", "input_includes_cache": "input_convention",
    "cost": "reported_cost", "reported_cost_usd": "reported_cost", "estimated_cost_usd": "estimated_cost",
    "avoided_cost_usd": "avoided_cost",
}  # fmt: skip
_TAGS = ("tag.", "tags.")


def sniff(head: Head) -> int:
    """How many of its columns the file has; 0 without a model and its tokens, or the id and the cost of calls."""
    targets = [_target(column) for column in head.columns]
    known = {target for target in targets if target in STATED}
    if (
        not known >= {"model", "input"}
        and not known >= {"model", "output"}
        and not known >= {"model", "call_id", "reported_cost"}
    ):
        return 0
    return len(known)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of the table mean; see `Reader`."""
    mapping: m.Mapping = {}
    for column in columns:
        mapping.setdefault(_target(column) or f"{TAG}{column}", m.Field(column))
    convention = mapping.get("input_convention")
    if convention is not None:
        says_gross = m.Equals(convention, ("gross", "yes", "true", "1", "input_includes_cache"))
        mapping["input_convention"] = m.Choose(((says_gross, m.Const("gross")),), m.Const("fresh"))
    else:
        mapping["input_convention"] = m.Const("fresh")
    mapping.setdefault("output_convention", m.Const("includes-reasoning"))
    in_usd = any(column.casefold().endswith("_cost_usd") for column in columns)
    currency_of(mapping, options, "USD" if in_usd else "")
    return Reading(
        dialect="model, tokens",
        dataset="calls",
        mapping=mapping,
        conventions=CONVENTIONS,
        date_columns=tuple(c for c in columns if STATED.get(_target(c)) == "time"),
    )


def _target(column: str) -> str:
    """What a column states; `tags.KEY` for a tag, empty for what is not known."""
    name = column.strip()
    prefix = next((prefix for prefix in _TAGS if name.casefold().startswith(prefix)), "")
    if prefix:
        return TAG + name[len(prefix) :]
    folded = name.casefold()
    folded = _ALIASES.get(folded, folded).removesuffix("_tokens")
    return folded if folded in STATED or folded == "tags" else ""
