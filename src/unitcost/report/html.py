"""The report as one HTML file: no request leaves it, tables read without JavaScript, charts are drawn with ECharts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from html import escape
from importlib import resources
from itertools import groupby
from typing import Any

from unitcost import money
from unitcost.figure import Figure
from unitcost.report.model import Chart, Column, Report, Section, Table, Tile
from unitcost.report.palette import on_dark
from unitcost.report.printed import context, printed, shown, visible

#: The page may run and style itself and ask nobody for anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
#: What the bar at the top leads to: (key of a section, its name there).
_BAR = (
    ("by", "Grouped"), ("trend", "Trend"), ("drivers", "Drivers"), ("flow", "Flow"), ("owners-team", "Owners"),
    ("unit-costs", "Unit costs"), ("runs", "Runs"), ("capacity", "Capacity"), ("stored", "Stored"),
    ("movers", "Movers"), ("untagged", "Untagged"), ("commitments", "Commitments"),
    ("lines", "Totals"), ("closing", "Closing"), ("data", "Data"),
)  # fmt: skip
#: Sections of narrow tables, two beside each other where there is room.
_NARROW = frozenset(
    {"owners-project", "owners-experiment", "lines", "providers", "services", "accounts", "regions", "months"}
)
#: Cells that need room of their own on a narrow page: one long word, or many words.
_LONG_WORD = re.compile(r"\S{19}")
_MANY_SIGNS = 28
_WHOLE = Decimal(1)


def as_html(report: Report) -> str:
    """Page of a report; the same report gives the same bytes."""
    keys = {section.key for section in report.sections}
    return page(
        report.title,
        f"{_sentence(context(report))} · as of {report.as_of}",
        messages=report.messages,
        tiles=[_tile(tile) for tile in report.tiles],
        sections=report.sections,
        bar=[(key, name) for key, name in _BAR if key in keys],
        footer="Every number here has an id: click it, or run <code>unitcost explain ID</code>, and it unfolds to its "
        "formula and the rows it stands on.",
    )


def page(
    title: str, subtitle: str, *, messages: Sequence[str], tiles: Sequence[str], sections: Sequence[Section],
    bar: Sequence[tuple[str, str]], footer: str,
) -> str:  # fmt: skip
    """One-file page of sections.

    Parameters
    ----------
    tiles
        HTML of the tiles at the top.
    bar
        Sections that the bar leads to, and their names there; those that are empty are left out.
    footer
        HTML.
    """
    shown_sections = [section for section in sections if section.tables or section.charts or section.notes]
    options = {chart.name: chart.option for section in shown_sections for chart in section.charts}
    keys = {section.key for section in shown_sections}
    parts = [
        *_head(title),
        *_bar([(key, name) for key, name in bar if key in keys]),
        f"<main><h1>{_text(title)}</h1>",
        f'<p class="sub">{_text(subtitle)}</p>',
        *(f'<p class="message" role="alert">{_words(message)}</p>' for message in messages),
        '<div class="tiles">' + "".join(tiles) + "</div>",
        *(
            f'<div class="pair">{"".join(map(_section, run))}</div>' if narrow else "".join(map(_section, run))
            for narrow, run in groupby(shown_sections, key=lambda section: section.key in _NARROW)
        ),
        f"<footer>{footer}</footer></main>",
        '<aside id="about" hidden aria-live="polite"></aside>',
        f"<script>{_asset('echarts.min.js')}</script>",
        f'<script id="options" type="application/json">{embedded({"charts": options, "dark": on_dark()})}</script>',
        f"<script>{_asset('report.js')}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def plain_tile(name: str, value: str, beside: str = "") -> str:
    """HTML of a tile whose value is no figure."""
    more = f'<span class="beside">{_text(beside)}</span>' if beside else ""
    return f'<div class="tile"><span class="name">{_text(name)}</span><span class="value">{_text(value)}</span>{more}</div>'


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element, whatever the strings hold."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _head(title: str) -> list[str]:
    return [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_text(_POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{_text(title)} · unitcost</title>",
        f"<style>{_asset('report.css')}</style></head><body>",
    ]


def _bar(bar: Sequence[tuple[str, str]]) -> list[str]:
    links = "".join(f'<a href="#{key}">{name}</a>' for key, name in bar)
    return [
        f'<header><div class="bar"><strong>unitcost</strong><nav aria-label="Sections">{links}</nav>',
        '<button id="theme" type="button" aria-label="Switch between light and dark" hidden>◐</button></div></header>',
    ]


def _asset(name: str) -> str:
    return resources.files("unitcost.report").joinpath("assets", name).read_text(encoding="utf-8")


def _text(text: str) -> str:
    return escape(visible(text), quote=True)


def _words(text: str) -> str:
    """Text for reading: what stands between backticks is code."""
    return re.sub("`([^`]+)`", r"<code><bdi>\1</bdi></code>", _text(text))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _tile(tile: Tile) -> str:
    way = "up" if tile.beside.startswith("+") else "down" if tile.beside.startswith("−") else ""
    beside = f'<span class="beside {way}">{_text(tile.beside)}</span>' if tile.beside else ""
    return (
        f'<div class="tile"><span class="name">{_text(tile.name)}</span>'
        f'<span class="value" {_marks(tile.figure)} tabindex="0" role="button">{_text(shown(tile.figure, tile.kind))}</span>'
        f"{beside}</div>"
    )


def _marks(figure: Figure) -> str:
    """Id of a figure, and what it is in words."""
    exact = "no value" if figure.value is None else f"{money.text(figure.value)} {figure.unit}"
    why = f" ({figure.note})" if figure.note else ""
    told = f"{exact}, {figure.basis}: {figure.formula}{why}"
    return f'data-figure="{_text(figure.id)}" title="{_text(told)}"'


def _section(section: Section) -> str:
    charts = "".join(_chart(chart, alone=not section.tables) for chart in section.charts)
    tables = "".join(_table(table, table.caption or section.title) for table in section.tables)
    notes = "".join(f"<li>{_words(note)}</li>" for note in section.notes)
    return (
        f'<section id="{section.key}"><h2>{_text(section.title)}</h2><p class="question">{_text(section.question)}</p>'
        + (f'<div class="charts">{charts}</div>' if charts else "")
        + tables
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
        + "</section>"
    )


def _chart(chart: Chart, *, alone: bool) -> str:
    """Chart with its words; they are hidden where a table beside it says the same."""
    names = chart.option.get("yAxis", {}).get("data")
    height = f' style="--bars:{len(names) + 1}"' if names else ""
    kind = " tall" if chart.option["series"] and chart.option["series"][0]["type"] == "sankey" else ""
    return (
        f'<figure><figcaption>{_text(chart.title)}</figcaption><div class="chart{kind}"{height} '
        f'data-chart="{_text(chart.name)}" role="img" aria-label="{_text(chart.title)}: {_text(chart.text)}"></div>'
        f'<p class="words{"" if alone else " spare"}">{_text(chart.text)}</p></figure>'
    )


def _table(table: Table, label: str) -> str:
    headers, rows, has_total = printed(table)
    cells = [*table.rows, *((table.total,) if table.total else ())]
    head = "".join(
        f'<th scope="col" class="{column.kind}">{_text(name)}</th>'
        for name, column in zip(headers, table.columns, strict=True)
    )
    body = [
        f"<tr{' class=total' if has_total and line == len(rows) - 1 else ''}>{_cells(texts, row, table.columns)}</tr>"
        for line, (texts, row) in enumerate(zip(rows, cells, strict=True))
    ]
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(label)}"><table>{caption}'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _cells(texts: Sequence[str], row: Sequence[Any], columns: Sequence[Column]) -> str:
    return "".join(
        f"<td{_look(text, cell, column)}><bdi>{_text(text)}</bdi></td>"
        for text, cell, column in zip(texts, row, columns, strict=True)
    )


def _look(text: str, cell: Any, column: Column) -> str:
    """Attributes of a cell: its kind, the figure in it, and how long the bar behind a share is."""
    if not isinstance(cell, Figure):
        room = " long" if _LONG_WORD.search(text) else " wide" if len(text) > _MANY_SIGNS else ""
        return f' class="{column.kind}{room}"'
    bar = ""
    if column.kind == "share" and cell.value is not None and cell.value > 0:
        bar = f' style="--share:{money.round_places(min(cell.value, _WHOLE), 3)}"'
    return f' class="{column.kind}"{bar} {_marks(cell)}'
