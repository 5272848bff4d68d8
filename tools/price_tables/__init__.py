"""Make the price tables that ship with the project from a folder of facts with their sources.

Rows whose source does not state that it may be used are left out. What the checks of `unitcost.prices` find is counted in
`manifest.json`; no row is mended by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tools.price_tables import machines, services
from tools.price_tables.origins import Tables
from unitcost.facts.offers import Shape
from unitcost.facts.prices import PriceRecord
from unitcost.prices import tables

_STEPS = (
    machines.instances, machines.spot_by_zone, machines.more_regions, machines.earlier_aws, machines.spot_by_advisor,
    machines.committed, services.services,
)  # fmt: skip


def make(folder: Path) -> tuple[dict[str, str], Tables]:
    """Texts of the tables by file name, and how they came about."""
    made = Tables(folder)
    for step in _STEPS:
        step(made)
    unique = {record.id: record for record in made.records}
    records = sorted(unique.values(), key=lambda record: (*record.key, record.observed, record.id))
    sources = {record.source.key: record.source for record in records}
    rented = [tables.record_row(r) for r in records if r.kind == "instance"]
    others = [tables.record_row(r) for r in records if r.kind != "instance"]
    texts = {
        "instances.csv": tables.written(rented, tables.RECORD_COLUMNS),
        "services.csv": tables.written(others, tables.RECORD_COLUMNS),
        "shapes.csv": tables.written(_used(made.shapes, records), tables.SHAPE_COLUMNS),
        "sources.csv": tables.written(
            [tables.source_row(s) for _, s in sorted(sources.items())], tables.SOURCE_COLUMNS
        ),
        "manifest.json": json.dumps(_manifest(made, records), indent=1, sort_keys=True) + "\n",
    }
    return texts, made


def _used(shapes: Iterable[Shape], records: Iterable[PriceRecord]) -> list[dict[str, str]]:
    priced = {(record.provider, record.sku) for record in records}
    return [tables.shape_row(shape) for shape in shapes if (shape.provider, shape.instance_type) in priced]


def _manifest(made: Tables, records: list[PriceRecord]) -> dict[str, object]:
    return {
        "records": dict(Counter(f"{r.kind} {r.category}" for r in records)),
        "findings": dict(Counter(f"{f.check} {f.done}" for f in made.findings)),
        "left out": dict(made.left_out),
    }
