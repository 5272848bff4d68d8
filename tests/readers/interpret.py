"""A mapping worked out row by row in plain Python, as a second opinion on what readers mean."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

from unitcost.facts import mapping as m
from unitcost.money import add, multiply, parse_amount, round_places
from unitcost.units import LEDGER_PLACES


class Row:
    """One row; cells are found by name without regard to case, and are None when empty or a spelling of null."""

    def __init__(self, columns: Sequence[str], cells: Sequence[str], nulls: Sequence[str] = ()) -> None:
        self.cells: dict[str, str] = {}
        for column, cell in zip(columns, cells, strict=False):
            if cell != "" and cell not in nulls:
                self.cells.setdefault(column.casefold(), cell)

    def text(self, node: m.Expr) -> str | None:
        match node:
            case m.Field(name):
                return self.cells.get(name.casefold())
            case m.Const(text):
                return text
            case m.First(of):
                return next((found for n in of if (found := self.text(n)) is not None), None)
            case m.Choose():
                return self.text(self.chosen(node))
            case m.JoinText(of, separator):
                return separator.join(found for n in of if (found := self.text(n)) is not None) or None
            case m.Between(of, start, end):
                found = re.search(
                    f"{re.escape(start)}(.*?)(?:{re.escape(end)}|$)", self.text(of) or "", re.IGNORECASE | re.DOTALL
                )
                return found[1] or None if found else None
        raise AssertionError(node)

    def chosen(self, node: m.Choose) -> m.Expr:
        return next((value for condition, value in node.branches if self.holds(condition)), node.otherwise)

    def holds(self, node: m.Condition) -> bool:
        match node:
            case m.Equals(of, values):
                return (self.text(of) or "\0").casefold() in {value.casefold() for value in values}
            case m.Matches(of, glob):
                return fnmatchcase((self.text(of) or "\0").casefold(), glob.casefold())
            case m.IsNull(of):
                return self.text(of) is None
            case m.IsZero(of):
                return self.amount(of) == 0
            case m.Not(of):
                return not self.holds(of)
            case m.Every(of):
                return all(self.holds(n) for n in of)
            case m.Any(of):
                return any(self.holds(n) for n in of)
        raise AssertionError(node)

    def amount(self, node: m.Expr) -> Decimal | None:
        match node:
            case m.Choose():
                return self.amount(self.chosen(node))
            case m.First(of):
                return next((found for n in of if (found := self.amount(n)) is not None), None)
            case m.Total(of):
                found = [amount for n in of if (amount := self.amount(n)) is not None]
                return add(found) if found else None
            case m.Negative(of):
                amount = self.amount(of)
                return None if amount is None else amount.copy_negate()
            case m.Product(left, right):
                one, other = self.amount(left), self.amount(right)
                return None if one is None or other is None else round_places(multiply(one, other), LEDGER_PLACES)
            case m.JsonSum(of, member):
                items = json.loads(self.text(of) or "null", parse_float=str, parse_int=str)
                return None if items is None else add(parse_amount(item[member]) for item in items)
        text = self.text(node)
        return None if text is None else parse_amount(text)

    def tags(self, node: m.Expr) -> dict[str, str]:
        match node:
            case m.ColumnTags(pairs):
                return {key: found for key, column in pairs if (found := self.text(m.Field(column))) is not None}
            case m.JsonTags(of):
                return dict(json.loads(self.text(of) or "{}") or {})
            case m.LabelTags(of):
                return {item["key"]: item["value"] for item in reversed(json.loads(self.text(of) or "[]"))}
            case m.MergedTags(of):
                return {key: value for n in reversed(of) for key, value in self.tags(n).items()}
        raise AssertionError(node)


def table(path: Path) -> tuple[tuple[str, ...], list[list[str]]]:
    """Header and rows of a csv, rows that are too short filled up."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    return tuple(header), [row + [""] * (len(header) - len(row)) for row in rows]
