"""Rented GPUs without a bill of their own: a usage file and the rate card, in euro, with a price that changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unitcost.samples.calendar import Ints
from unitcost.samples.lines import MICRO, QUANTITY_PLACES, Label, Line, draw, micro, texts
from unitcost.samples.world import World, csv_rows
from unitcost.units import HOURS_PER_DAY

PROVIDER = "neocloud"
CURRENCY = "EUR"
COLUMNS = ["start", "end", "resource", "sku", "quantity", "unit", "team", "project", "experiment", "workload"]
RATE_COLUMNS = ["sku", "unit", "price", "currency", "from", "to"]
#: SKU -> (unit, price, price from `CHANGE_DAY` on).
RATES = {"H100-80GB": ("GPU-hour", "2.35", "2.2"), "shared-storage": ("GB-month", "0.065", "0.065")}
#: Day of the sample on which the new prices start.
CHANGE_DAY = 45
#: Run -> (team, project, first day, days, GPUs).
_RUNS = {
    "assistant-sft-1": ("support", "assistant", 3, 8, 8), "assistant-sft-2": ("support", "assistant", 39, 11, 8),
    "assistant-dpo": ("support", "assistant", 66, 9, 16), "embedder-xl": ("search", "embeddings", 28, 10, 16),
    "bidder-sweep": ("ads", "bidding", 74, 6, 8),
}  # fmt: skip


def lines(world: World) -> list[Line]:
    """Every line of the usage file."""
    found: list[Line] = []
    days = world.calendar.days()
    for run, (team, project, first, length, gpus) in _RUNS.items():
        starts = world.days_between(first, length)[::HOURS_PER_DAY]
        # The last quarter of an hour of each day goes to checks by the operator, now and then more.
        lost = draw(world.bits("neocloud", run), len(starts), 1, 6) * (MICRO // 4)
        tags = {"team": team, "project": project, "experiment": run, "workload": "train"}
        label = Label(team=team, project=project, driver="training")
        found.append(_line(run, "H100-80GB", starts, gpus * (HOURS_PER_DAY * MICRO - lost), tags, label))
    kept = np.full(len(days), 580 * MICRO, dtype=np.int64)
    label = Label(team="support", project="assistant", driver="storage")
    found.append(_line("scratch", "shared-storage", days, kept, {"team": "support", "project": "assistant"}, label))
    return found


def last_days() -> dict[str, int]:
    """Day of the sample on which each run ends."""
    return {run: first + length - 1 for run, (_, _, first, length, _) in _RUNS.items()}


def _line(name: str, sku: str, starts: Ints, quantity: Ints, tags: dict[str, str], label: Label) -> Line:
    unit, before, after = RATES[sku]
    price = np.where(starts < CHANGE_DAY * HOURS_PER_DAY, micro(before), micro(after))
    amounts = quantity * price
    return Line(
        name=name, cells={"resource": name, "sku": sku, "unit": unit, **tags}, starts=starts, hours=HOURS_PER_DAY,
        quantity=quantity, billed=amounts, effective=amounts, label=label, resource=name,
        listed=np.zeros_like(amounts),  # a rate card knows no list price beside its own
    )  # fmt: skip


def usage(world: World, found: list[Line]) -> Iterator[str]:
    """Lines of the usage file of all months, header first."""
    yield ",".join(COLUMNS)
    stamps = world.calendar.stamps("%Y-%m-%dT%H:%M:%SZ")
    for line in found:
        starts = line.starts.tolist()
        varying = {
            "start": [stamps[start] for start in starts],
            "end": [stamps[start + line.hours] for start in starts],
            "quantity": texts(line.quantity, QUANTITY_PLACES),
        }
        yield from csv_rows(COLUMNS, line.cells, varying)


def rates(world: World) -> Iterator[str]:
    """Lines of the rate card, header first: an old price is kept, the new one has its own row."""
    yield ",".join(RATE_COLUMNS)
    days = world.calendar.stamps("%Y-%m-%d")
    changed = days[min(CHANGE_DAY * HOURS_PER_DAY, world.calendar.hour_count)]
    for sku, (unit, before, after) in RATES.items():
        if before == after:
            yield f"{sku},{unit},{before},{CURRENCY},{days[0]},"
        else:
            yield f"{sku},{unit},{before},{CURRENCY},{days[0]},{changed}"
            yield f"{sku},{unit},{after},{CURRENCY},{changed},"
