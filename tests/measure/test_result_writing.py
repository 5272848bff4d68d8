"""Where sessions are written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unitcost.errors import BadFile
from unitcost.measure.result_writing import unfinished


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadFile, match="no regular file"):
        unfinished(tmp_path / "pipe")
    assert unfinished(tmp_path / "new.json").name == "new.json.part"
