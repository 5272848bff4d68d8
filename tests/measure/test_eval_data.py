"""Labelled data of users."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unitcost.errors import BadFile
from unitcost.measure.eval_data import read_eval


def test_labels_that_are_no_numbers_are_counted_and_refused(tmp_path: Path):
    np.savez(tmp_path / "d.npz", x=np.ones((3, 2)), y=np.array([0.0, np.nan, np.inf]))
    with pytest.raises(BadFile, match="2 labels in `y` are NaN or infinite"):
        read_eval(tmp_path / "d.npz")
