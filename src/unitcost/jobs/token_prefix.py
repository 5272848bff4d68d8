"""Prefix caches of own servers, from their counters."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from unitcost import money
from unitcost.economics.prefix_cache import prefix_cache
from unitcost.errors import UnitcostError
from unitcost.facts.token_answers import PrefixLine

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking

_PROMPT, _QUERIES, _HITS = "prompt_tokens", "prefix_cache_queries", "prefix_cache_hits"


def prefix_lines(asking: Asking) -> list[PrefixLine]:
    """Services whose servers count their prefix cache, the one with most prompt tokens first."""
    counts: dict[str, dict[str, dict[str, Decimal]]] = defaultdict(lambda: defaultdict(dict))
    for service, metric, unit, quantity in asking.ledger.work.served(asking.selection, (_PROMPT, _QUERIES, _HITS)):
        counts[service][metric][unit] = quantity
    lines = [_line(service, found) for service, found in counts.items() if found.get(_QUERIES) or found.get(_HITS)]
    return sorted(lines, key=lambda line: (-(line.prompt_tokens or money.ZERO), line.service))


def _line(service: str, found: dict[str, dict[str, Decimal]]) -> PrefixLine:
    prompt = found.get(_PROMPT, {}).get("tokens")
    missing = [name for name in (_PROMPT, _QUERIES, _HITS) if not found.get(name)]
    units = {unit for name in (_QUERIES, _HITS) for unit in found.get(name, {})}
    if prompt is None or missing:
        return PrefixLine(
            service=service, prompt_tokens=prompt, reason=f"nothing counts {', '.join(missing) or 'tokens'}"
        )
    if len(units) > 1:
        return PrefixLine(service=service, prompt_tokens=prompt, reason=f"counted in {' and in '.join(sorted(units))}")
    (unit,) = units
    queries, hits = found[_QUERIES][unit], found[_HITS][unit]
    try:
        cache = prefix_cache(prompt_tokens=prompt, queries=queries, hits=hits, unit=unit)
    except UnitcostError as error:
        return PrefixLine(service=service, prompt_tokens=prompt, reason=error.what)
    return PrefixLine(
        service=service, prompt_tokens=prompt, hit_tokens=hits, hit_share=cache.hit_share,
        computed_tokens=cache.computed_prompt_tokens, reason="" if queries else "nothing was looked up",
    )  # fmt: skip
