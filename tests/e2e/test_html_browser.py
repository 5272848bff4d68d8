"""The HTML report in a real browser: nothing leaves the page, the charts are drawn, a phone can read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.browser import CHROMIUM, Browser, browser
from tests.report.company import bill, charge, report
from unitcost.report.html import as_html

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium")

NAMES = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\u202eabc",
    "{a|b}",
    "%s" * 9,
]
DESKTOP, PHONE, NARROWEST, PAPER = 1280, 390, 360, 700


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report of the small company, of hostile names, and of a name that is very long."""
    hostile = [charge("9.5", team=name, driver=name, service=name, provider=name, resource=name) for name in NAMES]
    long = charge("7", service="x" * 300, resource="arn:" + "y" * 200)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(as_html(report([*bill(), *hostile, long])), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True])
def test_it_asks_for_nothing_and_complains_of_nothing(tab: Browser, page: Path, width: int, dark: bool) -> None:
    tab.show(page, width=width, dark=dark)
    tab.value("new Promise(done => setTimeout(done, 200))")
    assert [url for url in tab.requests if not url.startswith("data:")] == [page.as_uri()]
    assert tab.complaints == []
    assert tab.value("window.hacked") is None


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_chart_is_drawn(tab: Browser, page: Path, width: int) -> None:
    tab.show(page, width=width)
    shapes = tab.value(
        "[...document.querySelectorAll('[data-chart]')].map(box => box.querySelectorAll('svg path').length)"
    )
    assert len(shapes) == 4
    assert all(count > 3 for count in shapes), shapes


@pytest.mark.parametrize("width", [DESKTOP, PHONE, NARROWEST])
@pytest.mark.parametrize("script", [True, False])
def test_it_does_not_scroll_sideways(tab: Browser, page: Path, width: int, script: bool) -> None:
    tab.show(page, width=width, script=script)
    assert tab.value("window.innerWidth") == width
    assert tab.value("document.documentElement.scrollWidth") <= width


def test_dark_and_light_have_their_own_colours(tab: Browser, page: Path) -> None:
    def backgrounds() -> tuple[str, str]:
        return tab.value("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")

    tab.show(page, width=DESKTOP)
    light = backgrounds()
    tab.show(page, width=DESKTOP, dark=True)
    assert backgrounds() != light
    tab.value("document.getElementById('theme').click()")
    assert backgrounds() == light
    assert tab.complaints == []


def test_without_javascript_the_numbers_are_there(tab: Browser, page: Path) -> None:
    tab.show(page, width=DESKTOP, script=False)
    text = tab.value("document.body.innerText")
    assert "1,910.11" in text
    assert "training" in text


def test_a_request_would_be_seen(tab: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="file:///nowhere.png"><script>console.error("no")</script>', encoding="utf-8")
    tab.show(bad, width=DESKTOP)
    assert "file:///nowhere.png" in tab.requests
    assert tab.complaints


@pytest.fixture
def printed(tab: Browser, page: Path) -> Iterator[Browser]:
    """The page as a dark, wide window prints it on paper of 700 pixels."""
    tab.show(page, width=DESKTOP, dark=True)
    tab.value("window.dispatchEvent(new Event('beforeprint'))")
    scheme = {"name": "prefers-color-scheme", "value": "dark"}
    tab.ask("Emulation.setEmulatedMedia", media="print", features=[scheme])
    tab.ask("Emulation.setDeviceMetricsOverride", width=PAPER, height=1000, deviceScaleFactor=1, mobile=False)
    tab.settle()
    yield tab
    tab.ask("Emulation.setEmulatedMedia", media="")


def test_paper_is_light_and_its_charts_are_whole(printed: Browser) -> None:
    assert printed.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert printed.value("document.documentElement.scrollWidth") <= PAPER
    boxes = printed.value(
        "[...document.querySelectorAll('[data-chart] svg')].map(svg => { const at = svg.getBoundingClientRect();"
        " return [at.left, at.right, at.height, svg.getAttribute('viewBox')] })"
    )
    assert len(boxes) == 4
    for left, right, height, view in boxes:
        assert 0 <= left < right <= PAPER
        assert height > 50
        assert view
    inks = printed.value(
        "[...new Set([...document.querySelectorAll('svg text')].map(text => text.getAttribute('fill')))]"
    )
    assert inks
    assert not {"#e9ebef", "#9aa2b1"} & {ink.lower() for ink in inks if ink}


def test_paper_divides_no_row_and_no_chart(printed: Browser) -> None:
    for part in ("tr", "figure", ".scroll", ".tile"):
        assert printed.value(f"getComputedStyle(document.querySelector('{part}')).breakInside") == "avoid"
    assert printed.value("getComputedStyle(document.querySelector('header')).display") == "none"


def test_after_printing_the_screen_is_as_before(tab: Browser, page: Path) -> None:
    tab.show(page, width=DESKTOP, dark=True)
    before = tab.value("document.querySelector('[data-chart]').innerHTML.length")
    tab.value("window.dispatchEvent(new Event('beforeprint')); window.dispatchEvent(new Event('afterprint'))")
    assert tab.value("document.documentElement.classList.contains('printing')") is False
    assert abs(tab.value("document.querySelector('[data-chart]').innerHTML.length") - before) < before * 0.05
    assert tab.complaints == []
