"""Reading settings: TOML -> pydantic -> frozen dataclasses, with every problem named at once."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ValidationError

from unitcost.config import schema
from unitcost.errors import BadSetting, near_names
from unitcost.facts.rules import (
    OWNER_KINDS,
    DriverRule,
    FxRate,
    InvoiceTotal,
    LoadEntry,
    OwnerKind,
    OwnerRule,
    OwnerRules,
    QualityBar,
    Settings,
    SplitRule,
    StatedCharge,
)
from unitcost.facts.source import ReadOptions
from unitcost.facts.when import facet_column, parse

_STORE = "duckdb:///"
_OFFSET = re.compile(r"[+-](0\d|1[0-4]):[0-5]\d")


def read(folder: Path, *, file: Path | None = None) -> Settings:
    """Settings of a folder: `unitcost.toml`, else `[tool.unitcost]` of `pyproject.toml`, else the defaults.

    Raises
    ------
    BadSetting
        When the file cannot be read or something in it is not allowed; the message names every problem.
    """
    path = file or next((p for p in (folder / "unitcost.toml", folder / "pyproject.toml") if p.is_file()), None)
    if path is None:
        return Settings()
    data = _parse(path)
    if path.name == "pyproject.toml":
        data = data.get("tool", {}).get("unitcost", {})
    try:
        checked = schema.File.model_validate(data)
    except ValidationError as error:
        raise BadSetting(
            "; ".join(_problem(issue, data) for issue in error.errors()),
            where=path.name,
            mend="see docs/reference/settings.md",
        ) from None
    return _settings(checked, path.name)


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, InvalidOperation) as error:
        raise BadSetting(f"cannot be read as TOML: {error}", where=path.name, mend="correct the line named") from None


def _problem(issue: Any, data: dict[str, Any]) -> str:
    steps = [str(step) for step in issue["loc"]]
    path = ".".join(steps)
    if issue["type"] == "extra_forbidden":
        near = near_names(steps[-1], _known_keys(steps[:-1]))
        return f"`{path}` is not a setting" + (f"; did you mean `{near[0]}`?" if near else "")
    if issue["type"] == "missing":
        return f"`{path}` is missing"
    return f"`{path}`: {issue['msg'].removeprefix('Value error, ')}"


def _known_keys(steps: list[str]) -> list[str]:
    """Keys that the table at a path may have."""
    model: type[BaseModel] | None = schema.File
    for step in steps:
        if model is None:
            return []
        found = next((f for name, f in model.model_fields.items() if step in (name, f.alias)), None)
        if found is not None:
            model = _model_in(found.annotation)
        elif not step.isdigit() and model is schema.File:
            return []
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)


def _settings(file: schema.File, name: str) -> Settings:
    store = file.ledger.store
    if not store.startswith(_STORE):
        raise BadSetting(
            f"`ledger.store` is {store!r}; only a DuckDB file is supported by this version",
            where=name, mend='write store = "duckdb:///.unitcost/ledger.duckdb"',
        )  # fmt: skip
    return Settings(
        ledger_path=store.removeprefix(_STORE),
        cost=file.ledger.cost,
        currency=file.ledger.currency.upper(),
        timezone=check_timezone(file.ledger.timezone, where=f"{name}: ledger.timezone"),
        loads=tuple(_load(entry) for entry in file.load),
        owners={kind: _owner(kind, file.owners, name) for kind in OWNER_KINDS},
        drivers=tuple(
            DriverRule(
                when=parse(rule.when, where=f"{name}: drivers.{i}.when"), driver=rule.is_, name=f"drivers[{i}]: {rule.when}"
            )
            for i, rule in enumerate(file.drivers)
        ),
        splits=tuple(_split(i, split) for i, split in enumerate(file.split)),
        fx=tuple(_rates(file, name)),
        invoices=tuple(
            InvoiceTotal(
                invoice_id=entry.id, total=entry.total, currency=entry.currency.upper(), period=entry.period,
                provider=entry.provider,
            )
            for entry in file.invoice
        ),
        charges=tuple(_charge(entry) for entry in file.charge),
        qualities=tuple(
            QualityBar(
                service=service, metric=entry.metric, bar=entry.bar, margin=entry.margin,
                error_cost_usd=entry.error_cost_usd,
            )
            for service, entry in sorted(file.quality.items())
        ),
        file=name,
    )  # fmt: skip


def check_timezone(zone: str, *, where: str = "") -> str:
    """Return the zone when it is an IANA name or a fixed offset such as `-05:00`.

    Raises
    ------
    BadSetting
        Otherwise.
    """
    if _OFFSET.fullmatch(zone):
        return zone
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadSetting(
            f"{zone!r} is not a time zone", where=where, mend='write an IANA name such as "Europe/Berlin", or "-05:00"'
        ) from None
    return zone


def _load(entry: schema.LoadTable) -> LoadEntry:
    said = entry.model_dump(exclude={"path"})
    return LoadEntry(path=entry.path, options=ReadOptions(**said))


def _owner(kind: OwnerKind, owners: schema.OwnersTable, name: str) -> OwnerRules:
    table: schema.OwnerTable = getattr(owners, kind)
    where = f"{name}: owners.{kind}"
    return OwnerRules(
        kind=kind,
        sources=tuple(facet_column(source, where=f"{where}.from") for source in table.from_),
        rules=tuple(
            OwnerRule(
                when=parse(rule.when, where=f"{where}.rules.{i}.when"), owner=rule.is_,
                name=f"owners.{kind}.rules[{i}]: {rule.when}",
            )
            for i, rule in enumerate(table.rules)
        ),
        known=tuple(table.known),
        inherit=tuple(table.inherit),
        lineage=dict(owners.lineage),
        ignore_case=table.ignore_case,
    )  # fmt: skip


def _split(index: int, split: schema.SplitTable) -> SplitRule:
    what = " ".join(f"{kind} {owner}" for kind, owner in split.of.items())
    return SplitRule(
        name=f"split[{index}]: {what} {split.how} by {split.by}", of={str(k): v for k, v in split.of.items()},
        how=split.how, by=split.by, shares=split.shares, metric=split.metric, among=tuple(split.among), places=split.places,
    )  # fmt: skip


def _rates(file: schema.File, name: str) -> list[FxRate]:
    report = file.ledger.currency.lower()
    rates = []
    for currency, entries in file.fx.items():
        for i, entry in enumerate(entries):
            given = entry.model_extra or {}
            where = f"{name}: fx.{currency}.{i}"
            if set(given) != {report}:
                raise BadSetting(
                    f"a rate says what one {currency} is in {report}, found {', '.join(given) or 'nothing'}",
                    where=where, mend=f"write {{ from = 2026-09-01, {report} = 1.10 }}",
                )  # fmt: skip
            rate = given[report]
            if isinstance(rate, bool) or not isinstance(rate, int | Decimal) or rate <= 0:
                raise BadSetting(f"the rate {rate!r} is not a positive number", where=where, mend="write it as 1.10")
            rates.append(FxRate(currency=currency.upper(), since=entry.from_, rate=Decimal(rate)))
    return sorted(rates, key=lambda r: (r.currency, r.since))


def _charge(entry: schema.ChargeTable) -> StatedCharge:
    amount, currency = (entry.usd, "USD") if entry.usd is not None else (entry.amount, entry.currency.upper())
    assert amount is not None  # the schema has seen to it
    on = date(entry.on.year, entry.on.month, entry.on.day)
    owner = {str(kind): name for kind, name in entry.owner.items()}
    return StatedCharge(what=entry.what, amount=amount, currency=currency, on=on, owner=owner, driver=entry.driver)
