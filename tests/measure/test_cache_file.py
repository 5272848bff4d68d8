"""Answers of `unitcost measure cache` that were changed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unitcost.errors import BadFile
from unitcost.measure.cache_file import KIND, read_cache

NEAR = {"threshold": 0.9, "requests": 100, "hits": 50, "changed": 3, "judged": 0, "wrong": None}


@pytest.mark.parametrize(
    "changed",
    [{"exact": [{"hit_share": float("inf")}]}, {"near": [{**NEAR, "threshold": "nan"}]}, {"near": 5}, {"exact": [5]}],
)
def test_numbers_that_no_cache_has_are_refused(changed: dict[str, object], tmp_path: Path):
    whole = {"kind": KIND, "requests": 100, "exact": [{"hit_share": 0.5}], "near": [NEAR]}
    file = tmp_path / "cache.json"
    file.write_text(json.dumps(whole))
    assert [(found.threshold, found.hits) for found in read_cache(file)] == [(0.9, 50), (None, 50)]
    file.write_text(json.dumps(whole | changed))
    with pytest.raises(BadFile, match="lacks what a cache did"):
        read_cache(file)
