"""A workspace in a folder, driven through the command line as a user would."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from unitcost.cli import cli

AS_OF = "2031-07-01"


@dataclass(frozen=True)
class Desk:
    """A folder and the commands run in it."""

    folder: Path

    def run(self, *arguments: str) -> Result:
        """Run a command; an exception that is no exit fails the test."""
        result = CliRunner().invoke(cli, [*arguments, "--folder", str(self.folder)])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def write(self, name: str, text: str) -> Path:
        """Write a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def load(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Load files and return the JSON answer."""
        result = self.run("load", *arguments, "--json", "--as-of", AS_OF)
        assert result.exit_code == code, result.output
        return dict(json.loads(result.stdout))

    def report(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """JSON report."""
        result = self.run("report", *arguments, "--json", "--as-of", AS_OF)
        assert result.exit_code == code, result.output
        return dict(json.loads(result.stdout))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty workspace."""
    return Desk(tmp_path)


@pytest.fixture
def desks(tmp_path: Path) -> Callable[[str], Desk]:
    """Several workspaces by name."""

    def make(name: str) -> Desk:
        (tmp_path / name).mkdir()
        return Desk(tmp_path / name)

    return make
