"""The table of constants that ships: what the script writes, in the form in which it is read."""

from __future__ import annotations

import csv
import json
from importlib.resources import files

import numpy as np
import pytest
from tools.serving_tables.__main__ import constants

from unitcost.machine.corrections import KNOWN, LEVELS, QUANTILES
from unitcost.measure.serving_defaults import TABLE, from_json, shipped, to_json


def shipped_json():
    return json.loads((files("unitcost.measure") / "step_data" / TABLE).read_text(encoding="utf-8"))


def test_the_table_has_constants_factors_and_bands_with_a_source():
    plain = shipped_json()
    assert "aiconfigurator-core" in plain["source"]
    counted = [int(one["source"].split()[0]) for one in plain["by_backend"].values()]
    assert sum(counted) == plain["rows"]
    assert sum(int(one["source"].split()[0]) for one in plain["by_group"].values()) == plain["rows"]
    for name in ("ttft", "tpot"):
        assert list(plain[name]["coefficients"]) == list(LEVELS)
        bands = [plain[name]["bands"][known] for known in KNOWN]
        assert all(len(band) == len(QUANTILES) and band == sorted(band) for band in bands)
        # Knowing less never makes a band narrower.
        assert all(np.diff([band[0] for band in bands]) <= 0)
        assert all(np.diff([band[-1] for band in bands]) >= 0)


def test_the_table_is_read_as_it_was_written():
    plain = shipped_json()
    assert to_json(shipped()) == {name: plain[name] for name in ("by_backend", "by_group", "ttft", "tpot")}
    assert to_json(from_json(to_json(shipped()))) == to_json(shipped())


def test_the_script_writes_such_a_table_and_the_measured_rows_give_the_shipped_constants(shared_data, tmp_path):
    pytest.importorskip("aiconfigurator_core", reason="the extra `llm` is not installed")
    wanted = "vllm meta-llama/Meta-Llama-3.1-70B H200 fp8"
    with (shared_data / "silicon" / "measured.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    few = [
        r
        for r in rows
        if (r["backend"], r["model_path"], r["system"]) == ("vllm", "meta-llama/Llama-3.1-70B", "h200_sxm")
    ]
    sample = tmp_path / "few.csv"
    with sample.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(few)
    constants(sample, tmp_path, processes=1)
    written, plain = json.loads((tmp_path / TABLE).read_text()), shipped_json()
    assert written.keys() == plain.keys()
    assert written["rows"] == len(few) == int(plain["by_group"][wanted]["source"].split()[0])
    # Pulled towards its backend, which here it is alone: near the shipped scale, not equal to it.
    assert written["by_group"][wanted]["scale"] == pytest.approx(plain["by_group"][wanted]["scale"], rel=0.1)
