"""The page of a comparison in a real browser: its charts are drawn and nothing is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.e2e.browser import CHROMIUM, browser
from unitcost.cli import cli

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium")

#: Widths of drawings that are wider than the window.
WIDER = """Array.from(document.querySelectorAll('svg, canvas'))
    .map(drawn => drawn.getBoundingClientRect()).filter(box => box.right > window.innerWidth + 1).map(box => box.right)"""


def test_its_charts_are_drawn(tmp_path: Path) -> None:
    table, page = tmp_path / "two.csv", tmp_path / "page.html"
    table.write_text("option,usd_per_hour,quality,p99_ms\nlarge,2.50,0.95,12\nsmall,0.60,0.93,9\n")
    done = CliRunner().invoke(
        cli, ["compare", str(table), "--traffic", "40e6/day", "--bar", "0.94", "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    with browser(tmp_path / "profile") as tab:
        for width in (1280, 400, 360):
            tab.show(page, width=width)
            assert tab.value("document.documentElement.getAttribute('data-drawn')") == "2"
            assert tab.value("document.documentElement.scrollWidth") <= width
            # A chart is as wide as the box around it.
            assert tab.value(WIDER) == []
        assert {url for url in tab.requests if not url.startswith("data:")} == {page.as_uri()}
        assert tab.complaints == []
