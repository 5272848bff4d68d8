"""Services on own machines beside calls of a provider's models: cost over counted tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from unitcost.economics.token_costs import Made, nothing, token_cost
from unitcost.facts.answers import UnitCost
from unitcost.facts.token_answers import TokenCost
from unitcost.figure import Figure, total

#: What one unit cost is of -> side of the tokens; a source that does not tell sides counts "tokens".
_INPUT = ("million input tokens", "million prompt tokens")
_OUTPUT = ("million output tokens", "million generated tokens", "million completion tokens")
_BOTH = ("million tokens",)
_PATH = "own-tokens"


def own_serving(costs: Iterable[UnitCost], *, at: str) -> dict[str, list[TokenCost]]:
    """Unit -> services whose tokens are counted, the dearest first.

    A service has one cost for all its tokens, so it has a blended price and none by side.

    Parameters
    ----------
    at
        Tag of the selection, for figure ids.
    """
    services: dict[str, dict[str, UnitCost]] = defaultdict(dict)
    for cost in costs:
        if cost.unit in (*_INPUT, *_OUTPUT, *_BOTH):
            services[cost.service][cost.unit] = cost
    found: dict[str, list[TokenCost]] = defaultdict(list)
    for service, by_unit in services.items():
        line = _line(service, by_unit, at)
        found[line.cost.unit].append(line)
    return {unit: sorted(lines, key=lambda line: (-(line.cost.value or 0), line.name)) for unit, lines in found.items()}


def _line(service: str, by_unit: Mapping[str, UnitCost], at: str) -> TokenCost:
    cost = next(iter(by_unit.values())).cost

    def counted(name: str, units: tuple[str, ...]) -> Figure:
        parts = tuple(by_unit[unit].quantity for unit in units if unit in by_unit)
        steps = (_PATH, service, name)
        if not parts:
            return nothing(steps, "tokens", "not counted", at=at, label=name)
        return parts[0] if len(parts) == 1 else total("/".join(steps) + "@" + at, parts, unit="tokens", label=name)

    calls = nothing((_PATH, service, "calls"), "calls", "not counted here", at=at, label="calls")
    known = [unit for unit in (*_INPUT, *_OUTPUT) if unit in by_unit] or list(_BOTH)
    return token_cost(
        Made(
            path=_PATH, name=service, hosted="own", cost=cost, covered_tokens=counted("tokens", tuple(known)),
            input_tokens=counted("input", _INPUT), output_tokens=counted("output", _OUTPUT),
            calls=calls, covered_calls=calls,
        ),
        at=at,
    )  # fmt: skip
