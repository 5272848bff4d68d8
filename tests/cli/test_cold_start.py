"""What may be imported before a command has work to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"duckdb", "numba", "numpy", "pydantic", "rich", "pyarrow", "genai_prices", "httpx2"}


def modules_after(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running `code`."""
    show = "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + show], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


CALL = """
from unitcost.cli import cli
try:
    cli.main({arguments!r}, prog_name="unitcost")
except SystemExit as end:
    assert end.code == 0, end.code
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    loaded = modules_after(CALL.format(arguments=arguments))
    assert "click" in loaded
    assert not loaded & HEAVY


def test_the_package_loads_nothing_heavy() -> None:
    loaded = modules_after("import unitcost")
    assert not loaded & (HEAVY | {"click"})


def test_the_probe_sees_what_is_loaded() -> None:
    assert "numpy" in modules_after("import numpy")
