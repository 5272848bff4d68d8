"""Printing prices of models, and what a call costs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import click

from unitcost import money
from unitcost.cli.output import print_table
from unitcost.economics.token_prices import Cliff, PricedCall
from unitcost.facts.prices import ACCELERATOR_HOUR, MACHINE_HOUR, PriceRecord
from unitcost.jobs.model_prices import ModelShown
from unitcost.units import PER_MILLION, PER_THOUSAND, PERCENT


def print_model(shown: ModelShown) -> None:
    """Print a model's price by class, the rule by which its name was found, and a call that was asked about."""
    price = shown.price
    variant = f", {price.variant}" if price.variant else ""
    click.echo(f"{shown.match.provider or 'any provider'} {price.model}{variant}  [{price.id}]")
    since = f"since {price.effective_from:%Y-%m-%d}" if price.effective_from else "without a stated beginning"
    until = f" until {price.effective_to:%Y-%m-%d}" if price.effective_to else ""
    hours = f", {price.hours} UTC" if price.hours else ""
    read = price.rates[0].observed
    click.echo(f"    {price.source} ({price.source.licence}), {since}{until}{hours}, read {read}")
    click.echo(f"    name matched: {shown.match.rule}")
    rows = [[item.record.meter, _rate(item.record), unit_text(item.record), item.record.id] for item in shown.items]
    print_table(["class", "price", "per", "record"], rows, numeric=[False, True, False, False])
    if price.standard and price.variant:
        click.echo(f"! {price.variant} names no price for: {', '.join(price.standard)}", err=True)
    if price.uncounted:
        click.echo(f"! also charged, not counted here: {', '.join(price.uncounted)}", err=True)
    if shown.variants and not price.variant:
        click.echo(f"Other prices: --variant {', '.join(shown.variants)}", err=True)
    if shown.call:
        _print_call(shown.call, shown.cliff)


def _print_call(call: PricedCall, cliff: Cliff | None) -> None:
    for part in call.parts:
        charged = f" as {part.charged_as}" if part.charged_as != part.meter else ""
        click.echo(f"    {part.quantity:,} {part.meter}{charged} x {part.price:,f} = {_text(part.amount)}")
    total = "unpriced" if call.amount is None else f"{_text(call.amount)} {call.currency}"
    tier = f", tier over {call.over_tokens:,} prompt tokens" if call.over_tokens else ""
    click.echo(f"    total {total}{tier}")
    for flag in call.flags:
        click.echo(f"! {flag}", err=True)
    if cliff:
        growth = money.round_places(money.multiply(cliff.growth, PERCENT), 0)
        ratio = money.round_places(cliff.ratio, 2)
        click.echo(
            f"! a prompt {growth} % larger passes {cliff.over_tokens:,} tokens and costs {ratio} times as much",
            err=True,
        )


def model_data(shown: ModelShown) -> dict[str, Any]:
    """A model's price for a machine."""
    price, call = shown.price, shown.call
    return {
        "provider": price.provider or None, "name": price.model, "variant": price.variant or None, "id": price.id,
        "rule": shown.match.rule, "list": shown.match.source, "variants": list(shown.variants),
        "effective_from": price.effective_from.isoformat() if price.effective_from else None,
        "effective_to": price.effective_to.isoformat() if price.effective_to else None, "hours": price.hours or None,
        "at_usual_rate": list(price.standard), "uncounted": list(price.uncounted),
        "call": _call_data(call) if call else None,
    }  # fmt: skip


def _call_data(call: PricedCall) -> dict[str, Any]:
    return {
        "amount": None if call.amount is None else _text(call.amount), "currency": call.currency,
        "low": _text(call.low), "high": None if call.high is None else _text(call.high),
        "over_tokens": _text(call.over_tokens), "missing": list(call.missing), "flags": list(call.flags),
        "parts": [
            {
                "class": part.meter, "charged_as": part.charged_as, "quantity": part.quantity,
                "price": _text(part.price), "per": _text(part.per), "amount": _text(part.amount),
                "record": part.record_id,
            }
            for part in call.parts
        ],
    }  # fmt: skip


def _rate(record: PriceRecord) -> str:
    return " / ".join(f"{t.price:,f} over {t.over:,f}" if t.over else f"{t.price:,f}" for t in record.tiers)


def unit_text(record: PriceRecord) -> str:
    """What a price is for: `USD/h`, `USD/Mtok`, `USD/1k requests`."""
    scale = {Decimal(1): "", PER_THOUSAND: "1k ", PER_MILLION: "M "}.get(record.per, f"{record.per:,f} ")
    unit = {MACHINE_HOUR: "h", ACCELERATOR_HOUR: "h"}.get(record.unit, record.unit)
    return f"{record.currency}/{scale}{unit}".replace("M tokens", "Mtok")


def _text(value: Decimal) -> str:
    return money.text(value)
