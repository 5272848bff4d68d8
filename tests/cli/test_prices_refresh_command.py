"""`unitcost prices refresh`: what it says and how it exits."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.prices.recorded import answers, serve

from unitcost.cli import cli
from unitcost.jobs import price_refresh


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    @contextmanager
    def offline():
        yield serve(answers())

    monkeypatch.setattr(price_refresh, "http_fetch", offline)

    def call(*arguments: str) -> Result:
        folder = ["--folder", str(tmp_path), "--as-of", "2026-11-30"]
        return CliRunner().invoke(cli, ["prices", *arguments, *folder])

    return call


def test_a_refresh_says_what_it_read_and_the_next_answer_uses_it(run) -> None:
    result = run("refresh", "aws", "aws-spot", "--region", "us-east-1", "--findings")
    assert result.exit_code == 0, result.stderr
    assert "aws-spot" in result.stdout
    assert "[spot-placeholder]" in result.stdout
    assert "51 USD/h" in run("show", "p5.48xlarge", "--region", "us-east-1", "--category", "standard").stdout
    assert "17.5 USD/h" in run("show", "p5.48xlarge", "--region", "us-east-1", "--category", "dynamic").stdout


def test_a_failing_feed_is_said_and_exits_1(run) -> None:
    result = run("refresh", "gpuhunt-verda", "gcp", "--json")
    assert result.exit_code == 1
    feeds = {feed["feed"]: feed for feed in json.loads(result.stdout)["feeds"]}
    assert feeds["gpuhunt-verda"]["status"] == "failed"
    assert feeds["gcp"]["status"] == "read"
    told = run("refresh", "gpuhunt-verda")
    assert "Older prices are kept" in told.stderr


def test_an_unknown_feed(run) -> None:
    result = run("refresh", "azur")
    assert (result.exit_code, "did you mean `azure`" in result.stderr) == (2, True)
