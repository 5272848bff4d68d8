"""Critical batch and levers."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.errors import BadFile, UnitcostError
from unitcost.facts.training_runs import BatchRun
from unitcost.training.batch import fit_batch_law
from unitcost.training.levers import LEVERS, packing, range_of


@given(
    least=st.floats(100, 1e6),
    critical=st.floats(20, 5000),
    batches=st.sets(st.integers(1, 4000), min_size=2, max_size=6),
)
@settings(max_examples=40, deadline=None)
def test_a_law_is_found_again_from_its_own_samples(least, critical, batches) -> None:
    runs = [BatchRun(batch=b, samples=least * (1 + b / critical)) for b in batches]
    law = fit_batch_law(runs)
    for run in runs:
        # critical batches are tried in steps of a few per cent
        assert law.samples(run.batch) == pytest.approx(run.samples, rel=0.03)


def test_at_the_critical_batch_twice_the_samples_are_needed() -> None:
    law = fit_batch_law([BatchRun(batch=b, samples=1000 * (1 + b / 64)) for b in (8, 32, 256)])
    assert law.critical == pytest.approx(64, rel=0.03)
    assert law.samples(law.critical) == pytest.approx(2 * law.least)


def test_real_tasks_follow_the_law(shared_data: Path) -> None:
    by_model = defaultdict(list)
    with (shared_data / "training/batch_size_gpu_hours.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            by_model[row["model"]].append(
                BatchRun(
                    batch=float(row["batch"]), accelerators=int(row["t4_gpus"]), hours=float(row["hours_to_target"])
                )
            )
    laws = {model: fit_batch_law(runs) for model, runs in by_model.items()}
    errors = [
        abs(laws[model].hours(run.batch, run.accelerators) / (run.hours or 1) - 1)
        for model, runs in by_model.items()
        for run in runs
    ]
    print({model: (round(law.critical), round(law.error, 3)) for model, law in laws.items()})
    assert len(laws) == 6
    assert np.median(errors) < 0.08  # measured: 5.3 %
    assert max(law.error for law in laws.values()) < 0.15  # measured: 10.8 %, deepspeech2


def test_one_batch_is_not_enough_and_unmeasured_counts_are_refused() -> None:
    with pytest.raises(UnitcostError, match="one batch"):
        fit_batch_law([BatchRun(batch=8, samples=10.0), BatchRun(batch=8, samples=11.0)])
    with pytest.raises(BadFile, match="neither samples nor hours"):
        BatchRun(batch=8)
    law = fit_batch_law([BatchRun(batch=b, accelerators=2, hours=1 + b / 64) for b in (8, 16, 32)])
    with pytest.raises(UnitcostError, match="no run on 3"):
        law.hours(8, 3)


def test_precision_pairs_left_out_fall_inside_the_range_of_the_others(shared_data: Path) -> None:
    pairs: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (shared_data / "training/mixed_precision_pairs.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            pairs[row["gpu"].split()[0], row["base"]][row["model"]].append(float(row["speedup"]))
    inside, slower = [], []
    for by_model in pairs.values():
        if len(by_model) < 5:
            continue
        for model, found in by_model.items():
            low, _, high = range_of({name: values for name, values in by_model.items() if name != model})
            inside += [low <= value <= high for value in found]
            slower += [value < 1 for value in found]
    assert len(inside) > 500
    assert np.mean(inside) >= 0.85  # measured: 94 %
    assert any(slower)


def test_shipped_ranges_are_those_of_the_pairs(shared_data: Path) -> None:
    v100: dict[str, list[float]] = defaultdict(list)
    with (shared_data / "training/mixed_precision_pairs.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["gpu"].startswith("V100") and row["base"] == "fp32":
                v100[row["model"]].append(float(row["speedup"]))
    shipped = next(lever for lever in LEVERS if "V100" in lever.lever).factor
    assert range_of(v100) == pytest.approx((shipped.low, shipped.value, shipped.high), abs=0.02)


def test_packing_wins_back_the_padding() -> None:
    assert packing(0.5).factor.value == 2.0
