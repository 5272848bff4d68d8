"""What tokens cost: calls of models beside own serving, by whom, what is counted apart, and what has no price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.facts.token_answers import (
    Apart,
    BillJoin,
    CacheLine,
    MeteredTokens,
    PrefixLine,
    Reserved,
    TokenAccount,
    TokenCost,
)
from unitcost.figure import Basis, Figure, figure_id
from unitcost.report import charts
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections.tables import TOP

_HOSTED = {"api": "API", "own": "own machines"}
_BILLED = "API bill"
_OWNERS = ("team", "project", "key")


def tokens(given: ReportInput) -> Section | None:
    """Token account; None where nothing counts tokens."""
    account = given.tokens
    if account is None:
        return None
    made = _Tables(account, given.selection.tag)
    return Section(
        key="tokens", title="Tokens", question="What does a million tokens cost, from an API and on own machines?",
        tables=tuple(made.all()), notes=tuple(_notes(account)),
    )  # fmt: skip


class _Tables:
    """Makes the tables of one account."""

    def __init__(self, account: TokenAccount, at: str) -> None:
        self.account, self.at = account, at

    def all(self) -> Iterator[Table]:
        account = self.account
        billed = [line for line in account.metered if not self.has_calls(line)]
        for unit in sorted({*account.models, *account.own, *(line.currency for line in billed)}):
            lines = [*account.models.get(unit, []), *account.own.get(unit, [])]
            yield self.side_by_side(unit, lines, [line for line in billed if line.currency == unit][:TOP])
        for name, by_unit in zip(_OWNERS, (account.teams, account.projects, account.keys), strict=True):
            for unit, lines in by_unit.items():
                yield self.owners(name, unit, lines)
        yield from (self.apart(unit, rows) for unit, rows in account.apart.items() if rows)
        yield from (self.bills(unit, rows) for unit, rows in account.bills.items() if any(row.billed for row in rows))
        yield from (self.reserved(unit, rows) for unit, rows in account.reserved.items() if rows)
        beside_calls = [line for line in account.metered if self.has_calls(line)]
        if beside_calls:
            yield self.metered(beside_calls)
        if account.compared:
            yield self.compared()
        if account.cache:
            yield self.cache(account.cache)
        if account.prefix:
            yield self.prefix(account.prefix)
        if account.unpriced:
            yield self.unpriced()

    def has_calls(self, line: MeteredTokens) -> bool:
        """Whether calls of the provider of a line of the bill are loaded too."""
        return any(
            row.called is not None and row.provider == line.provider
            for rows in self.account.bills.values()
            for row in rows
        )

    def side_by_side(self, unit: str, lines: Sequence[TokenCost], billed: Sequence[MeteredTokens]) -> Table:
        columns = (
            Column(name="model or service"), Column(name="where"), Column(name=unit, kind="money"),
            Column(name="input tokens", kind="count", spare=True), Column(name="output tokens", kind="count", spare=True),
            Column(name="per M input", kind="unit"), Column(name="per M output", kind="unit"),
            Column(name="per M blended", kind="unit"), Column(name="blend"),
        )  # fmt: skip
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                line.name, _HOSTED[line.hosted], line.cost, line.input_tokens, line.output_tokens, line.per_input,
                line.per_output, line.blended, _doubt(line, self.account),
            )
            for line in lines
        )  # fmt: skip
        rows = (*rows, *(self.billed(line) for line in billed))
        return Table(columns=columns, rows=rows, unit=unit, caption=f"Per million tokens, {unit}")

    def billed(self, line: MeteredTokens) -> tuple[Cell, ...]:
        """Row of what the meters of a bill count, as long as no calls tell more."""
        name, counts, prices = self.meter(line)
        steps = ("metered", line.provider or "none", name or "none", line.currency)
        blended = self.price((*steps, "per", "blended"), line.blended, line.currency)
        several = len({one.provider for one in self.account.metered}) > 1
        named = f"{line.provider}/{name}" if several and line.provider else name
        return (
            named or None, _BILLED, self.number((*steps, "cost"), line.cost, line.currency), *counts, *prices, blended, line.blend,
        )  # fmt: skip

    def meter(self, line: MeteredTokens) -> tuple[str, list[Figure], list[Figure | None]]:
        """Name, tokens and prices of both sides."""
        name = f"{line.model} ({line.variant})" if line.variant else line.model
        steps = ("metered", line.provider or "none", name or "none", line.currency)
        sides = (("input", line.input_tokens, line.per_input), ("output", line.output_tokens, line.per_output))
        counts = [self.number((*steps, side), value, "tokens") for side, value, _ in sides]
        return name, counts, [self.price((*steps, "per", side), price, line.currency) for side, _, price in sides]

    def price(self, steps: Sequence[str], value: Decimal | None, currency: str) -> Figure | None:
        return None if value is None else self.number(steps, value, f"{currency}/million tokens")

    def owners(self, name: str, unit: str, lines: Sequence[TokenCost]) -> Table:
        columns = (
            Column(name=name), Column(name=unit, kind="money"), Column(name="calls", kind="count"),
            Column(name="input tokens", kind="count", spare=True), Column(name="output tokens", kind="count", spare=True),
            Column(name="per M blended", kind="unit"), Column(name="per call", kind="unit"),
            Column(name="per accepted answer", kind="unit"),
        )  # fmt: skip
        rows = tuple(
            (
                line.name, line.cost, line.calls, line.input_tokens, line.output_tokens, line.blended, line.per_call,
                line.per_accepted,
            )
            for line in lines[:TOP]
        )  # fmt: skip
        more = f"; {len(lines) - TOP} more" if len(lines) > TOP else ""
        return Table(columns=columns, rows=rows, unit=unit, caption=f"Calls by {name}, {unit}{more}")

    def apart(self, unit: str, rows: Sequence[Apart]) -> Table:
        columns = (
            Column(name="counted apart"), Column(name="calls", kind="count"), Column(name=unit, kind="money"),
            Column(name="avoided", kind="money"),
        )  # fmt: skip
        cells = tuple(
            (row.name, self.number(("apart", row.name, unit), row.calls, "calls"), row.cost, row.avoided)
            for row in rows
        )
        return Table(columns=columns, rows=cells, unit=unit, caption="Failed, broken off, tried again, or from a cache")

    def bills(self, unit: str, rows: Sequence[BillJoin]) -> Table:
        columns = (
            Column(name="provider"), Column(name="month"), Column(name="billed", kind="money"),
            Column(name="calls", kind="money"), Column(name="billed - calls", kind="money"),
            Column(name="counts", kind="money"),
        )  # fmt: skip
        cells = tuple(
            (row.provider or None, row.month or None, row.billed, row.called, row.difference, row.stands)
            for row in rows
        )
        return Table(
            columns=columns,
            rows=cells,
            unit=unit,
            caption="What providers billed for models, beside their calls; the bill counts where there is one",
        )

    def reserved(self, unit: str, rows: Sequence[Reserved]) -> Table:
        columns = (
            Column(name="reserved throughput"), Column(name=unit, kind="money"), Column(name="tokens", kind="count"),
            Column(name="per M", kind="unit"), Column(name="hours used"), Column(name="unused, at least", kind="money"),
        )  # fmt: skip
        cells = tuple(
            (
                row.name, row.cost, self.number(("reserved", row.provider, row.name, unit), row.tokens, "tokens"),
                row.per_mtok, f"{row.used_hours:.1f} of {row.paid_hours:.1f}", row.unused,
            )
            for row in rows
        )  # fmt: skip
        return Table(
            columns=columns, rows=cells, unit=unit, caption="A flat price, spread over the calls of its provider"
        )

    def metered(self, lines: Sequence[MeteredTokens]) -> Table:
        columns = (
            Column(name="tokens on bills"), Column(name="provider"), Column(name="input tokens", kind="count"),
            Column(name="output tokens", kind="count"), Column(name="per M input", kind="unit"),
            Column(name="per M output", kind="unit"), Column(name="currency"),
        )  # fmt: skip
        rows = []
        for line in lines[:TOP]:
            name, counts, prices = self.meter(line)
            rows.append((name or None, line.provider or None, *counts, *prices, line.currency))
        more = f"; {len(lines) - TOP} more" if len(lines) > TOP else ""
        return Table(
            columns=columns, rows=tuple(rows), caption=f"As the meters of bills count them, cached input included{more}"
        )

    def compared(self) -> Table:
        columns = (
            Column(name="provider"), Column(name="reported", kind="unit"), Column(name="computed", kind="unit"),
            Column(name="reported - computed", kind="unit"), Column(name="rows", kind="count"),
        )  # fmt: skip
        rows = []
        for provider, currency, reported, computed, count in self.account.compared:
            steps = ("compared", provider or "none", currency)
            figures = [
                self.number((*steps, name), value, currency)
                for name, value in (("reported", reported), ("computed", computed))
            ]
            gap = Figure(
                id=figure_id("tokens", *steps, "difference", at=self.at), value=money.subtract(reported, computed), unit=currency,
                basis="derived", op="difference", formula="reported - computed", inputs=tuple(figures), label="difference",
            )  # fmt: skip
            rows.append((provider or None, *figures, gap, self.number((*steps, "rows"), count, "rows")))
        return Table(
            columns=columns, rows=tuple(rows), caption="Reported by the source, and computed from the price book"
        )

    def cache(self, lines: Sequence[CacheLine]) -> Table:
        columns = (
            Column(name="prompt cache of"), Column(name="key"), Column(name="read", kind="share"),
            Column(name="ceiling", kind="unit"), Column(name="saved", kind="unit"), Column(name="lost", kind="unit"),
            Column(name="earned by"),
        )  # fmt: skip
        rows = []
        for line in lines[:TOP]:
            steps = ("cache", line.model, line.key or "none", line.currency)
            read = None if line.hit_share is None else self.number((*steps, "read"), line.hit_share, "share")
            amounts = [
                self.number((*steps, name), value, line.currency)
                for name, value in (("ceiling", line.ceiling), ("saved", line.saved), ("lost", line.lost))
            ]
            rows.append((line.model, line.key or None, read, *amounts, line.earned_by))
        more = f"; {len(lines) - TOP} more" if len(lines) > TOP else ""
        return Table(columns=columns, rows=tuple(rows), caption=f"Prompt caches, the largest loss first{more}")

    def prefix(self, lines: Sequence[PrefixLine]) -> Table:
        columns = (
            Column(name="prefix cache of"), Column(name="prompt tokens", kind="count"), Column(name="found", kind="count"),
            Column(name="hit rate", kind="share"), Column(name="computed", kind="count"), Column(name=""),
        )  # fmt: skip
        rows = []
        for line in lines[:TOP]:
            values = (
                ("prompt", line.prompt_tokens, "tokens"), ("found", line.hit_tokens, "tokens"),
                ("hit rate", line.hit_share, "share"), ("computed", line.computed_tokens, "tokens"),
            )  # fmt: skip
            cells = [
                None if value is None else self.number(("prefix", line.service, name), value, unit)
                for name, value, unit in values
            ]
            rows.append((line.service, *cells, line.reason))
        more = f"; {len(lines) - TOP} more" if len(lines) > TOP else ""
        return Table(columns=columns, rows=tuple(rows), caption=f"Prefix caches of own servers, in tokens{more}")

    def unpriced(self) -> Table:
        columns = (
            Column(name="without a price"), Column(name="tokens", kind="count"), Column(name="calls", kind="count"),
            Column(name="why"), Column(name="looks like"),
        )  # fmt: skip
        rows = tuple(
            (
                one.model or None, self.number(("unpriced", str(place), "tokens"), one.tokens, "tokens"),
                self.number(("unpriced", str(place), "calls"), one.calls, "calls"), one.reason, ", ".join(one.near) or None,
            )
            for place, one in enumerate(self.account.unpriced[:TOP])
        )  # fmt: skip
        more = len(self.account.unpriced) - TOP
        return Table(
            columns=columns, rows=rows, caption="Unpriced, which is not free" + (f"; {more} more" if more > 0 else "")
        )

    def number(self, steps: Sequence[str], value: int | Decimal, unit: str) -> Figure:
        basis: Basis = "measured" if isinstance(value, int) else "derived"
        return Figure(
            id=figure_id("tokens", *steps, at=self.at), value=Decimal(value), unit=unit, basis=basis, op="given",
            formula="from the calls that were loaded", label=" ".join(steps),
        )  # fmt: skip


def _doubt(line: TokenCost, account: TokenAccount) -> str:
    """The blend, and what makes the cost less than certain."""
    unused = line.hosted == "own" and line.blended.value is None and line.cost.value is not None
    parts = ["no tokens" if unused else line.blend]
    if line.unpriced_tokens:
        parts.insert(0, f"unpriced {line.unpriced_tokens:,}")
    if (
        line.cost.value is not None
        and line.low is not None
        and (line.low, line.high) != (line.cost.value, line.cost.value)
    ):
        parts.append(
            f"cost {charts.grouped(line.low)} to {charts.grouped(line.high) if line.high is not None else 'unknown'}"
        )
    return "; ".join(part for part in parts if part)


def _notes(account: TokenAccount) -> Iterator[str]:
    if account.coverage is not None:
        yield f"The cost of {charts.percent(account.coverage)} of the tokens of APIs is known; what has no price is in no total here."
    for unit, states in account.states.items():
        known = ", ".join(
            f"{charts.grouped(figure.value or Decimal(0))} {name}" for name, figure in sorted(states.items())
        )
        yield f"Calls in {unit}: {known}."
    if account.self_hosted:
        yield f"{', '.join(account.self_hosted)} runs on own machines: its cost is in their bill."
    if account.metered:
        yield "Tokens on bills are those that their meters name, cached input included."
    if any(account.own.values()):
        yield "Own machines cost what they were paid for, idle hours included, and have one price for input and output together."
    if not account.models:
        yield "No calls are loaded: a gateway's spend log, traces or a provider's usage would tell who called what."
        return
    yield "Calls stand beside the bill and are not added to it. Costs of failed calls and retries are in the totals."
    yield from account.notes
