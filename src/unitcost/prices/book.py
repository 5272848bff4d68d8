"""The price book: records of many sources, looked up by provider, region, name, category and time."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from unitcost.errors import NoPrice, UnknownName
from unitcost.facts.offers import Offer, Shape
from unitcost.facts.prices import InForce, PriceRecord, Source
from unitcost.facts.pricing import PricingCategory
from unitcost.prices import tables
from unitcost.prices.history import in_force
from unitcost.prices.tables import Row

_TABLES = ("instances.csv", "services.csv")
_GLOB = "*?["
_LOOKED_AT = ("sku", "region", "provider", "kind", "category")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for. Each may be a glob such as `us-*`; empty = any. Letter case is ignored."""

    kind: str = ""
    provider: str = ""
    region: str = ""
    sku: str = ""
    category: str = ""


class PriceBook:
    """Price records and machines.

    Parameters
    ----------
    rows
        Cells of records; each becomes a record when it is looked up.
    shapes
        What the machines hold.
    sources
        Sources by key.
    own
        Records that the user wrote; they win.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        shapes: Iterable[Shape],
        sources: dict[str, Source],
        own: Sequence[PriceRecord] = (),
    ) -> None:
        self._rows = rows
        self._by_sku: dict[str, list[Row]] = {}
        self._own = tuple(own)
        self.sources = sources
        self.shapes = {(s.provider, s.instance_type, s.region): s for s in shapes}

    def with_tables(self, rows: Sequence[Row], shapes: Sequence[Shape], sources: dict[str, Source]) -> PriceBook:
        """The book with further tables; machines that it knows keep their shape."""
        if not rows:
            return self
        return PriceBook(
            [*self._rows, *rows], [*shapes, *self.shapes.values()], {**self.sources, **sources}, self._own
        )  # fmt: skip

    def with_own(self, records: Sequence[PriceRecord], shapes: Sequence[Shape]) -> PriceBook:
        """The book with records of the user's, which win, and machines that only they describe.

        A record without provider is of the one provider who rents out such a machine.
        """
        sellers: dict[str, set[str]] = {}
        for shape in (*self.shapes.values(), *shapes):
            sellers.setdefault(shape.instance_type, set()).add(shape.provider)

        def named(record: PriceRecord) -> PriceRecord:
            known = sellers.get(record.sku, set())
            return replace(record, provider=next(iter(known))) if not record.provider and len(known) == 1 else record

        own = (*self._own, *map(named, records))
        return PriceBook(self._rows, [*self.shapes.values(), *shapes], self.sources, own)

    def names(self) -> set[str]:
        """Names of all machines and services."""
        return {row["sku"] for row in self._rows} | {record.sku for record in self._own}

    def records(self, wanted: Wanted) -> list[PriceRecord]:
        """All records of what is wanted, of all times; the user's own first."""
        own = [r for r in self._own if _fits_record(r, wanted)]
        return [*own, *(tables.record(row, self.sources) for row in self._named(wanted.sku) if _fits_row(row, wanted))]

    def _named(self, sku: str) -> Sequence[Row]:
        """Rows that can be of a name: those that have it where it is no glob, else all."""
        if not sku or any(sign in sku for sign in _GLOB):
            return self._rows
        if not self._by_sku:
            for row in self._rows:
                self._by_sku.setdefault(row["sku"].casefold(), []).append(row)
        return self._by_sku.get(sku.casefold(), [])

    def in_force(self, wanted: Wanted, at: datetime) -> list[InForce]:
        """What is wanted and has a price at a moment."""
        return in_force(self.records(wanted), at)

    def find(self, wanted: Wanted, at: datetime) -> list[InForce]:
        """The same, but nothing is an error.

        Raises
        ------
        UnknownName
            When the book knows no such name or region; the message names the near ones.
        NoPrice
            When it knows the thing, but no price of it at that moment or in that category.
        """
        records = self.records(wanted)
        if not records:
            raise self._unknown(wanted)
        found = in_force(records, at)
        if not found:
            first = min(r.effective_from or datetime.min.replace(tzinfo=UTC) for r in records)
            raise NoPrice(
                f"there is no price for {at.date()}; the first is from {first.date()}", where=wanted.sku,
                mend="ask for a later day with --at, or give your own price under [prices]",
            )  # fmt: skip
        return found

    def price(
        self, sku: str, *, region: str, at: datetime, category: PricingCategory = "Standard", provider: str = ""
    ) -> InForce:
        """The one price of a machine in a region and category at a moment, of the whole region.

        Raises
        ------
        UnknownName
            When the machine or the region is not known.
        NoPrice
            When there is no such price, or several providers sell that name.
        """
        found = self.find(Wanted(kind="instance", provider=provider, region=region, sku=sku, category=category), at)
        whole = [item for item in found if not item.record.zone] or found
        providers = {item.record.provider for item in whole}
        if len(providers) > 1:
            raise NoPrice(f"{', '.join(sorted(providers))} sell it", where=sku, mend="name the provider")
        return whole[0]

    def shape(self, provider: str, instance_type: str, region: str = "") -> Shape | None:
        """What a machine holds in a region."""
        shape = self.shapes.get((provider, instance_type, region)) or self.shapes.get((provider, instance_type, ""))
        return shape or next((s for k, s in sorted(self.shapes.items()) if k[:2] == (provider, instance_type)), None)

    def machines(self) -> dict[tuple[str, str], Shape]:
        """One shape per (provider, type), for checks."""
        return {(s.provider, s.instance_type): s for s in self.shapes.values()}

    def offers(self, accelerators: frozenset[str], regions: Sequence[str], at: datetime) -> list[Offer]:
        """Machines with one of these accelerators, in regions that a glob names, with their prices in force."""
        kinds = {key[:2] for key, shape in self.shapes.items() if shape.accelerator in accelerators}
        rows = [row for row in self._rows if _is_machine(row) and (row["provider"], row["sku"]) in kinds]
        own = [r for r in self._own if r.kind == "instance" and (r.provider, r.sku) in kinds]
        records = [*(tables.record(row, self.sources) for row in rows), *own]
        items = [item for item in in_force(records, at) if not item.record.zone]
        places = {(r.provider, r.sku, r.region or "any") for r in records if not r.zone and _is_in(r.region, regions)}
        special = {place[:2] for place in places if place[2] != "any"}
        offers = []
        for place in sorted(places):
            found = [item for item in items if _is_of(item.record, *place)]
            if found and (place[2] != "any" or place[:2] not in special):
                offers.append(self._offer(*place, found))
        return offers

    def _offer(self, provider: str, sku: str, region: str, items: Sequence[InForce]) -> Offer:
        shape = self.shape(provider, sku, region)
        assert shape is not None
        by_category = {item.record.category: item.record for item in items}
        return Offer(
            shape=replace(shape, region=region), region=region, on_demand=by_category.get("Standard"),
            spot=by_category.get("Dynamic"),
            committed=tuple(item.record for item in items if item.record.category == "Committed"),
        )  # fmt: skip

    def _unknown(self, wanted: Wanted) -> UnknownName | NoPrice:
        """Why there is no record: the name, the region, the provider, or the category is at fault."""
        for part, kind in (("provider", "provider"), ("sku", "name in the price book"), ("region", "region")):
            value = getattr(wanted, part)
            narrowed = Wanted(
                provider=wanted.provider, sku=wanted.sku if part in ("sku", "region") else "",
                region=wanted.region if part == "region" else "",
            )  # fmt: skip
            if value and not self.records(narrowed):
                others = self.records(replace(narrowed, **{part: ""}))
                names = {getattr(record, part) for record in others}
                mend = "see `unitcost prices list --name 'p5*'`" if part == "sku" else ""
                where = wanted.sku if part == "region" else ""
                return UnknownName(kind, value, names, where=where, mend=mend)
        return NoPrice(
            f"there is no {wanted.category or wanted.kind} price of it", where=wanted.sku,
            mend="leave the category out to see those there are",
        )  # fmt: skip


@cache
def bundled() -> PriceBook:
    """The book that ships with the project."""
    folder = files("unitcost.prices") / "tables"

    def read(name: str) -> list[dict[str, str]]:
        return tables.rows((folder / name).read_text(encoding="utf-8"))

    rows = [row for name in _TABLES for row in read(name)]
    return PriceBook(rows, map(tables.shape, read("shapes.csv")), tables.sources(read("sources.csv")))


def _is_in(region: str, globs: Sequence[str]) -> bool:
    """Whether a region is asked for; what has none is everywhere."""
    return not region or not globs or any(_matches(region, glob) for glob in globs)


def _is_of(record: PriceRecord, provider: str, sku: str, region: str) -> bool:
    """Whether a record is that of a machine in a region; one without region is, everywhere."""
    return (record.provider, record.sku) == (provider, sku) and record.region in ("", region)


def _is_machine(row: Row) -> bool:
    return (row.get("kind") or "instance") == "instance"


def _fits_row(row: Row, wanted: Wanted) -> bool:
    return _fits(wanted, {name: row.get(name) or tables.RECORD_COLUMNS[name] for name in _LOOKED_AT})


def _fits_record(record: PriceRecord, wanted: Wanted) -> bool:
    return _fits(wanted, {name: getattr(record, name) for name in _LOOKED_AT})


def _fits(wanted: Wanted, values: dict[str, str]) -> bool:
    """Whether a record is wanted; one without a region holds in every region."""
    return all(
        not (glob := getattr(wanted, name)) or _matches(value, glob) or (name == "region" and not value)
        for name, value in values.items()
    )


def _matches(value: str, glob: str) -> bool:
    value, glob = value.casefold(), glob.casefold()
    return value == glob or (any(sign in glob for sign in _GLOB) and fnmatch.fnmatchcase(value, glob))
