"""What changed from month to month, how spend runs over time, and how money flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal

from unitcost import money
from unitcost.facts.naming import spelt, word_for_none
from unitcost.facts.rules import UNKNOWN_DRIVER, UNTAGGED
from unitcost.figure import Figure, figure_id, ratio
from unitcost.report import charts
from unitcost.report.amounts import Amounts, ByUnit, Key
from unitcost.report.inputs import DIMS, ReportInput, colours_of, shown_driver, shown_owner
from unitcost.report.model import Cell, Chart, Column, Section, Table
from unitcost.report.sections.spending import BEFORE_SPLITS
from unitcost.report.sections.tables import remarked

#: Names that a trend draws before the rest is put into one.
_MOST = 6
_ALWAYS = frozenset({UNKNOWN_DRIVER, UNTAGGED})


def _by_month(shown: Callable[[Key], str]) -> Callable[[Key], Key]:
    """Key of month and shown name."""
    return lambda key: (key[0], shown(key))


def movers(given: ReportInput) -> Section:
    """Last month against the one before, by driver and by team."""
    tables = []
    groups: tuple[tuple[str, str, Callable[[Key], str]], ...] = (
        ("movers_driver", "driver", lambda key: shown_driver(key[1], key[2])),
        ("movers_team", "team", lambda key: shown_owner(key[1], key[3])),
    )
    for group, name, shown in groups:
        raw = given.movers.by_unit(f"{group}-part", DIMS[group], given.spend[group])
        named = given.movers.regroup(group, raw, _by_month(shown))
        tables += [_mover_table(given.movers, group, name, unit, figures) for unit, figures in named.items()]
    found = tuple(table for table in tables if table is not None)
    return Section(
        key="movers", title="Movers", question="What changed against the month before?", tables=found,
        notes=(BEFORE_SPLITS,) if found and given.divides else () if found else ("One month alone shows no change.",),
    )  # fmt: skip


def _mover_table(amounts: Amounts, path: str, name: str, unit: str, figures: dict[Key, Figure]) -> Table | None:
    months = sorted({key[0] for key in figures if key[0]})
    if len(months) < 2:
        return None
    before, after = months[-2], months[-1]
    names = sorted({key[1] or "" for key in figures if key[0] in (before, after)})
    rows = [_mover(amounts, path, unit, who, before, after, figures) for who in names]
    rows.sort(key=lambda cells: -abs(cells[3].value or money.ZERO) if isinstance(cells[3], Figure) else money.ZERO)
    columns = (
        Column(name=name, none=word_for_none(name)), Column(name=before, kind="money"), Column(name=after, kind="money"),
        Column(name="change", kind="money"), Column(name="relative", kind="change"), Column(name=""),
    )  # fmt: skip
    sums = [
        amounts.total(f"{path}-{month}", unit, [f for k, f in figures.items() if k[0] == month])
        for month in (before, after)
    ]
    change = _difference(figure_id(path, "total", unit, "change", at=amounts.selection.tag), sums[1], sums[0], unit)
    relative = ratio(
        figure_id(path, "total", unit, "relative", at=amounts.selection.tag), change, sums[0], unit="share",
        label="relative change", empty="nothing in the month before",
    )  # fmt: skip
    shown, cells, total = remarked(columns, rows, ("total", *sums, change, relative, ""))
    return Table(columns=shown, rows=cells, total=total, unit=unit)


def _mover(
    amounts: Amounts, path: str, unit: str, who: str, before: str, after: str, figures: dict[Key, Figure]
) -> tuple[Cell, ...]:
    at = amounts.selection.tag
    nothing = [
        Figure(
            id=figure_id(path, who, unit, f"nothing-{month}", at=at), value=money.ZERO, unit=unit, basis="billed",
            op="given", formula="no charge in that month", label=f"{who} {month}",
        )
        for month in (before, after)
    ]  # fmt: skip
    old, new = figures.get((before, who)), figures.get((after, who))
    first, last = old or nothing[0], new or nothing[1]
    change = _difference(figure_id(path, who, unit, "change", at=at), last, first, unit)
    relative = ratio(
        figure_id(path, who, unit, "relative", at=at), change, first, unit="share", label=f"relative change of {who}",
        empty="nothing in the month before",
    )  # fmt: skip
    name = None if who == UNTAGGED else who
    return name, old, new, change, relative, "new" if old is None else "gone" if new is None else ""


def _difference(identity: str, left: Figure, right: Figure, unit: str) -> Figure:
    return Figure(
        id=identity, value=money.subtract(left.value or money.ZERO, right.value or money.ZERO), unit=unit, basis="derived",
        op="difference", formula=f"{left.label or left.id} - {right.label or right.id}", inputs=(left, right), label="change",
    )  # fmt: skip


def trend(given: ReportInput) -> Section:
    """Spend over time by driver and by team."""
    drawn = []
    _, drivers, teams = colours_of(given)
    palettes = {"driver": drivers, "team": teams}
    groups: tuple[tuple[str, str, Callable[[Key], str]], ...] = (
        ("trend_driver", "driver", lambda key: shown_driver(key[1], key[2])),
        ("trend_team", "team", lambda key: shown_owner(key[1], key[3])),
    )
    for group, name, shown in groups:
        raw = given.amounts.by_unit(group, DIMS[group], given.spend[group])
        drawn += [_trend_chart(name, unit, figures, shown, palettes[name]) for unit, figures in raw.items()]
    return Section(key="trend", title="Trend", question="How does spend run over time?", charts=tuple(drawn))


def _trend_chart(
    name: str, unit: str, figures: dict[Key, Figure], shown: Callable[[Key], str], palette: Mapping[str, str]
) -> Chart:
    series: dict[str, dict[str, Decimal]] = {}
    for key, figure in figures.items():
        line = series.setdefault(shown(key), {})
        bucket = key[0] or ""
        line[bucket] = money.add([line.get(bucket, money.ZERO), figure.value or money.ZERO])
    sums = {who: money.add(values.values()) for who, values in series.items()}
    order = sorted(series, key=lambda who: (-sums[who], who))
    buckets = _gapless(sorted({bucket for values in series.values() for bucket in values}))
    seen = sorted(order, key=lambda who: (who not in _ALWAYS, order.index(who)))[:_MOST]
    drawn = {who: series[who] for who in order if who in seen}
    rest = [who for who in order if who not in seen]
    if rest:
        drawn[f"other ({len(rest)})"] = _sum_series(series[who] for who in rest)
    largest = ", ".join(f"{who} {charts.grouped(sums[who])}" for who in order[:3])
    bucket_name = "day" if len(buckets[0]) > len("2026-09") else "month"
    return Chart(
        name=f"trend-{name}-{unit}", title=f"Spend by {name}, {unit} per {bucket_name}",
        option=charts.stacked(buckets, drawn, palette),
        text=f"{buckets[0]} to {buckets[-1]}; largest: {largest} {unit}",
    )  # fmt: skip


def _gapless(buckets: list[str]) -> list[str]:
    """Buckets with the days between them that nothing was charged for; months as they are."""
    if len(buckets[0]) == len("2026-09"):
        return buckets
    first, last = date.fromisoformat(buckets[0]), date.fromisoformat(buckets[-1])
    return [(first + timedelta(days=count)).isoformat() for count in range((last - first).days + 1)]


def _sum_series(many: Iterable[dict[str, Decimal]]) -> dict[str, Decimal]:
    summed: dict[str, Decimal] = {}
    for values in many:
        for bucket, amount in values.items():
            summed[bucket] = money.add([summed.get(bucket, money.ZERO), amount])
    return summed


def flow(given: ReportInput) -> Section:
    """Money from provider over driver to team."""
    raw: ByUnit = given.amounts.by_unit("flow", DIMS["flow"], given.spend["flow"])
    drawn = []
    for unit, figures in raw.items():
        flows: dict[charts.Flow, Decimal] = {}
        for (provider, driver, team, _, line), figure in figures.items():
            key = (spelt(provider), shown_driver(driver, line), shown_owner(team, line))
            flows[key] = money.add([flows.get(key, money.ZERO), figure.value or money.ZERO])
        negative = money.add(amount for amount in flows.values() if amount < 0)
        words = f"{len(flows)} flows from provider over driver to team"
        words += f"; credits and corrections of {charts.grouped(negative)} {unit} are not drawn" if negative else ""
        option = charts.sankey(charts.fewer(flows), colours_of(given))
        drawn.append(
            Chart(name=f"flow-{unit}", title=f"From provider over driver to team, {unit}", option=option, text=words)
        )
    return Section(
        key="flow", title="Flow", question="Where does the money flow?", charts=tuple(drawn),
        notes=(BEFORE_SPLITS,) if drawn and given.divides else (),
    )  # fmt: skip
