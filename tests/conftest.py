"""Fixtures that several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# What a terminal shows depends on its width; that of whoever runs the tests is no part of them.
for _width in ("COLUMNS", "LINES"):
    os.environ.pop(_width, None)

# The same examples every time, so that a red run can be had again. HYPOTHESIS_PROFILE=search looks for new ones.
# Nothing is judged by the time it takes: a busy machine would fail what is right.
_untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("given", _untimed, derandomize=True, database=None)
settings.register_profile("search", _untimed, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "given"))

ROOT = Path(__file__).resolve().parent.parent


def _shared(part: str) -> Path:
    base = Path(os.environ.get("UNITCOST_SHARED", ROOT.parent / "shared"))
    found = base / part
    if not found.is_dir():
        pytest.skip(f"needs real data that is not part of the project: {part}")
    return found


@pytest.fixture(scope="session")
def shared_bills() -> Path:
    """Folder of real bills; tests that use it are skipped where it is absent."""
    return _shared("data/bills")


@pytest.fixture(scope="session")
def shared_prices() -> Path:
    """Folder of price facts with their sources; tests that use it are skipped where it is absent."""
    return _shared("data/prices")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Folder of worked cases; tests that use it are skipped where it is absent."""
    return _shared("cases")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of measured data: spot traces, training runs; tests that use it are skipped where it is absent."""
    return _shared("data")


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """Folder of request traces; tests that use it are skipped where it is absent."""
    return _shared("data/traces")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files anew; review the diff")


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compare text with a golden file, or write it with --update-golden."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden") or not path.exists():
            if not request.config.getoption("--update-golden"):
                pytest.fail(f"{path.name} is missing; run with --update-golden and review it")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
