"""Storage, data that moves, requests."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from tools.price_tables.origins import Tables, facts, source_of
from unitcost import money
from unitcost.facts.offers import Finding
from unitcost.facts.prices import Kind, PriceRecord, Tier, first_day, midnight
from unitcost.units import KIB, PER_THOUSAND

#: Category in the facts -> what is sold.
_SERVICES: dict[str, Kind] = {
    "object_storage": "storage",
    "block_storage": "storage",
    "file_storage": "storage",
    "snapshot": "storage",
    "internet_egress": "transfer",
    "inter_region": "transfer",
    "inter_zone": "transfer",
    "nat": "transfer",
    "vnet_peering": "transfer",
    "request": "request",
}
_FREE = "free allowance"
_DECIMAL_TIERS = "decimal GB tiers"


def services(made: Tables) -> None:
    """Storage, data that moves, and requests; the rows of one tiered price become one record."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    origin = ""
    for row in facts(made.folder / "data_movement.csv"):
        origin = row["source"] if row["source"] != "same" else origin
        if made.source(origin) is not None:
            place = (row["cloud"], row["category"], row["region"], row["to"])
            groups[*place, _product(row), row["unit"], row["as_of"], origin].append(row)
    for (cloud, category, region, to, sku, unit, day, said), rows in groups.items():
        source = source_of(said)
        assert source is not None
        thousands = unit.startswith("1k ")
        made.records.append(
            PriceRecord(
                kind=_SERVICES[category],
                provider=cloud,
                region=region,
                sku=sku,
                meter=category,
                destination=to,
                unit=unit.removeprefix("1k "),
                per=PER_THOUSAND if thousands else Decimal(1),
                currency="USD",
                tiers=_ladder(rows, made),
                observed=day,
                effective_from=midnight(first_day(day)),
                source=source,
                remarks=_conditions(rows),
            )
        )


def _product(row: dict[str, str]) -> str:
    """What is sold; data that moves is known by its meter and its destination, whatever a source calls it."""
    if _SERVICES[row["category"]] == "transfer":
        return row["category"]
    tiered = row["tier_to_gb"] or row["tier_from_gb"] not in ("", "0")
    return " ".join(part for part in (row["service"], "" if tiered else row["sku"]) if part)


def _ladder(rows: list[dict[str, str]], made: Tables) -> tuple[Tier, ...]:
    """Tiers of rows that make one price. A free allowance counts apart and is said, not priced."""
    tiers = {}
    for row in rows:
        if row["sku"] == _FREE:
            continue
        over = Decimal(row["tier_from_gb"] or "0")
        if _DECIMAL_TIERS in row["note"] and over:
            what = f"a tier from {over} GB; the bill counts 1 TB as {KIB} GB"
            place = {"provider": row["cloud"], "region": row["region"], "instance_type": row["category"]}
            made.findings.append(Finding(check="decimal-tiers", what=what, done="repaired", **place))
            over = money.divide_exactly(money.multiply(over, Decimal(KIB)), PER_THOUSAND)
        tiers[over] = Decimal(row["price_usd"])
    return tuple(Tier(over=over, price=price) for over, price in sorted(tiers.items()))


def _conditions(rows: list[dict[str, str]]) -> tuple[str, ...]:
    """What the source says beside the price: allowances, minimums, and where its tiers end."""
    said = {}
    for row in rows:
        if row["sku"] == _FREE:
            said[f"first {row['tier_to_gb']} GB a month and account are free, not counted here"] = None
        elif row["note"] and _DECIMAL_TIERS not in row["note"] and "from memory" not in row["note"]:
            said[row["note"]] = None
    ends = [row["tier_to_gb"] for row in rows if row["sku"] != _FREE]
    if all(ends):
        said[f"no price is stated above {max(map(int, ends))}; the last one is used"] = None
    return tuple(said)
