"""Files of sessions that were changed by hand, cut or written by something else are refused with what is wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unitcost.errors import BadFile
from unitcost.measure.bench_run import KIND, SCHEMA
from unitcost.measure.result_files import items_of, read_result

TIMING = {
    "percentiles": {"p50": {"latency_s": 0.01, "bound_s": 0.011, "missing": 0}}, "per_s": 100.0, "min_s": 0.009,
    "quantiles_s": [0.009, 0.01, 0.02], "cpu_s_per_item": 0.01,
}  # fmt: skip
SESSION: dict[str, Any] = {
    "schema_version": SCHEMA, "kind": KIND, "machine": {"cpu": "x"}, "data": {"sha256": "d"}, "truth": [0, 1],
    "answers": {"a": [0, 1]}, "anchors": [{"name": "anchor-conv", "runtime": "ort", "timing": copy.deepcopy(TIMING)}],
    "options": [{
        "name": "m", "model": "m", "runtime": "ort", "batch": 1, "threads": 1, "precision": "fp32", "version": "1",
        "failure": "", "answers": "a", "timing": TIMING,
    }],
}  # fmt: skip


def read(tmp_path: Path, change: Callable[[dict[str, Any]], object]):
    session = copy.deepcopy(SESSION)
    change(session)
    (tmp_path / "session.json").write_text(json.dumps(session))
    return read_result(tmp_path / "session.json")


def test_a_whole_session_is_read(tmp_path: Path):
    items = items_of([read(tmp_path, lambda _: None)])
    assert items is not None
    assert list(items.answers) == ["m (fp32)"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s["options"][0]["timing"].update(per_s=float("nan")), "per_s of m is nan"),
        (lambda s: s["options"][0]["timing"].update(per_s="fast"), "per_s of m is 'fast'"),
        (lambda s: s["options"][0]["timing"].update(quantiles_s=[-1, 1]), "quantiles_s of m is -1"),
        (lambda s: s["options"][0]["timing"].update(quantiles_s="abc"), "quantiles_s of m is no list"),
        (lambda s: s["options"][0]["timing"].update(percentiles=[]), "of another form"),
        (lambda s: s["options"][0].update(batch="x"), "batch of m is 'x'"),
        (lambda s: s["options"][0].update(name={}), "name of an option is {}"),
        (lambda s: s["options"][0].update(memory_bytes="lots"), "memory_bytes of m is 'lots'"),
        (lambda s: s["anchors"][0]["timing"]["percentiles"]["p50"].update(latency_s=0), "p50 of anchor-conv is 0"),
        (lambda s: s.update(options={}), "options is no list"),
        (lambda s: s.update(answers={"a": 5}), "answers is no list"),
        (lambda s: s.update(truth=[0, 1, 1]), "answers and labels are to 2 and 3 items"),
        (lambda s: s.update(machine=[]), "of another form"),
        (lambda s: s.update(schema_version=SCHEMA + 1), "is of version"),
    ],
)
def test_a_part_that_no_session_writes_is_named(change: Callable[[dict[str, Any]], object], words: str, tmp_path: Path):
    with pytest.raises(BadFile) as found:
        read(tmp_path, change)
    assert words in str(found.value)
