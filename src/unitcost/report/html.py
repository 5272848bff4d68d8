"""The report as one HTML file: no request leaves it, tables read without JavaScript, charts are drawn with ECharts."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from typing import Any

from unitcost.figure import Figure
from unitcost.report.model import Chart, Report, Section, Table, Tile
from unitcost.report.printed import heading, printed, shown


def as_html(report: Report) -> str:
    """Page of a report; the same report gives the same bytes."""
    options = {chart.name: chart.option for section in report.sections for chart in section.charts}
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{_text(report.title)}</title>",
        f"<style>{_asset('report.css')}</style></head><body>",
        '<header><div class="bar"><strong>unitcost</strong><nav>',
        *(f'<a href="#{section.key}">{_text(section.title)}</a>' for section in report.sections if _has_body(section)),
        '</nav><button id="theme" type="button" aria-label="Switch between light and dark">◐</button></div></header><main>',
        f"<h1>{_text(report.title)}</h1><p class='sub'>{_text(heading(report))} · as of {_text(report.as_of)}</p>",
        *(f'<p class="message" role="alert">{_text(message)}</p>' for message in report.messages),
        '<div class="tiles">' + "".join(_tile(tile) for tile in report.tiles) + "</div>",
        *(_section(section) for section in report.sections if _has_body(section)),
        "</main>",
        f"<script>{_asset('echarts.min.js')}</script>",
        f'<script id="options" type="application/json">{embedded(options)}</script>',
        f"<script>{_asset('report.js')}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element, whatever the strings hold."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _asset(name: str) -> str:
    return resources.files("unitcost.report").joinpath("assets", name).read_text(encoding="utf-8")


def _text(text: str) -> str:
    return escape(text, quote=True)


def _has_body(section: Section) -> bool:
    return bool(section.tables or section.charts or section.notes)


def _tile(tile: Tile) -> str:
    beside = f'<span class="beside">{_text(tile.beside)}</span>' if tile.beside else ""
    return (
        f'<div class="tile"><span class="name">{_text(tile.name)}</span>'
        f'<span class="value" {_marks(tile.figure)}>{_text(shown(tile.figure, tile.kind))}</span>{beside}</div>'
    )


def _marks(figure: Figure) -> str:
    hint = figure.note or f"{figure.formula} · unitcost explain '{figure.id}'"
    return f'data-figure="{_text(figure.id)}" title="{_text(hint)}"'


def _section(section: Section) -> str:
    parts = [
        f'<section id="{section.key}"><h2>{_text(section.title)}</h2><p class="question">{_text(section.question)}</p>'
    ]
    parts += [_chart(chart) for chart in section.charts]
    parts += [_table(table) for table in section.tables]
    if section.notes:
        parts.append("<ul class='notes'>" + "".join(f"<li>{_text(note)}</li>" for note in section.notes) + "</ul>")
    return "".join(parts) + "</section>"


def _chart(chart: Chart) -> str:
    tall = " tall" if chart.name.startswith("flow") else ""
    return (
        f'<figure><figcaption>{_text(chart.title)}</figcaption><div class="chart{tall}" data-chart="{_text(chart.name)}" '
        f'role="img" aria-label="{_text(chart.title)}: {_text(chart.text)}"></div><p class="words">{_text(chart.text)}</p></figure>'
    )


def _table(table: Table) -> str:
    headers, rows, has_total = printed(table)
    kinds = [column.kind for column in table.columns]
    cells = [*table.rows, *((table.total,) if table.total else ())]
    head = "".join(
        f'<th scope="col" class="{kind}">{_text(name)}</th>' for name, kind in zip(headers, kinds, strict=True)
    )
    body = []
    for line, (texts, row) in enumerate(zip(rows, cells, strict=True)):
        mark = ' class="total"' if has_total and line == len(rows) - 1 else ""
        tds = "".join(
            f'<td class="{kind}" {_marks(cell) if isinstance(cell, Figure) else ""}><bdi>{_text(text)}</bdi></td>'
            for text, cell, kind in zip(texts, row, kinds, strict=True)
        )
        body.append(f"<tr{mark}>{tds}</tr>")
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
