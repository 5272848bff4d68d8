"""Reading settings: TOML, then its checked shape, then the facts that the other rooms know."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unitcost.config import schema
from unitcost.config.problems import describe
from unitcost.errors import BadSetting
from unitcost.facts.paths import kind_of
from unitcost.facts.rules import (
    OWNER_KINDS,
    CallRules,
    DriverRule,
    FxRate,
    InvoiceTotal,
    LoadEntry,
    OwnerKind,
    OwnerRule,
    OwnerRules,
    PriceRules,
    QualityBar,
    Settings,
    SplitRule,
    StatedCharge,
    WorkPrice,
    WorkRules,
)
from unitcost.facts.source import ReadOptions
from unitcost.facts.when import parse

_STORE = "duckdb:///"
_REFERENCE = "docs/reference/settings.md describes each setting"


def read(folder: Path, *, file: Path | None = None) -> Settings:
    """Settings of a folder: `unitcost.toml`, else `[tool.unitcost]` of `pyproject.toml`, else the defaults.

    Parameters
    ----------
    file
        Read this file instead.

    Raises
    ------
    BadSetting
        When the file cannot be read or something in it is not allowed; the message names every problem.
    """
    path = file or next((p for p in (folder / "unitcost.toml", folder / "pyproject.toml") if _stands(p)), None)
    if path is None:
        return Settings()
    data = _parse(path)
    if path.name == "pyproject.toml":
        tool = data.get("tool")
        data = tool.get("unitcost", {}) if isinstance(tool, dict) else {}
        if not data:
            return Settings()
    try:
        checked = schema.File.model_validate(data)
    except ValidationError as error:
        raise _bad(path.name, list(describe(error))) from None
    problems = [*_store_problems(checked), *_fx_problems(checked), *_invoice_problems(checked)]
    if problems:
        raise _bad(path.name, problems)
    return _settings(checked, path.name)


def _stands(path: Path) -> bool:
    """Whether settings stand under a path; what is there in their place must not be passed over.

    A folder or a pipe by the name of a `pyproject.toml` is another tool's business.
    """
    if path.name != "unitcost.toml" or path.is_file() or not os.path.lexists(path):
        return path.is_file()
    what = f"it is {kind_of(path.stat().st_mode)}" if path.exists() else "it is a link to what is not there"
    raise BadSetting(f"{what}, and settings are a file", where=str(path), mend="move it away, or put a file there")


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        raise BadSetting(
            f"cannot be read: {error.strerror or error}", where=str(path), mend="name a settings file that exists"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, InvalidOperation, RecursionError) as error:
        raise BadSetting(
            f"cannot be read as TOML: {error}", where=path.name, mend="correct it there; amounts are written 12.50"
        ) from None


def _bad(name: str, problems: list[str]) -> BadSetting:
    shown = problems[0] if len(problems) == 1 else "".join(f"\n  - {problem}" for problem in problems)
    return BadSetting(shown, where=name, mend=_REFERENCE)


def _store_problems(file: schema.File) -> Iterator[str]:
    store = file.ledger.store
    if store.startswith("spark://"):
        yield f'`ledger.store`: {store!r} is not available yet; use a file, "duckdb:///.unitcost/ledger.duckdb"'
    elif not store.startswith(_STORE) or store in (_STORE, f"{_STORE}:memory:"):
        yield f'`ledger.store`: {store!r} is no store; write "duckdb:///PATH"'


def _fx_problems(file: schema.File) -> Iterator[str]:
    for currency, entries in file.fx.items():
        days = set()
        if schema.currency_code(currency) == file.ledger.currency:
            yield f"`fx.{currency}` is the currency of the report, which needs no rate"
            continue
        for i, entry in enumerate(entries):
            if entry.from_ in days:
                yield f"`fx.{currency}[{i}]`: there is another rate from {entry.from_}"
            days.add(entry.from_)
            try:
                entry.rate(file.ledger.currency)
            except ValueError as error:
                yield f"`fx.{currency}[{i}]`: {error}"


def _invoice_problems(file: schema.File) -> Iterator[str]:
    seen = set()
    for i, entry in enumerate(file.invoice):
        key = (entry.id, entry.currency, entry.period, entry.provider)
        if key in seen:
            yield f"`invoice[{i}]`: {entry.id} is stated twice"
        seen.add(key)


def _settings(file: schema.File, name: str) -> Settings:
    return Settings(
        ledger_path=file.ledger.store.removeprefix(_STORE),
        cost=file.ledger.cost,
        currency=file.ledger.currency,
        timezone=file.ledger.timezone,
        loads=tuple(_load(entry) for entry in file.load),
        owners={kind: _owner(kind, file.owners) for kind in OWNER_KINDS},
        drivers=tuple(
            DriverRule(when=parse(rule.when), driver=rule.is_, name=f"drivers[{i}]: {rule.when}")
            for i, rule in enumerate(file.drivers)
        ),
        splits=tuple(_split(i, split) for i, split in enumerate(file.split)),
        fx=_rates(file),
        invoices=tuple(_invoice(entry) for entry in file.invoice),
        charges=tuple(_charge(entry) for entry in file.charge),
        qualities=tuple(_quality(service, entry) for service, entry in sorted(file.quality.items())),
        work=_work(file.work),
        prices=_prices(file.prices),
        calls=CallRules(counts=file.calls.counts),
        file=name,
    )


def _work(table: schema.WorkTable) -> WorkRules:
    return WorkRules(
        billing=table.billing,
        accepted=table.accepted,
        gap_intervals=table.gap_intervals,
        prices=tuple(
            WorkPrice(
                accelerator=price.accelerator, usd_per_hour=price.usd_per_hour,
                pricing_category=price.pricing_category, since=price.from_,
            )
            for price in table.prices
        ),
        kinds=tuple(
            DriverRule(when=parse(rule.when), driver=rule.is_, name=f"work.kinds[{i}]: {rule.when}")
            for i, rule in enumerate(table.kinds)
        ),
    )  # fmt: skip


def _prices(table: schema.PricesTable) -> PriceRules:
    return PriceRules(
        files=tuple(table.files), litellm=tuple(table.litellm), aliases=table.aliases,
        same_as={provider.casefold(): tuple(others) for provider, others in table.same_as.items()},
        self_hosted=tuple(table.self_hosted),
    )  # fmt: skip


def _load(entry: schema.LoadTable) -> LoadEntry:
    return LoadEntry(path=entry.path, options=ReadOptions(**entry.model_dump(exclude={"path"})))


def _owner(kind: OwnerKind, owners: schema.OwnersTable) -> OwnerRules:
    table: schema.OwnerTable = getattr(owners, kind)
    rules = tuple(
        OwnerRule(when=parse(rule.when), owner=rule.is_, name=f"owners.{kind}.rules[{i}]: {rule.when}")
        for i, rule in enumerate(table.rules)
    )
    own_lineage = table.inherit if isinstance(table.inherit, dict) else {}
    return OwnerRules(
        kind=kind,
        sources=tuple(table.from_),
        rules=rules,
        known=tuple(table.known),
        inherit=tuple(table.inherit) if isinstance(table.inherit, list) else (),
        lineage={**owners.lineage, **own_lineage},
        ignore_case=table.ignore_case,
    )


def _split(index: int, split: schema.SplitTable) -> SplitRule:
    [(kind, pool)] = split.of.items()
    return SplitRule(
        name=f"split[{index}]: {kind} {pool} {split.how} by {split.by}", of={kind: pool}, how=split.how, by=split.by,
        shares=split.shares, metric=split.metric, among=tuple(split.among), places=split.places,
    )  # fmt: skip


def _rates(file: schema.File) -> tuple[FxRate, ...]:
    rates = [
        FxRate(currency=schema.currency_code(currency), since=entry.from_, rate=entry.rate(file.ledger.currency))
        for currency, entries in file.fx.items()
        for entry in entries
    ]
    return tuple(sorted(rates, key=lambda rate: (rate.currency, rate.since)))


def _invoice(entry: schema.InvoiceTable) -> InvoiceTotal:
    return InvoiceTotal(
        invoice_id=entry.id, total=entry.total, currency=entry.currency, period=entry.period, provider=entry.provider
    )


def _charge(entry: schema.ChargeTable) -> StatedCharge:
    amount, currency = (entry.usd, "USD") if entry.usd is not None else (entry.amount, entry.currency)
    assert amount is not None  # the schema has seen to it
    owner = {str(kind): name for kind, name in entry.owner.items()}
    return StatedCharge(
        what=entry.what, amount=amount, currency=currency, on=entry.on, owner=owner, driver=entry.driver
    )


def _quality(service: str, entry: schema.QualityTable) -> QualityBar:
    return QualityBar(
        service=service, metric=entry.metric, bar=entry.bar, margin=entry.margin, error_cost_usd=entry.error_cost_usd
    )
