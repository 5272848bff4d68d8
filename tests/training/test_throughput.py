"""Training speed from measured rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unitcost.errors import UnitcostError
from unitcost.machine.accelerators import chip
from unitcost.machine.shapes import model_shape
from unitcost.training.throughput import (
    CONSTANT_SHARE,
    SpeedModel,
    TrainingSetup,
    setup_of,
    shipped_runs,
)

SHIPPED = [run for run in shipped_runs() if run.source == "llm-foundry"]
SETUP = TrainingSetup(shape=model_shape("7b"), chip=chip("H100"), accelerators=64, seq_len=2048, micro_batch=4)


def test_each_model_size_is_predicted_from_the_others() -> None:
    errors, inside = [], []
    for model in {run.model for run in SHIPPED}:
        rest = SpeedModel([run for run in SHIPPED if run.model != model])
        for run in SHIPPED:
            if run.model == model:
                setup = setup_of(run)
                assert setup is not None
                speed = rest.predict(setup).tokens_per_s
                errors.append(abs(speed.value / run.tokens_per_s - 1))
                inside.append(speed.low <= run.tokens_per_s <= speed.high)
    # three nearest neighbours: 5.8 % and 15.8 %
    assert np.median(errors) < 0.05
    assert np.percentile(errors, 90) < 0.14
    assert np.mean(inside) >= 0.85


def test_code_that_nobody_measured_gets_a_wide_interval_that_covers_other_sources() -> None:
    model = SpeedModel(SHIPPED)
    known = model.predict(replace(SETUP, source="llm-foundry")).tokens_per_s
    unknown = model.predict(SETUP).tokens_per_s
    assert unknown.high / unknown.low > 1.5 * known.high / known.low
    others = [run for run in shipped_runs() if run.source != "llm-foundry"]
    speeds = [(run, model.predict(setup_of(run)).tokens_per_s) for run in others]  # type: ignore[arg-type]
    assert all(speed.low <= run.tokens_per_s <= speed.high for run, speed in speeds)


def test_measured_rows_of_ones_own_win() -> None:
    model = SpeedModel(SHIPPED)
    before = model.predict(SETUP).tokens_per_s
    own = replace(
        SHIPPED[0], source="ours", row="ours:1", model="7b", params=SETUP.shape.params, accelerators=64, micro_batch=4.0,
        recompute=False, accelerator="H100", tokens_per_s=before.value * 0.7,
    )  # fmt: skip
    after = SpeedModel([*SHIPPED, own]).predict(replace(SETUP, source="ours"))
    assert after.tokens_per_s.value == pytest.approx(own.tokens_per_s, rel=0.05)
    assert after.tokens_per_s.high / after.tokens_per_s.low < before.high / before.low
    assert after.neighbours[0].row == "ours:1"


def test_it_cites_near_rows() -> None:
    neighbours = SpeedModel(SHIPPED).predict(SETUP).neighbours
    assert len(neighbours) == 5
    assert all("h100" in run.accelerator.casefold() for run in neighbours)


def test_beyond_the_data_the_share_of_peak_is_constant_and_labelled() -> None:
    speed = SpeedModel(SHIPPED).predict(replace(SETUP, chip=chip("B200")))
    assert speed.flop_share.value == CONSTANT_SHARE[0]
    assert speed.tokens_per_s.basis == "modelled"
    assert "no row was measured" in speed.tokens_per_s.because


def test_rows_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(UnitcostError, match="no measured row"):
        SpeedModel([replace(SHIPPED[0], accelerator="abacus")])


def test_a_source_that_varies_by_what_no_feature_tells_gets_wide_intervals() -> None:
    """Recipes that differ by half, as those of 8 bits do, must not count as exact measurements."""
    row = SHIPPED[0]
    wild = [
        replace(row, source="wild", row=f"w{n}", seq_len=1024 * 2 ** (n % 3), tokens_per_s=row.tokens_per_s * factor)
        for n, factor in enumerate((0.5, 1.6, 0.7, 1.3, 0.6, 1.5, 0.9, 1.1))
    ]
    model = SpeedModel([*SHIPPED, *wild])
    of_wild, of_usual = (setup_of(replace(row, source=source)) for source in ("wild", row.source))
    assert of_wild is not None
    assert of_usual is not None
    width = {s.source: (p := model.predict(s).tokens_per_s).high / p.low for s in (of_wild, of_usual)}
    assert width["wild"] > 2 * width[row.source]
    # the rows of the other source stay as exact as they were
    alone = SpeedModel(SHIPPED).predict(of_usual).tokens_per_s
    assert width[row.source] == pytest.approx(alone.high / alone.low, rel=0.1)
