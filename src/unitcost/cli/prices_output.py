"""Printing prices: for people with their date and source, for machines with all there is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import click

from unitcost import money
from unitcost.cli.output import print_json, print_table
from unitcost.cli.prices_models import model_data, print_model, unit_text
from unitcost.economics.capacity import By, Capacity, HourlyRate
from unitcost.errors import BadSetting
from unitcost.facts.offers import Shape
from unitcost.facts.prices import ACCELERATOR_HOUR, InForce, PriceRecord, Source, stale_after_days
from unitcost.jobs.prices import PriceLine, Shown, SourceLine
from unitcost.prices.history import Change

_SCHEMA = 1
#: Places of a price that does not divide evenly, printed for a person.
_PLACES = 4


def number(text: str) -> Decimal:
    """Number of an option.

    Raises
    ------
    BadSetting
        When it is none, or negative.
    """
    try:
        value = money.parse_amount(text)
    except ValueError:
        raise BadSetting(f"{text!r} is not a number", mend="write it as 8 or 10240.5") from None
    if value < 0:
        raise BadSetting(f"{text} is negative", mend="give how much is needed")
    return value


def print_prices(shown: Shown, *, as_json: bool) -> None:
    """Print prices in force, and on standard error what a reader should know of them."""
    if as_json:
        shapes = [_shape_data(shape) for shape in shown.shapes]
        lines = [_line_data(line) for line in shown.lines]
        model = {"model": model_data(shown.model)} if shown.model else {}
        data = {"schema_version": _SCHEMA, "at": shown.at.isoformat(), "machines": shapes, **model, "prices": lines}
        print_json(data)
        return
    if shown.model:
        print_model(shown.model)
        _print_notes(shown)
        return
    for shape in shown.shapes:
        click.echo(_shape_text(shape))
    for line in shown.lines:
        _print_card(line)
    _print_notes(shown)


def print_list(shown: Shown, *, as_json: bool) -> None:
    """Print prices in force as a table."""
    if as_json:
        print_prices(shown, as_json=True)
        return
    headers = ["name", "region", "category", "price", "per", "since", "source"]
    print_table(headers, [_cells(line) for line in shown.lines], numeric=[False] * 3 + [True] + [False] * 3)
    stale = sum(bool(line.notes) for line in shown.lines)
    if stale:
        click.echo(f"! {stale} of {len(shown.lines)} have notes, such as their age; `unitcost prices show`", err=True)


def print_capacity(found: Sequence[Capacity], at: datetime, *, by: By, limit: int, as_json: bool) -> None:
    """Print machines that hold enough accelerators."""
    if as_json:
        print_json(
            {"schema_version": _SCHEMA, "at": at.isoformat(), "capacity": [_capacity_data(item) for item in found]}
        )
        return
    devices = {item.offer.shape.accelerator for item in found}
    gpus = next(iter(devices)) if len(devices) == 1 else "GPUs"
    headers = ["machine", "region", gpus, "on-demand USD/h", "spot USD/h", "committed USD/h", f"{by} per GPU-hour"]
    rows = [_capacity_cells(item, by, many=len(devices) > 1) for item in found[:limit]]
    print_table(headers, rows, numeric=[False] * 2 + [True] * 5)
    if len(found) > limit:
        click.echo(f"{len(found) - limit} more; see them with --limit", err=True)
    records = [rate.record for item in found[:limit] for rate in (item.on_demand, item.spot, item.committed) if rate]
    stale = [r for r in records if (at.date() - r.observed_on).days > stale_after_days(r)]
    if stale:
        oldest = min(r.observed for r in stale)
        click.echo(
            f"! {len(stale)} of {len(records)} prices are stale, the oldest read {oldest}; `unitcost prices show NAME`"
            " says which",
            err=True,
        )


def print_changes(found: Sequence[Change], *, everything: bool, as_json: bool) -> None:
    """Print what costs something else; what is new or gone only when everything is asked for."""
    if as_json:
        print_json({"schema_version": _SCHEMA, "changes": [_change_data(change) for change in found]})
        return
    changed = [change for change in found if change.before and change.after]
    headers = ["name", "region", "category", "before", "after", "change", ""]
    rows = [_change_cells(change) for change in (found if everything else changed)]
    print_table(headers, rows, numeric=[False] * 3 + [True] * 3 + [False])
    if not everything and len(changed) < len(found):
        new = sum(change.before is None for change in found)
        gone = len(found) - len(changed) - new
        click.echo(f"{new} more are new and {gone} gone; --all lists them", err=True)


def print_sources(found: Sequence[SourceLine], *, as_json: bool) -> None:
    """Print the sources of the book."""
    if as_json:
        rows = [{**_source_data(s.source), "records": s.records, "first": s.first, "last": s.last} for s in found]
        print_json({"schema_version": _SCHEMA, "sources": rows})
        return
    headers = ["source", "revision", "licence", "prices", "first read", "last read"]
    cells = [
        [s.source.name or s.source.key, s.source.revision, s.source.licence, str(s.records), s.first, s.last]
        for s in found
    ]
    print_table(headers, cells, numeric=[False, False, False, True, False, False])


def _print_card(line: PriceLine) -> None:
    """Print one price: what and where, the price in its forms, since when and who says so."""
    record = line.item.record
    place = " ".join(part for part in (record.region or "any region", record.zone) if part)
    price = f"{_tiers(record)} {unit_text(record)}"
    if line.hourly:
        price += _other_form(line.hourly)
    click.echo(f"{_name(record)}, {place}, {_category(record)}: {price}")
    since = record.effective_from.date().isoformat() if record.effective_from else "always"
    said = f"read {record.observed}" if record.dating == "observed" else f"since {since}, read {record.observed}"
    derived = f"{record.derived_from}; " if record.derived_from else ""
    click.echo(f"    {derived}{record.source} ({record.source.licence}), {said}  [{record.id}]")
    for part in line.parts:
        click.echo(f"    {_plain(part.quantity)} {record.unit} x {_plain(part.tier.price)} = {_plain(part.amount)}")
    if line.parts:
        click.echo(f"    total {_plain(money.add(part.amount for part in line.parts))} {record.currency}")


def _other_form(hourly: HourlyRate) -> str:
    """What the price is for, and the same per accelerator or per machine where that is another number."""
    machine, each = hourly.usd_per_machine_hour, hourly.usd_per_accelerator_hour
    if hourly.record.unit == ACCELERATOR_HOUR:
        return " per accelerator" + (f", {_amount(machine)} per machine" if machine != each else "")
    return f" per machine, {_amount(each)} per accelerator" if machine != each else ""


def _print_notes(shown: Shown) -> None:
    for line in shown.lines:
        record = line.item.record
        place = " ".join(part for part in (record.sku, record.region, record.zone, _category(record)) if part)
        for note in line.notes:
            click.echo(f"! {place}: {note}", err=True)


def _cells(line: PriceLine) -> list[str]:
    record = line.item.record
    since = record.effective_from.date().isoformat() if record.effective_from else "always"
    promise = f" {record.commitment.term_months} m" if record.commitment else ""
    return [_name(record), record.region or "any", record.category + promise, _tiers(record), unit_text(record), since,
            str(record.source)]  # fmt: skip


def _tiers(record: PriceRecord) -> str:
    return " / ".join(f"{_plain(t.price)} over {_plain(t.over)}" if t.over else _plain(t.price) for t in record.tiers)


def _name(record: PriceRecord) -> str:
    name = record.sku if record.meter in ("", record.sku) else f"{record.sku} {record.meter}"
    named = f"{name} to {record.destination}" if record.destination else name
    return f"{record.provider} {named}" + (f" ({record.variant})" if record.variant else "")


def _capacity_cells(item: Capacity, by: By, *, many: bool) -> list[str]:
    shape = item.offer.shape
    count = f"{item.machines} x " if item.machines > 1 else ""
    ranked = item.rate(by)
    return [
        f"{count}{shape.provider} {shape.instance_type}", item.offer.region,
        f"{_plain(shape.accelerator_count)} {shape.accelerator if many else ''}".strip(),
        *(_amount(rate.usd_per_hour) if rate else "" for rate in (item.on_demand, item.spot, item.committed)),
        _amount(ranked.usd_per_accelerator_hour) if ranked else "",
    ]  # fmt: skip


def _change_cells(change: Change) -> list[str]:
    record = change.after or change.before
    assert record is not None
    both = (change.before, change.after)
    shown = [_tiers(r) if r else "-" for r in both]
    before, after = (r.price if r and len(r.tiers) == 1 else None for r in both)
    days = " to ".join(r.observed for r in (change.before, change.after) if r)
    return [_name(record), record.region or "any", record.category, *shown, _percent(before, after), f"read {days}"]


def _category(record: PriceRecord) -> str:
    return f"{record.category} ({record.commitment})" if record.commitment else record.category


def _shape_text(shape: Shape) -> str:
    parts = [
        f"{_plain(shape.vcpus)} vCPU" if shape.vcpus else "",
        f"{_plain(shape.memory_gib)} GiB" if shape.memory_gib else "",
        f"{_plain(shape.accelerator_count)} x {shape.accelerator}" if shape.accelerator else "",
        f"{_plain(shape.accelerator_memory_gib)} GiB each" if shape.accelerator_memory_gib else "",
    ]
    return f"{shape.provider} {shape.instance_type}: {', '.join(part for part in parts if part)}"


def _line_data(line: PriceLine) -> dict[str, Any]:
    return {
        **_record_data(line.item.record),
        "usd_per_machine_hour": money.text(line.hourly.usd_per_machine_hour) if line.hourly else None,
        "usd_per_accelerator_hour": _amount(line.hourly.usd_per_accelerator_hour) if line.hourly else None,
        "last_read": line.item.last_seen.isoformat(),
        "amount": money.text(money.add(p.amount for p in line.parts)) if line.parts else None,
        "parts": [
            {"over": money.text(p.tier.over), "quantity": money.text(p.quantity), "amount": money.text(p.amount)}
            for p in line.parts
        ],
        "next": _next_data(line.item),
        "notes": list(line.notes),
    }


def _record_data(record: PriceRecord) -> dict[str, Any]:
    promise = record.commitment
    return {
        "id": record.id, "kind": record.kind, "provider": record.provider, "region": record.region or None,
        "zone": record.zone or None, "name": record.sku, "meter": record.meter or None,
        "destination": record.destination or None, "variant": record.variant or None, "category": record.category,
        "commitment": promise and {
            "plan": promise.plan, "term_months": promise.term_months, "payment": promise.payment
        },
        "unit": record.unit, "per": money.text(record.per), "currency": record.currency,
        "price": money.text(record.price), "mode": record.mode,
        "tiers": [{"over": money.text(t.over), "price": money.text(t.price)} for t in record.tiers],
        "effective_from": record.effective_from.isoformat() if record.effective_from else None,
        "effective_to": record.effective_to.isoformat() if record.effective_to else None, "dating": record.dating,
        "observed": record.observed, "source": _source_data(record.source),
        "derived_from": record.derived_from or None, "inputs": list(record.inputs),
    }  # fmt: skip


def _source_data(source: Source) -> dict[str, str]:
    return {"key": source.key, "name": source.name, "revision": source.revision, "licence": source.licence}


def _next_data(item: InForce) -> dict[str, str] | None:
    following = item.next
    if following is None:
        return None
    return {"id": following.id, "price": money.text(following.price), "observed": following.observed}


def _shape_data(shape: Shape) -> dict[str, Any]:
    numbers = ("vcpus", "memory_gib", "accelerator_count", "accelerator_memory_gib")
    return {
        "provider": shape.provider, "name": shape.instance_type, "accelerator": shape.accelerator or None,
        **{n: float(v) if (v := getattr(shape, n)) is not None else None for n in numbers},
    }  # fmt: skip


def _capacity_data(item: Capacity) -> dict[str, Any]:
    rates = {"on_demand": item.on_demand, "spot": item.spot, "committed": item.committed}
    return {
        **_shape_data(item.offer.shape), "region": item.offer.region, "machines": item.machines,
        **{name: _rate_data(rate) if rate else None for name, rate in rates.items()},
    }  # fmt: skip


def _rate_data(rate: HourlyRate) -> dict[str, Any]:
    return {
        "usd_per_hour": money.text(rate.usd_per_hour), "usd_per_machine_hour": money.text(rate.usd_per_machine_hour),
        "usd_per_accelerator_hour": _amount(rate.usd_per_accelerator_hour), "quoted_per": rate.record.unit,
        "price": rate.record.id, "commitment": str(rate.record.commitment) if rate.record.commitment else None,
    }  # fmt: skip


def _change_data(change: Change) -> dict[str, Any]:
    both = {"before": change.before, "after": change.after}
    return {name: _record_data(record) if record else None for name, record in both.items()}


def _percent(before: Decimal | None, after: Decimal | None) -> str:
    if not before or after is None:
        return ""
    share = money.divide(money.subtract(after, before), before)
    return f"{money.round_places(money.multiply(share, Decimal(100)), 1):+f} %"


def _plain(value: Decimal | None) -> str:
    """A number as it is, thousands grouped."""
    return "" if value is None else f"{Decimal(money.text(value)):,f}"


def _amount(value: Decimal) -> str:
    """A price; one that does not end is rounded."""
    return money.text(money.round_places(value, _PLACES))
