"""The Google Cloud bill of the sample: the detailed export as JSON lines, credits and labels inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unitcost.samples.calendar import Ints
from unitcost.samples.lines import (
    MICRO,
    QUANTITY_PLACES,
    Label,
    Line,
    draw,
    exact_sum,
    one,
    priced,
    texts,
)  # fmt: skip
from unitcost.samples.world import MARK, World, json_rows, quote_all, rows_of_month
from unitcost.units import CENT, HOURS_PER_DAY, LEDGER_PLACES

PROVIDER = "Google Cloud"
BILLING_ACCOUNT = "01A2B3-C4D5E6-F7A8B9"
_CENT_PICO = 10**LEDGER_PLACES // int(1 / CENT)
_SERVICES = {
    "Compute Engine": "6F81-5844-456A", "Vertex AI": "C7E2-9256-1C43", "Cloud Storage": "95FF-2EF5-5EA1",
    "BigQuery": "24E6-581D-38E5", "Invoice": "",
}  # fmt: skip
#: One a2-highgpu-1g is billed as three SKUs: (description, units of it, list price per unit and hour).
_A2 = (
    ("A2 Instance Core running in Iowa", 12, "0.031611"),
    ("A2 Instance Ram running in Iowa", 85, "0.004237"),
    ("Nvidia Tesla A100 GPU running in Iowa", 1, "2.933908"),
)
_EMBEDDINGS = {"team": "search", "project": "embeddings"}


def lines(world: World) -> list[Line]:
    """Every line of the Google Cloud bill."""
    hours, days = world.calendar.hours(), world.calendar.days()
    serving = Label(team="search", project="embeddings", driver="serving")
    found = []
    for text, units, price in _A2:
        found.append(_line("Compute Engine", text, days, units * HOURS_PER_DAY * MICRO, price, "hour", serving,
                           _EMBEDDINGS | {"workload": "serve"}, "embed-gpu", discount=28, length=24))  # fmt: skip
    scanned = draw(world.bits("queries"), world.calendar.day_count, 6 * MICRO, 9 * MICRO)  # [10^-6 TiB a day]
    sent = draw(world.bits("gcp traffic"), world.calendar.day_count, 120 * MICRO, 180 * MICRO)  # [10^-6 GiB a day]
    found += [
        _line("Vertex AI", "Online/Batch Prediction G2 running in Americas: g2-standard-4", hours, MICRO,
              "0.812857", "hour", serving, _EMBEDDINGS, "embed-endpoint", control="endpoint that is used"),
        _line("Vertex AI", "Vertex AI Workbench G2 instance running in Americas", hours[world.calendar.at_work(hours)],
              MICRO, "0.706832", "hour", Label(team="search", project="embeddings", driver="development"),
              _EMBEDDINGS, "workbench-1", control="notebook on in working hours only"),
        _line("Vertex AI", "Custom Training A2 running in Americas: a2-highgpu-1g", world.days_between(47, 7),
              4 * MICRO, "4.224393", "hour", Label(team="search", project="embeddings", driver="training"),
              _EMBEDDINGS | {"experiment": "embedder-distil"}, "embedder-distil"),
        _line("Cloud Storage", "Standard Storage US Regional", days, 38_000 * HOURS_PER_DAY * MICRO
              // world.month_hours(days), "0.02", "gibibyte month",
              Label(team="search", project="embeddings", driver="storage"), _EMBEDDINGS, "embeddings-index", length=24),
        _line("BigQuery", "Analysis (us)", days, scanned, "6.25", "tebibyte",
              Label(team="search", project="embeddings", driver="preprocessing"),
              _EMBEDDINGS | {"workload": "prep"}, "feature-queries", length=24),
        _line("Compute Engine", "Network Internet Data Transfer Out from Americas", days, sent, "0.12", "gibibyte",
              Label(team="search", project="embeddings", driver="data movement"), _EMBEDDINGS, "embed-gpu", length=24),
    ]  # fmt: skip
    return [*found, *_closing(world, found)]


def _line(
    service: str, sku: str, starts: Ints, quantity: Ints | int, price: str, unit: str, label: Label,
    labels: dict[str, str], resource: str, *, discount: int = 0, length: int = 1, control: str = "",
) -> Line:  # fmt: skip
    """Line at list price; `discount` percent of it come back as a committed-use credit in the same row."""
    units = np.full(len(starts), quantity, dtype=np.int64) if isinstance(quantity, int) else quantity
    cost = priced(units, price)
    credit = -(cost * discount // 100)
    fixed = {"service": service, "sku": sku, "unit": unit, "cost_type": "regular"}
    fixed |= {f"label.{key}": value for key, value in labels.items()}
    return Line(
        name=f"{service} {sku} {resource}", cells=fixed, starts=starts, hours=length, quantity=units,
        billed=cost + credit, effective=cost + credit, listed=cost, extra={"cost": cost, "credit": credit},
        label=label, control=control, resource=f"//example/{resource}",
    )  # fmt: skip


def _closing(world: World, found: list[Line]) -> Iterator[Line]:
    """Tax on the month, and the rounding that brings the invoice to a whole cent."""
    billed = [
        sum(exact_sum(x.billed[rows_of_month(x, world.calendar, month)]) for x in found)
        for month in range(len(world.calendar.months))
    ]
    taxes = [amount * 4 // 100 // _CENT_PICO * _CENT_PICO for amount in billed]
    yield _invoice_line(world, "tax", "Sales tax", one(*taxes), Label(line="tax"))
    rounding = one(*(-amount % _CENT_PICO for amount in billed))
    yield _invoice_line(world, "rounding_error", "Rounding error", rounding, Label(line="adjustment"))


def _invoice_line(world: World, cost_type: str, text: str, amounts: Ints, label: Label) -> Line:
    none = np.zeros_like(amounts)
    return Line(
        name=cost_type, cells={"service": "Invoice", "sku": text, "unit": "", "cost_type": cost_type},
        starts=one(*world.calendar.bounds[:-1]), hours=0, quantity=none, billed=amounts, effective=amounts,
        listed=amounts, extra={"cost": amounts, "credit": none}, label=label,
    )  # fmt: skip


def bill(world: World, found: list[Line], month: int) -> Iterator[str]:
    """Lines of the JSON-lines file of one month."""
    stamps = world.calendar.stamps("%Y-%m-%d %H:%M:%S UTC")
    for line in found:
        rows = rows_of_month(line, world.calendar, month)
        starts = line.starts[rows].tolist()
        length = line.hours or world.calendar.bounds[month + 1] - world.calendar.bounds[month]
        cost, quantity = texts(line.extra["cost"][rows]), texts(line.quantity[rows], QUANTITY_PLACES)
        varying = [
            quote_all([stamps[start] for start in starts]),
            quote_all([stamps[start + length] for start in starts]),
            quote_all([stamps[world.calendar.bounds[month + 1]]] * len(starts)),
            cost, cost, quantity, quantity,
        ]  # fmt: skip
        discounted = bool(np.any(line.extra["credit"][rows]))
        if discounted:
            varying.append(texts(line.extra["credit"][rows]))
        yield from json_rows(_record(line, world.calendar.months[month], discounted), varying)


def _record(line: Line, month: str, discounted: bool) -> dict[str, Any]:
    cells = line.cells
    regular = cells["cost_type"] == "regular"
    labels = [{"key": key.removeprefix("label."), "value": value} for key, value in cells.items() if "label." in key]
    credit = {"name": "Committed Usage Discount: A2", "amount": MARK, "full_name": "Committed Usage Discount: A2",
              "id": "cud-a2", "type": "COMMITTED_USAGE_DISCOUNT"}  # fmt: skip
    place = {"location": "us-central1", "country": "US", "region": "us-central1", "zone": "us-central1-a"}
    project = {
        "id": "ml-embeddings",
        "number": "400000000001",
        "name": "ml-embeddings",
        "ancestry_numbers": "/500000000001/",
    }
    return {
        "billing_account_id": BILLING_ACCOUNT,
        "invoice": {"month": month.replace("-", "")},
        "cost_type": cells["cost_type"],
        "service": {"id": _SERVICES[cells["service"]], "description": cells["service"]},
        "sku": {"id": _sku_id(cells["sku"]), "description": cells["sku"]},
        "usage_start_time": MARK, "usage_end_time": MARK,
        "project": {**project, "labels": []} if regular else None,
        "labels": labels, "system_labels": [], "location": place if regular else None,
        "resource": {"name": line.resource.rpartition("/")[2], "global_name": line.resource} if regular else None,
        "export_time": MARK, "cost": MARK, "cost_at_list": MARK, "currency": "USD", "currency_conversion_rate": 1,
        "usage": {
            "amount": MARK, "unit": cells["unit"], "amount_in_pricing_units": MARK, "pricing_unit": cells["unit"],
        },
        "credits": [credit] if discounted else [],
    }  # fmt: skip


def _sku_id(text: str) -> str:
    """Made-up SKU id in the vendor's shape: three groups of four hexadecimal digits."""
    digest = f"{sum(ord(sign) * (place + 1) ** 5 for place, sign in enumerate(text)):012X}"[-12:]
    return "-".join(digest[start : start + 4] for start in range(0, 12, 4))
