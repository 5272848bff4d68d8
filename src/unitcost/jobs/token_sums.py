"""Figures over calls: costs and counts by dimensions, in one currency where dated rates allow it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unitcost import money
from unitcost.facts.call_sums import CallSum, CostState
from unitcost.facts.naming import spelt
from unitcost.facts.spend import SpendRow
from unitcost.facts.token_account import PricedCalls, TokenGroup
from unitcost.figure import Basis, Figure, Rows, figure_id, total
from unitcost.report.amounts import Amounts, ByUnit, Counted, Key

CountColumn = Literal["input_tokens", "output_tokens", "tokens", "calls", "accepted"]
CostColumn = Literal["cost", "input_cost", "output_cost", "avoided"]
#: Columns that are amounts of money.
MONEY = ("cost", "input_cost", "output_cost", "avoided")
#: States in which a cost stands.
STANDS: tuple[CostState, ...] = ("measured", "computed", "estimated", "cached")
#: Those of them in which a model was called.
CALLED: tuple[CostState, ...] = ("measured", "computed", "estimated")
_BASIS: dict[str, Basis] = {
    "measured": "measured",
    "cached": "measured",
    "computed": "derived",
    "estimated": "estimated",
}
#: Price records that a note names before it says how many more there are.
_MOST = 12
_AMOUNTS: dict[str, Callable[[CallSum], Decimal]] = {
    "cost": lambda s: s.cost,
    "input_cost": lambda s: s.input_cost,
    "output_cost": lambda s: s.output_cost,
    "avoided": lambda s: s.avoided,
}
_COUNTS: dict[str, Callable[[CallSum], int]] = {
    "input_tokens": lambda s: s.input_tokens,
    "output_tokens": lambda s: s.output_tokens,
    "tokens": lambda s: s.input_tokens + s.output_tokens,
    "calls": lambda s: s.calls,
    "accepted": lambda s: s.accepted,
}


def number(column: str, sums: Iterable[CallSum]) -> Decimal:
    """Sum of a column over sums of calls."""
    if column in _COUNTS:
        return Decimal(sum(map(_COUNTS[column], sums)))
    return money.add(map(_AMOUNTS[column], sums))


def tokens_of(groups: Iterable[TokenGroup]) -> int:
    """Tokens of groups, each once."""
    return sum(group.sum.input_tokens + group.sum.output_tokens for group in groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSums:
    """Makes figures of priced calls.

    Parameters
    ----------
    priced
        The calls.
    amounts
        Converts and names money.
    """

    priced: PricedCalls
    amounts: Amounts

    @property
    def at(self) -> str:
        """Tag of the selection."""
        return self.amounts.selection.tag

    def unit_of(self, group: TokenGroup) -> str:
        """Unit that a group's cost is shown in; calls without a cost stand beside those of the report's currency."""
        currency = group.sum.group.currency
        if not currency or currency == self.amounts.currency or self.rate_of(group) is not None:
            return self.amounts.currency
        return currency

    def rate_of(self, group: TokenGroup) -> Decimal | None:
        """What a group's currency is converted with; None where it is not."""
        found = self.amounts.rate_of(group.sum.group.currency, group.rate_since)
        return None if found is None else found.rate

    def costs(
        self, path: str, dims: tuple[str, ...], groups: Iterable[TokenGroup], column: CostColumn = "cost"
    ) -> ByUnit:
        """Figures by unit and values of the dimensions, of the groups in which a cost stands."""
        sums: dict[tuple[Key, str, object], list[TokenGroup]] = defaultdict(list)
        for group in groups:
            if group.sum.group.state in STANDS:
                key = tuple(group.dim(dim) for dim in dims)
                sums[key, group.sum.group.currency, group.rate_since].append(group)
        rows = [
            SpendRow(
                keys=key, currency=currency, rate_since=members[0].rate_since, amount=number(column, (member.sum for member in members)),
                row_count=sum(member.sum.rows for member in members),
            )
            for (key, currency, _), members in sums.items()
        ]  # fmt: skip
        records = self._records(dims, sums)
        state = dims.index("state")
        of = Counted(
            table="calls", column=column, noun="call row", basis_of=lambda key: _BASIS[str(key[state])],
            note_of=lambda key: records.get(key, ""),
        )  # fmt: skip
        return self.amounts.by_unit(path, dims, rows, of)

    def _records(self, dims: tuple[str, ...], sums: dict[tuple[Key, str, object], list[TokenGroup]]) -> dict[Key, str]:
        """Key -> the price records that its computed costs stand on."""
        found: dict[Key, set[str]] = defaultdict(set)
        for (key, _, _), members in sums.items():
            for member in members:
                if member.sum.group.state == "computed":
                    found[key].update(member.record_ids)
        return {key: named(sorted(ids)) for key, ids in found.items() if ids}

    def count(
        self,
        path: str,
        dims: tuple[str, ...],
        key: Key,
        groups: Sequence[TokenGroup],
        column: CountColumn,
        label: str = "",
    ) -> Figure:
        """How many tokens or calls groups of one key have."""
        where = tuple(zip(dims, key, strict=True))
        by_state: dict[tuple[str, str | None], list[TokenGroup]] = defaultdict(list)
        for group in groups:
            by_state[group.sum.group.state, group.dim("currency")].append(group)
        steps = (path, column, *(spelt(value, name) for name, value in where))
        unit = "tokens" if column.endswith("tokens") else "calls"
        leaves = []
        for (state, currency), members in sorted(by_state.items(), key=lambda item: (item[0][0], item[0][1] or "")):
            rows = sum(member.sum.rows for member in members)
            value = number(column, (member.sum for member in members))
            leaves.append(
                Figure(
                    id=figure_id("rows", *steps, state, currency or "none", at=self.at), value=value,
                    unit=unit, basis="measured", op="rows", formula=f"sum of {column} over {rows} rows of calls",
                    rows=Rows(
                        table="calls", column=column, where=(*where, ("state", state), ("currency", currency)),
                        currency=currency or "", row_count=rows,
                    ),
                    label=f"{column.replace('_', ' ')}, {state}",
                )
            )  # fmt: skip
        return total(figure_id(*steps, at=self.at), tuple(leaves), unit=unit, label=label or column.replace("_", " "))


def named(records: Sequence[str]) -> str:
    """Price records in words, the first few by name."""
    more = f" and {len(records) - _MOST} more" if len(records) > _MOST else ""
    return f"price records {', '.join(records[:_MOST])}{more}"
