"""Ask the price book: what something costs, where capacity is cheapest, what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from unitcost.economics.capacity import By, Capacity, HourlyRate, hourly_rate, rank_capacity
from unitcost.economics.quotes import check_quote
from unitcost.economics.tiers import TierPart, tier_parts
from unitcost.errors import BadSetting, NoPrice, UnknownName
from unitcost.facts.accelerators import meant_by
from unitcost.facts.offers import Shape
from unitcost.facts.prices import OWN, InForce, PriceRecord, Source
from unitcost.facts.pricing import CATEGORIES
from unitcost.facts.tokens import TokenCounts
from unitcost.jobs.model_prices import ModelShown, model_records, models_in_force, show_model
from unitcost.jobs.workspace import Workspace
from unitcost.prices import PriceBook, Wanted, bundled, opening
from unitcost.prices.history import Change, changes
from unitcost.prices.models import ModelBook, Naming
from unitcost.prices.opening import PriceFiles
from unitcost.prices.store import PriceStore

_MEND = "see `unitcost prices list --name 'p5*'`, or give your own price under [prices]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLine:
    """A price in force.

    Parameters
    ----------
    hourly
        Its forms per machine and per accelerator, for a machine.
    parts
        What an asked quantity costs, tier by tier; empty when none was asked.
    notes
        What a reader of the price should know.
    """

    item: InForce
    hourly: HourlyRate | None = None
    parts: tuple[TierPart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Prices of what was asked for, at a moment, and the machines among it."""

    at: datetime
    lines: tuple[PriceLine, ...]
    shapes: tuple[Shape, ...] = ()
    model: ModelShown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A source of the book: how many prices it gives, of which days."""

    source: Source
    records: int
    first: str
    last: str


def open_book(workspace: Workspace) -> PriceBook:
    """Prices of machines and services that hold in a workspace."""
    return opening.open_book(_files(workspace))


def open_models(workspace: Workspace) -> ModelBook:
    """Prices of models that hold in a workspace."""
    return opening.open_models(_files(workspace))


def wanted(
    name: str = "", *, kind: str | None = None, provider: str = "", region: str = "", category: str | None = None
) -> Wanted:
    """What is looked for; empty = any."""
    return Wanted(sku=name, kind=kind or "", provider=provider, region=region, category=category or "")


def moment(text: str, workspace: Workspace) -> datetime:
    """The moment that is asked about: as written, else now.

    Raises
    ------
    BadSetting
        When it is no date.
    """
    if not text:
        return workspace.now
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadSetting(f"{text!r} is not a date", mend="write it as 2026-07-21") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def show(
    workspace: Workspace, wanted: Wanted, *, at: str = "", zones: bool = False, quantity: Decimal | None = None,
    variant: str = "", tokens: TokenCounts | None = None,
) -> Shown:  # fmt: skip
    """Prices of one thing at a moment: a machine, a service or else a model.

    Parameters
    ----------
    wanted
        What is asked for; its name must be known.
    at
        ISO date or moment; empty = now.
    zones
        Whether prices of single zones are shown beside those of the region.
    quantity
        How much is priced, in units; None = only the price.
    variant, tokens
        How a model is called, and a call of it to price.

    Raises
    ------
    UnknownName
        When the book knows no such name, provider or region.
    NoPrice
        When there is no price of it at that moment.
    """
    when = moment(at, workspace)
    book = open_book(workspace)
    if wanted.kind == "model" or variant or tokens or (not wanted.kind and not book.records(Wanted(sku=wanted.sku))):
        return _show_model(workspace, wanted, when, variant, tokens)
    found = sorted((item for item in book.find(wanted, when) if zones or not item.record.zone), key=_reading_order)
    if not found:
        raise NoPrice("only prices of single zones are known", where=wanted.sku, mend="ask with --zones")
    lines = tuple(_line(book, item, when, quantity) for item in found)
    keys = dict.fromkeys((line.item.record.provider, line.item.record.sku) for line in lines)
    shapes = [shape for key in keys if (shape := book.shape(*key)) is not None]
    return Shown(at=when, lines=lines, shapes=tuple(shapes))


def listed(workspace: Workspace, wanted: Wanted, *, at: str = "") -> Shown:
    """Prices in force of all that fits; nothing found is an empty answer."""
    when = moment(at, workspace)
    book = open_book(workspace)
    items = [item for item in book.in_force(wanted, when) if not item.record.zone]
    if wanted.kind == "model":
        items = models_in_force(open_models(workspace), wanted, when)
    return Shown(at=when, lines=tuple(_line(book, item, when, None) for item in items))


def sources(workspace: Workspace) -> list[SourceLine]:
    """The sources of the book, by name."""
    groups: dict[Source, list[PriceRecord]] = {}
    models = model_records(open_models(workspace), Wanted())
    for record in (*open_book(workspace).records(Wanted()), *models):
        groups.setdefault(record.source, []).append(record)
    return [
        SourceLine(
            source=source, records=len(records), first=min(r.observed for r in records),
            last=max(r.observed for r in records),
        )
        for source, records in sorted(groups.items(), key=lambda pair: pair[0].key)
    ]  # fmt: skip


def diff(workspace: Workspace, wanted: Wanted, *, before: str, after: str = "") -> list[Change]:
    """What costs something else at two moments; the second is now when it is not given."""
    start, end = moment(before, workspace), moment(after, workspace)
    if start >= end:
        raise BadSetting(f"{start.date()} is not before {end.date()}", mend="give the earlier day with --from")
    if wanted.kind == "model":
        return changes(model_records(open_models(workspace), wanted), start, end)
    records = [record for record in open_book(workspace).records(wanted) if not record.zone]
    return changes(records, start, end)


def find(
    workspace: Workspace,
    accelerator: str,
    *,
    count: Decimal = Decimal(1),
    regions: Sequence[str] = (),
    at: str = "",
    by: By = "on-demand",
    split: bool = False,
) -> list[Capacity]:
    """Machines that hold a number of accelerators, cheapest first.

    Parameters
    ----------
    accelerator
        One accelerator or a family: `H100-NVL`, `H100`.
    count
        How many are needed.
    regions
        Globs such as `us-*`; empty = all.
    by
        Which price ranks them.
    split
        Whether several machines may hold them together.

    Raises
    ------
    UnknownName
        When there is no such accelerator; the message names the near ones.
    NoPrice
        When no machine fits.
    """
    book = open_book(workspace)
    offers = book.offers(meant_by(accelerator), regions, moment(at, workspace))
    found = rank_capacity(offers, count, by=by, split=split)
    if not found:
        mend = "ask for fewer in one machine, allow several with --split, or widen --region"
        raise NoPrice(f"no machine with {count} {accelerator} is listed there", mend=mend)
    return found


def _show_model(workspace: Workspace, wanted: Wanted, at: datetime, variant: str, tokens: TokenCounts | None) -> Shown:
    """Price of a model; a name that nothing knows is answered with names of everything."""
    models = open_models(workspace)
    try:
        found = show_model(models, wanted.sku, provider=wanted.provider, at=at, variant=variant, tokens=tokens)
    except UnknownName:
        if wanted.kind or variant or tokens:
            raise
        names = {*open_book(workspace).names(), *models.names(wanted.provider)}
        raise UnknownName("name in the price book", wanted.sku, names, mend=_MEND) from None
    lines = tuple(PriceLine(item=item, notes=item.notes(at)) for item in found.items)
    return Shown(at=at, lines=lines, model=found)


def price_store(workspace: Workspace) -> PriceStore:
    """Where refreshed prices lie: beside the ledger."""
    return PriceStore(workspace.ledger_path.parent / "prices")


def _files(workspace: Workspace) -> PriceFiles:
    said = workspace.settings.prices
    naming = Naming(aliases=said.aliases, same_as=said.same_as, self_hosted=said.self_hosted)
    return PriceFiles(
        folder=workspace.folder, now=workspace.now, store=price_store(workspace).folder, files=said.files, litellm=said.litellm,
        naming=naming,
    )  # fmt: skip


def _reading_order(item: InForce) -> tuple[str, str, str, int, str]:
    """By provider, name and region; within these on-demand, spot, committed."""
    record = item.record
    return (record.provider, record.sku, record.region, CATEGORIES.index(record.category), str(record.commitment))


def _line(book: PriceBook, item: InForce, at: datetime, quantity: Decimal | None) -> PriceLine:
    record = item.record
    shape = book.shape(record.provider, record.sku, record.region) if record.kind == "instance" else None
    parts = (
        () if quantity is None else tier_parts(quantity, record.tiers, mode=record.mode, per=record.per)
    )  # fmt: skip
    hourly = hourly_rate(record, shape.accelerator_count if shape else None) if record.kind == "instance" else None
    return PriceLine(item=item, hourly=hourly, parts=parts, notes=(*item.notes(at), *_doubts(hourly, shape, at)))


def _doubts(hourly: HourlyRate | None, shape: Shape | None, at: datetime) -> tuple[str, ...]:
    """Whether a price of the user's own looks like one per accelerator, or per machine, beside the book's."""
    if hourly is None or shape is None or hourly.record.source.licence != OWN or not hourly.usd_per_machine_hour:
        return ()
    record = hourly.record
    wanted = Wanted(kind="instance", sku=record.sku, region=record.region, category=record.category)
    listed = [item.record for item in bundled().in_force(wanted, at) if not item.record.zone]
    if not listed or not shape.accelerator_count:
        return ()
    other = hourly_rate(listed[0], shape.accelerator_count).usd_per_machine_hour
    found = check_quote(hourly.usd_per_machine_hour, other, shape.accelerator_count)
    return (f"against the book, {found.sentence}",) if found.finding in ("per_gpu_price", "per_machine_price") else ()
