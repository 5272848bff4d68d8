"""What is true about the sample, counted while it is made, so that tests can hold the tool against it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal

from unitcost import money
from unitcost.samples.lines import Line, exact_sum
from unitcost.samples.work_calls import CallsTruth
from unitcost.samples.work_truth import WorkTruth
from unitcost.samples.world import World, rows_of_month


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Charges of one provider in one billing month."""

    provider: str
    currency: str
    billing_month: str
    billed: Decimal
    effective: Decimal
    listed: Decimal
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """What an invoice asks for. `named`: the bill itself carries the number."""

    number: str
    provider: str
    currency: str
    billing_month: str
    total: Decimal
    named: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """Waste, or a trap, that the generator put in: how much effective cost it makes."""

    kind: str
    name: str
    provider: str
    resource: str
    currency: str
    amount: Decimal
    first_day: str
    last_day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """Cost that looks like waste and is none."""

    name: str
    provider: str
    resource: str
    currency: str
    amount: Decimal
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is true about a sample.

    Parameters
    ----------
    files
        Charge rows per file.
    owners, projects, drivers, lines
        Effective cost per name and currency. The empty name is "nobody" or "cannot be told".
    invoices
        Billed cost per invoice.
    preemptions
        How many times a spot run lost a machine, by run.
    work
        Who held what, and what came out of it.
    calls
        Calls of models, as the proxy's log tells of them.
    """

    seed: int
    months: tuple[str, ...]
    files: dict[str, int]
    totals: tuple[Total, ...]
    owners: dict[str, dict[str, Decimal]]
    projects: dict[str, dict[str, Decimal]]
    drivers: dict[str, dict[str, Decimal]]
    lines: dict[str, dict[str, Decimal]]
    invoices: tuple[Invoice, ...]
    wastes: tuple[Planted, ...]
    controls: tuple[Control, ...]
    preemptions: dict[str, int]
    work: WorkTruth
    calls: CallsTruth

    @property
    def rows(self) -> int:
        """Charge rows of all files."""
        return sum(self.files.values())

    def to_json(self) -> str:
        """The same as JSON text; amounts are decimal strings."""
        return json.dumps(asdict(self), default=money.text, indent=2) + "\n"


Sheet = tuple[str, str, list[Line]]  # provider, currency, lines


def totals(world: World, sheets: list[Sheet]) -> tuple[Total, ...]:
    """Sums per provider, currency and billing month."""
    found = []
    for provider, currency, lines in sheets:
        for month, name in enumerate(world.calendar.months):
            parts = [(line, rows_of_month(line, world.calendar, month)) for line in lines]
            found.append(
                Total(
                    provider=provider, currency=currency, billing_month=name,
                    billed=money.from_units(sum(exact_sum(line.billed[rows]) for line, rows in parts)),
                    effective=money.from_units(sum(exact_sum(line.effective[rows]) for line, rows in parts)),
                    listed=money.from_units(sum(exact_sum(line.listed[rows]) for line, rows in parts)),
                    rows=sum(rows.stop - rows.start for _, rows in parts),
                )
            )  # fmt: skip
    return tuple(found)


def by_label(sheets: list[Sheet], part: str) -> dict[str, dict[str, Decimal]]:
    """Effective cost per value of one part of the label, and currency.

    What is no use, such as tax or a credit, is for no driver and stands under the name of its line.
    """
    sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for _, currency, lines in sheets:
        for line in lines:
            name = getattr(line.label, part)
            if part == "driver" and line.label.line not in ("usage", "marketplace"):
                name = line.label.line
            sums[name][currency] += exact_sum(line.effective)
    return {
        name: {currency: money.from_units(amount) for currency, amount in sorted(amounts.items())}
        for name, amounts in sorted(sums.items())
    }


def planted(world: World, sheets: list[Sheet]) -> Iterator[Planted]:
    """Everything planted, line by line."""
    days = world.calendar.stamps("%Y-%m-%d")
    for provider, currency, lines in sheets:
        for line in lines:
            if line.waste and len(line.starts):
                wasted = line.effective if line.wasted is None else line.wasted
                yield Planted(
                    kind=line.waste, name=line.name, provider=provider, resource=line.resource, currency=currency,
                    amount=money.from_units(exact_sum(wasted)), first_day=days[int(line.starts[0])],
                    last_day=days[int(line.starts[-1]) + max(line.hours, 1) - 1],
                )  # fmt: skip


def controls(sheets: list[Sheet]) -> Iterator[Control]:
    """Every clean control, line by line."""
    for provider, currency, lines in sheets:
        for line in lines:
            if line.control and len(line.starts):
                yield Control(
                    name=line.name, provider=provider, resource=line.resource, currency=currency,
                    amount=money.from_units(exact_sum(line.effective)), why=line.control,
                )  # fmt: skip
