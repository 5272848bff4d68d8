"""What tests of the sample share."""

from __future__ import annotations

import pytest
from tests.sample_reports import Told, told_of


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The sample with its report; tests only read it."""
    return told_of(tmp_path_factory.mktemp("sample"))
