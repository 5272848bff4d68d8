"""Options that were measured at several loads: the cheapest at each, at fixed quality and inside the latency limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from unitcost import money
from unitcost.errors import BadFile, BadSetting, NoPrice, UnknownName
from unitcost.facts.options import Option
from unitcost.measure.option_table import read_options
from unitcost.measure.tables import column, read_rows
from unitcost.serving.choice import Choice, ServingOption, choose, usd_per_mtok
from unitcost.units import HOURS_PER_DAY, PER_MILLION, PER_THOUSAND, SECONDS_PER_DAY

LOADS = ("concurrency", "in_flight", "users")
_TOKENS = ("tok_per_s", "tokens_per_s")
NOT_COMPARABLE = "not comparable: the options differ in quality, or it is not known of all; give --quality-bar"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadsAsk:
    """What is asked of a table with a row for each option and load.

    Parameters
    ----------
    concurrency
        Only this load; empty: each that was measured.
    per_day
        Units a day: tokens, or predictions; 0: not told.
    p95_s
        Limit of the 95th percentile; None: no limit. [s]
    qualities
        Measured quality by option, where the file has none or another.
    quality_bar
        Least quality that will do; None: none is set.
    usd_per_hour
        Of a replica, where the file states none. [USD / hour]
    """

    profile: Path
    concurrency: str = ""
    per_day: float = 0.0
    p95_s: float | None = None
    qualities: Mapping[str, Decimal] = field(default_factory=dict)
    quality_bar: Decimal | None = None
    usd_per_hour: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """An option at a load.

    Parameters
    ----------
    usd_per_unit
        When busy all the time, per million tokens or per 1,000 predictions; None: it answers nothing. [USD]
    replicas, usd_per_day
        Whole replicas for the volume, and what they cost; None: no volume is told. [USD]
    ruled_out_by, ruled_out_because
        `p95`, `quality`, `quality unknown`, and why; empty: it takes part.
    """

    option: str
    concurrency: str
    usd_per_hour: Decimal
    per_s: Decimal
    p95_s: float
    quality: Decimal | None
    usd_per_unit: Decimal | None
    replicas: int | None
    usd_per_day: Decimal | None
    ruled_out_by: str
    ruled_out_because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadAnswer:
    """Cheapest at one load; empty: there is no answer, and why."""

    concurrency: str
    chosen: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadsPlan:
    """Answer.

    Parameters
    ----------
    unit
        What costs are for: `million tokens`, `1k predictions`.
    at
        Cheapest at each load.
    chosen
        Where a volume is told: the option, and load, with the cheapest whole replicas; None: none, or no volume.
    """

    ask: LoadsAsk
    unit: str
    rows: tuple[LoadRow, ...]
    at: tuple[LoadAnswer, ...]
    chosen: LoadRow | None


def is_by_load(path: Path) -> bool:
    """Whether a table has a row for each load, not for each batch size."""
    try:
        rows = read_rows(path)
    except BadFile:
        return False  # whoever plans with it says what is wrong
    return bool(column(rows, LOADS))


def plan_loads(ask: LoadsAsk) -> LoadsPlan:
    """Cheapest option at each load.

    Raises
    ------
    BadFile, NoPrice
        When the table cannot be read, or an option has no price.
    UnknownName
        When nothing was measured at the load that is asked for.
    """
    table = read_rows(ask.profile)
    name = column(table, LOADS)
    loads = list(dict.fromkeys(str(row[name]).strip() for row in table))
    if ask.concurrency and ask.concurrency not in loads:
        raise UnknownName("measured concurrency", ask.concurrency, loads, where=str(ask.profile))
    rows: list[LoadRow] = []
    answers: list[LoadAnswer] = []
    for load in [ask.concurrency] if ask.concurrency else loads:
        measured = read_options(ask.profile, at={name: load}, usd_per_hour=ask.usd_per_hour).options
        options = [_serving(option, ask, label) for option, label in zip(measured, _labels(measured, ask), strict=True)]
        choice = choose(options, p95_at_most_s=ask.p95_s, quality_at_least=ask.quality_bar)
        rows += [_row(option, choice, load, ask, is_tokens=_counts_tokens(table)) for option in options]
        answers.append(_answer(choice, options, load, ask))
    unit = "million tokens" if _counts_tokens(table) else "1k predictions"
    return LoadsPlan(ask=ask, unit=unit, rows=tuple(rows), at=tuple(answers), chosen=_chosen(rows, answers))


def _counts_tokens(table: Sequence[Mapping[str, object]]) -> bool:
    return any(name in table[0] for name in _TOKENS)


def _labels(options: Sequence[Option], ask: LoadsAsk) -> list[str]:
    """Names of the options of one load, with the machine or setting where a name stands several times."""
    names = [option.name for option in options]
    labels = [
        f"{one.name} ({one.machine})" if one.machine and names.count(one.name) > 1 else one.name for one in options
    ]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        what = f"{twice} stands twice at the same load"
        raise BadFile(what, where=str(ask.profile), mend="keep one row, or tell them apart by a column `machine`")
    return labels


def _serving(option: Option, ask: LoadsAsk, label: str) -> ServingOption:
    if option.usd_per_hour is None:
        raise NoPrice(
            "a replica has no price", where=option.name, mend="give usd_per_hour in the file or --usd-per-hour"
        )
    if option.per_s is None or option.per_s <= 0:
        raise BadFile(f"{option.name} has no speed above zero", where=str(ask.profile), mend="give tok_per_s or per_s")
    p95_s = dict(option.latencies_s).get("p95")
    if p95_s is None and ask.p95_s is not None:
        raise BadSetting(f"{option.name} has no p95", where=str(ask.profile), mend="give a column p95_ms")
    quality = None if option.quality is None else Decimal(repr(option.quality))
    return ServingOption(
        name=label, usd_per_hour=option.usd_per_hour, tokens_per_s=Decimal(repr(option.per_s)), p95_s=p95_s or 0.0,
        quality=ask.qualities.get(option.name, quality),
    )  # fmt: skip


def _answer(choice: Choice, options: Sequence[ServingOption], load: str, ask: LoadsAsk) -> LoadAnswer:
    if ask.quality_bar is None and len({option.quality for option in options}) > 1:
        return LoadAnswer(concurrency=load, chosen="", reason=NOT_COMPARABLE)
    if choice.option is None:
        return LoadAnswer(concurrency=load, chosen="", reason="none keeps the limits")
    cheaper = [
        out.name for out in choice.ruled_out if choice.usd_per_mtok[out.name] < choice.usd_per_mtok[choice.option.name]
    ]
    beside = f"; cheaper, but ruled out: {', '.join(cheaper)}" if cheaper else ""
    return LoadAnswer(concurrency=load, chosen=choice.option.name, reason=f"lowest cost inside the limits{beside}")


def _row(option: ServingOption, choice: Choice, load: str, ask: LoadsAsk, *, is_tokens: bool) -> LoadRow:
    out = next((one for one in choice.ruled_out if one.name == option.name), None)
    per = PER_MILLION if is_tokens else PER_THOUSAND
    replicas = _replicas(option, ask.per_day)
    hours = None if replicas is None else Decimal(replicas * HOURS_PER_DAY)
    return LoadRow(
        option=option.name, concurrency=load, usd_per_hour=option.usd_per_hour, per_s=option.tokens_per_s, p95_s=option.p95_s,
        quality=option.quality, usd_per_unit=money.divide(money.multiply(usd_per_mtok(option), per), PER_MILLION),
        replicas=replicas, usd_per_day=None if hours is None else money.multiply(option.usd_per_hour, hours),
        ruled_out_by=out.rule if out else "", ruled_out_because=out.reason if out else "",
    )  # fmt: skip


def _replicas(option: ServingOption, per_day: float) -> int | None:
    """Whole replicas that answer a volume."""
    if not per_day:
        return None
    each = money.multiply(option.tokens_per_s, Decimal(SECONDS_PER_DAY))
    whole, rest = divmod(Decimal(repr(per_day)), each)
    return max(1, int(whole) + bool(rest))


def _chosen(rows: Sequence[LoadRow], answers: Sequence[LoadAnswer]) -> LoadRow | None:
    """Fewest dollars a day of what takes part; of equals at the lowest load that does, for no more come at once, the cheapest."""
    comparable = [one.concurrency for one in answers if one.chosen]
    fit = [
        row for row in rows if row.usd_per_day is not None and not row.ruled_out_by and row.concurrency in comparable
    ]
    return min(
        fit, key=lambda row: (row.usd_per_day, _load(row.concurrency), row.usd_per_unit, row.option), default=None
    )


def _load(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf
