"""Lines of the token account: by model, team, project and key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.economics.token_costs import Made, Side, nothing, token_cost
from unitcost.facts.naming import spelt
from unitcost.facts.token_account import TokenGroup
from unitcost.facts.token_answers import Hosted, TokenCost
from unitcost.figure import Figure, figure_id, total
from unitcost.jobs.token_sums import CALLED, STANDS, CostColumn, CountColumn, TokenSums, tokens_of
from unitcost.report.amounts import ByUnit, Key

#: Lines that are worked out; the others are one line.
_MOST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """How lines are made: first step of the ids, dimensions, those that leaves are told apart by besides, the name."""

    path: str
    dims: tuple[str, ...]
    beside: tuple[str, ...]
    name_of: Callable[[Key], str]


def _model_name(key: Key) -> str:
    provider, model, variant = key
    name = "/".join(part for part in (provider, model) if part) or "(no model)"
    return f"{name} ({variant})" if variant else name


MODELS = Grouping(
    path="calls-model", dims=("provider", "model", "variant"), beside=("state", "price"), name_of=_model_name
)
TEAMS, PROJECTS, KEYS = (
    Grouping(
        path=f"calls-{dim}", dims=(dim,), beside=("state",), name_of=lambda key, dim=dim: spelt(key[0], dim)  # type: ignore[misc]
    )
    for dim in ("team", "project", "key")
)  # fmt: skip


def lines(sums: TokenSums, grouping: Grouping) -> dict[str, list[TokenCost]]:
    """Unit -> lines, the dearest first; what is beyond the first few is one line."""
    maker = _Maker(sums=sums, grouping=grouping)
    found: dict[str, list[TokenCost]] = {}
    for unit, keys in maker.by_unit.items():
        ranked = sorted(keys, key=lambda key: (-maker.amount(unit, key), -tokens_of(keys[key]), grouping.name_of(key)))
        shown, rest = (ranked, []) if len(ranked) <= _MOST + 1 else (ranked[:_MOST], ranked[_MOST:])
        listed = [maker.line(unit, grouping.name_of(key), [key]) for key in shown]
        found[unit] = [*listed, *([maker.line(unit, f"other ({len(rest)})", rest)] if rest else [])]
    return found


def _self_hosted(groups: Sequence[TokenGroup]) -> bool:
    """Whether all calls went to models that run on own machines."""
    return bool(groups) and all(group.sum.group.state == "self-hosted" for group in groups)


class _Maker:
    """Makes the lines of one grouping."""

    def __init__(self, *, sums: TokenSums, grouping: Grouping) -> None:
        self.sums, self.grouping = sums, grouping
        self.by_unit: dict[str, dict[Key, list[TokenGroup]]] = defaultdict(lambda: defaultdict(list))
        for group in sums.priced.groups:
            self.by_unit[sums.unit_of(group)][tuple(group.dim(dim) for dim in grouping.dims)].append(group)
        computed = [group for group in sums.priced.groups if group.sum.group.state == "computed"]
        self.cost = self._costs("cost", sums.priced.groups)
        self.input_cost, self.output_cost = self._costs("input_cost", computed), self._costs("output_cost", computed)

    def _costs(self, column: CostColumn, groups: Sequence[TokenGroup]) -> ByUnit:
        grouping, width = self.grouping, len(self.grouping.dims)
        path = grouping.path if column == "cost" else f"{grouping.path}-{column}"
        parts = self.sums.costs(f"{path}-part", (*grouping.dims, *grouping.beside), groups, column)
        return self.sums.amounts.regroup(path, parts, lambda key: key[:width], grouping.dims)

    def amount(self, unit: str, key: Key) -> Decimal:
        """Cost of a key, nothing where none is known."""
        figure = self.cost.get(unit, {}).get(key)
        return (figure.value if figure else None) or money.ZERO

    def line(self, unit: str, name: str, keys: Sequence[Key]) -> TokenCost:
        """Line of one key, or of several together."""
        groups = [group for key in keys for group in self.by_unit[unit][key]]
        covered = [group for group in groups if group.sum.group.state in STANDS]
        low, high = self._bounds(covered)
        hosted: Hosted = "own" if _self_hosted(groups) else "api"
        made = Made(
            path=self.grouping.path, name=name, hosted=hosted, cost=self._sum(self.cost, unit, name, keys, "cost"),
            covered_tokens=self._count(unit, name, keys, "tokens", CALLED),
            covered_calls=self._count(unit, name, keys, "calls", STANDS),
            input_tokens=self._count(unit, name, keys, "input_tokens"),
            output_tokens=self._count(unit, name, keys, "output_tokens"), calls=self._count(unit, name, keys, "calls"),
            accepted=self._count(unit, name, keys, "accepted", STANDS) if any(g.sum.judged for g in groups) else None,
            input_side=self._side(self.input_cost, unit, name, keys, "input_tokens"),
            output_side=self._side(self.output_cost, unit, name, keys, "output_tokens"), low=low, high=high,
            unpriced_tokens=tokens_of(group for group in groups if group.sum.group.state == "unpriced"),
        )  # fmt: skip
        return token_cost(made, at=self.sums.at)

    def _sum(self, costs: ByUnit, unit: str, name: str, keys: Sequence[Key], what: str) -> Figure:
        figures = [figure for key in keys if (figure := costs.get(unit, {}).get(key)) is not None]
        steps = (self.grouping.path, "all", name, what, unit)
        if not figures:
            return nothing(steps, unit, "no cost is known", at=self.sums.at, label=name)
        if len(figures) == 1:
            return figures[0]
        return total(figure_id(*steps, at=self.sums.at), tuple(figures), unit=unit, label=name)

    def _count(
        self, unit: str, name: str, keys: Sequence[Key], column: CountColumn, states: Sequence[str] = ()
    ) -> Figure:
        path = f"{self.grouping.path}-{'-'.join(states)}" if states else self.grouping.path
        parts = []
        for key in keys:
            members = [g for g in self.by_unit[unit][key] if not states or g.sum.group.state in states]
            parts.append(self.sums.count(f"{path}-{unit}", self.grouping.dims, key, members, column))
        if len(parts) == 1:
            return parts[0]
        kind = "tokens" if column.endswith("tokens") else "calls"
        return total(figure_id(path, "all", name, column, unit, at=self.sums.at), tuple(parts), unit=kind, label=column)

    def _side(self, costs: ByUnit, unit: str, name: str, keys: Sequence[Key], column: CountColumn) -> Side | None:
        """Cost and tokens of one side of computed calls; None where none is computed."""
        if not any(key in costs.get(unit, {}) for key in keys):
            return None
        return Side(
            cost=self._sum(costs, unit, name, keys, column.replace("tokens", "cost")),
            tokens=self._count(unit, name, keys, column, ("computed",)),
        )

    def _bounds(self, groups: Sequence[TokenGroup]) -> tuple[Decimal | None, Decimal | None]:
        """Least and most that calls may have cost; no upper bound where an answer was broken off."""
        lows, highs = [], []
        for group in groups:
            rate = self.sums.rate_of(group)
            factor = Decimal(1) if rate is None or group.sum.group.currency == self.sums.amounts.currency else rate
            lows.append(money.multiply(money.add([group.sum.cost, group.sum.low_gap]), factor))
            highs.append(money.multiply(money.add([group.sum.cost, group.sum.high_gap]), factor))
        broken = any(group.sum.broken_off and group.sum.group.state == "computed" for group in groups)
        return (money.add(lows), None if broken else money.add(highs)) if groups else (None, None)
