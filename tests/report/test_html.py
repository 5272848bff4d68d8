"""The page: one file, nothing outside it, hostile names inert, tables readable without JavaScript."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st

from tests.report.company import charge, report
from unitcost.report.html import as_html, embedded
from unitcost.report.printed import visible

#: echarts.min.js of the npm package echarts 6.1.0, unchanged.
ECHARTS_SHA256 = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"
HOSTILE = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "\u202eevil\u2066",
    "<!--", "]]>", "{{name}}", "a\u2028b", "&lt;b&gt;",
]  # fmt: skip


class Page(HTMLParser):
    """Elements, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "link", "br", "path", "circle"):
            self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self.open and "style" not in self.open:
            self.text.append(data)


def test_the_page_is_well_formed_and_names_nothing_outside_itself() -> None:
    page = Page(as_html(report()))
    assert page.open == []
    links = [value or "" for name, value in page.attributes if name in ("src", "href", "srcset", "action", "data")]
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not {"iframe", "img", "object", "embed", "base"} & set(page.tags)


def test_the_styles_fetch_nothing() -> None:
    css = resources.files("unitcost.report").joinpath("assets", "report.css").read_text(encoding="utf-8")
    assert "url(" not in css
    assert "@import" not in css


def test_echarts_is_as_it_was_published_and_calls_nobody() -> None:
    source = resources.files("unitcost.report").joinpath("assets", "echarts.min.js").read_bytes()
    assert hashlib.sha256(source).hexdigest() == ECHARTS_SHA256
    assert not re.search(rb"XMLHttpRequest|\bfetch\(|sendBeacon|WebSocket|EventSource|importScripts", source)
    assert b"</script" not in source.lower()


def test_its_licence_ships_with_it() -> None:
    names = {path.name for path in resources.files("unitcost.report").joinpath("assets").iterdir()}
    assert {"LICENSE-echarts", "NOTICE-echarts"} <= names


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_inert(name: str) -> None:
    plain = Page(as_html(report([charge("5", team="x", driver="x", service="x", provider="x", resource="x")])))
    page = Page(as_html(report([charge("5", team=name, driver=name, service=name, provider=name, resource=name)])))
    assert page.tags == plain.tags
    assert {key for key, _ in page.attributes} == {key for key, _ in plain.attributes}
    assert visible(name) in "".join(page.text)


@for_any(st.text())
def test_embedded_json_reads_back_and_cannot_end_its_script(text: str) -> None:
    written = embedded({"name": text})
    assert json.loads(written) == {"name": text}
    assert not re.search("[<>&\u2028\u2029]", written)


def test_the_same_report_gives_the_same_bytes() -> None:
    assert as_html(report()) == as_html(report())


def test_numbers_carry_their_ids() -> None:
    made = report()
    ids = {value for name, value in Page(as_html(made)).attributes if name == "data-figure"}
    for section in made.sections:
        for table in section.tables:
            assert {figure.id for figure in table.figures()} <= ids
    assert ids <= set(made.figures())


def test_tables_are_read_without_javascript() -> None:
    words = [text for text in Page(as_html(report())).text if text.strip()]
    assert "training" in words
    assert "1,910.11" in words
    assert "(none)" in words


def test_charts_have_words() -> None:
    made = report()
    labels = [value or "" for name, value in Page(as_html(made)).attributes if name == "aria-label"]
    for section in made.sections:
        for chart in section.charts:
            assert any(chart.text in label for label in labels)


def test_messages_come_first() -> None:
    html = as_html(report([charge("1"), charge("2", currency="EUR")]))
    assert html.index("are not added") < html.index("<table")
