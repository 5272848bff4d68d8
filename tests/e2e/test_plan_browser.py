"""Pages of plans in a real browser: each chart is drawn, and a phone can read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.test_plan import LINES
from tests.e2e.browser import CHROMIUM, Browser, browser
from unitcost.cli import cli

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium")


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("name", LINES)
def test_every_chart_is_drawn_and_nothing_scrolls_sideways(tab: Browser, name: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    result = CliRunner().invoke(cli, ["plan", *LINES[name], "--html", str(page)])
    assert result.exit_code == 0, result.output
    for width in (1280, 360):
        tab.show(page, width=width)
        shapes = tab.value(
            "[...document.querySelectorAll('[data-chart]')].map(box => box.querySelectorAll('svg path').length)"
        )
        assert shapes
        assert all(count > 2 for count in shapes), shapes
        assert tab.value("document.documentElement.scrollWidth") <= width
        assert [url for url in tab.requests if not url.startswith("data:")] == [page.as_uri()]
        assert tab.complaints == []
