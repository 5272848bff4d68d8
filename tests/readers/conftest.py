"""What the tests of readers share: a file made on the spot, read, and its rows looked at."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from unitcost import readers
from unitcost.facts.source import Plan, ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A plan, and the rows of its scan as text, row numbers apart."""

    plan: Plan
    rows: list[list[str]]
    numbers: list[int]

    def column(self, name: str) -> list[str]:
        position = self.plan.scan.columns.index(name)
        return [row[position] for row in self.rows]

    @property
    def flags(self) -> str:
        return " ".join(self.plan.flags)


def take(path: Path, options: ReadOptions, workdir: Path, *, careful: bool = False) -> Taken:
    """Read a file and the cells of its scan."""
    workdir.mkdir(exist_ok=True)
    plan = readers.read(path, options, workdir=workdir, careful=careful)
    if plan.scan.format == "parquet":
        return Taken(plan=plan, rows=[], numbers=[])
    with plan.scan.path.open(encoding="utf-8", newline="") as stream:
        found = list(csv.reader(stream))[1:]
    if plan.scan.numbered:
        return Taken(plan=plan, rows=[row[1:] for row in found], numbers=[int(row[0]) for row in found])
    return Taken(plan=plan, rows=found, numbers=list(range(1, len(found) + 1)))


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Taken]:
    """Write a file and read it: `read(text or bytes, careful=..., name=..., **options)`."""

    def reading(data: str | bytes, *, name: str = "bill", careful: bool = False, **options: object) -> Taken:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return take(path, ReadOptions(**options), tmp_path / "work", careful=careful)

    return reading


@pytest.fixture
def take_file(tmp_path: Path) -> Callable[..., Taken]:
    """Read a file that exists: `take_file(path, **options)`."""

    def reading(path: Path, *, careful: bool = False, **options: object) -> Taken:
        return take(path, ReadOptions(**options), tmp_path / "work", careful=careful)

    return reading


HEADER = "BilledCost,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ServiceName"
PERIOD = "2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,2026-09-03T00:00:00Z,2026-09-04T00:00:00Z"


@pytest.fixture
def bill() -> Callable[..., str]:
    """A small FOCUS csv: one row per amount, or whole lines as they are."""

    def make(*amounts: str, lines: tuple[str, ...] = (), header: str = HEADER, end: str = "\n") -> str:
        rows = [f"{amount},USD,{PERIOD},storage" for amount in amounts]
        return end.join([header, *rows, *lines]) + end

    return make
