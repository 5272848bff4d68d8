"""Labels of measured runs, and a fit on a handful of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine.test_steps import small_grid
from unitcost.errors import BadFile, NotMeasured
from unitcost.machine.closed_loop import closed_loop
from unitcost.machine.steps import Constants
from unitcost.measure import serving_grids
from unitcost.measure.serving_defaults import from_json, to_json
from unitcost.measure.serving_fit import Bench, cautious, fit, predict
from unitcost.measure.serving_grids import grids_of
from unitcost.measure.serving_rows import read_rows, read_usable

HEADER = (
    "id,backend,backend_version,model_path,system,precision,isl,osl,concurrency,batch_size,tp_size,pp_size,attention_dp_size,"
    "moe_tp_size,moe_ep_size,gemm_quant_mode,moe_quant_mode,silicon_ttft_ms,silicon_tpot_ms,static_ttft_ms,static_tpot_ms"
)


def line(
    model="meta-llama/Llama-3.1-70B",
    precision="fp8",
    concurrency=16,
    ttft_ms=200.0,
    tpot_ms=12.0,
    modes="fp8,fp8",
    isl=1024,
):
    return f"x,vllm,,{model},h200_sxm,{precision},{isl},256,{concurrency}.0,16,4.0,1.0,,4.0,1.0,{modes},{ttft_ms},{tpot_ms},150,11"


def rows_of(tmp_path, *lines):
    file = tmp_path / "rows.csv"
    file.write_text("\n".join([HEADER, *lines]) + "\n")
    return read_rows(file)


def test_labels_become_deployments(tmp_path):
    llama, oss, kimi = rows_of(
        tmp_path, line(), line("openai/gpt-oss-120b", "fp4", modes="nvfp4,nvfp4"),
        line("moonshotai/Kimi-K2.5", "int4", modes="int4_wo,int4_wo"),
    )  # fmt: skip
    assert (llama.served.model, llama.served.gpu, llama.served.gpus) == ("meta-llama/Meta-Llama-3.1-70B", "H200", 4)
    assert llama.modes == (("fp8", "fp8"),)
    assert llama.ttft_s == pytest.approx(0.2)
    assert (oss.served.precision, oss.modes) == ("mxfp4", ())
    assert (kimi.served.precision, kimi.modes) == ("int4", ())


def test_a_bad_number_is_said_with_its_row(tmp_path):
    with pytest.raises(BadFile, match=r"rows\.csv:3"):
        rows_of(tmp_path, line(), line(tpot_ms="quick"))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadFile, match="columns are missing"):
        read_rows(tmp_path / "other.csv")


def test_rows_that_cannot_be_used_are_counted_with_their_reason_and_the_others_stay(tmp_path):
    file = tmp_path / "rows.csv"
    bad = {
        "no model": line("acme/Secret-1T"), "no GPU": line().replace("h200_sxm", "tpu_v9"),
        "no backend": line().replace("vllm", "llamacpp"), "pipeline": line().replace(",4.0,1.0,,", ",4.0,2.0,,"),
        "no precision": line(precision="fp3"), "not above zero": line(ttft_ms=0.0), "cannot be read": line(tpot_ms=""),
        "shorter": "x,vllm", "dealt out": line().replace(",4.0,1.0,fp8", ",4.0,3.0,fp8"),
    }  # fmt: skip
    file.write_text("\n".join([HEADER, line(), *bad.values()]) + "\n")
    rows, unused = read_usable(file)
    assert len(rows) == 1
    assert [one.row for one in unused] == [f"{file}:{number}" for number in range(3, 3 + len(bad))]
    for part, one in zip(bad, unused, strict=True):
        assert part in one.reason


def test_columns_that_are_not_needed_may_be_missing(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(
        "backend,model_path,system,precision,isl,osl,concurrency,tp_size,silicon_ttft_ms,silicon_tpot_ms\n"
        "vllm,llama-3.1-8b,h100_sxm,,1024,256,16,1,120,8\n"
    )
    (row,) = read_rows(file)
    assert (row.served.precision, row.modes, row.static_ttft_s) == ("bf16", (), None)


def test_rows_without_step_times_are_told_from_the_others(tmp_path, monkeypatch):
    def grid_of(row):
        if row.input_tokens == 512:
            raise NotMeasured("nobody measured it")
        return small_grid(served=row.served)

    monkeypatch.setattr(serving_grids, "grid_of", grid_of)
    rows = rows_of(tmp_path, line(), line("openai/gpt-oss-120b", "fp4", isl=512))
    seen = []
    grids = grids_of(rows, done=lambda made, of: seen.append((made, of)))
    kept, unused = grids.usable(rows)
    assert kept == rows[:1]
    assert [one.reason for one in unused] == ["nobody measured it"]
    assert seen[-1] == (2, 2)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A bench whose runs are a closed loop with known constants, twice as slow to the first token."""
    monkeypatch.setattr(serving_grids, "grid_of", lambda row: small_grid(served=row.served))
    lines = []
    for isl in (512, 1024, 4096):
        for concurrency in (2, 4, 8, 16, 32, 64):
            true = closed_loop(small_grid(constants=Constants(scale=1.5)), concurrency, isl, 256)
            lines.append(line(concurrency=concurrency, isl=isl, ttft_ms=2e3 * true.ttft_s, tpot_ms=1e3 * true.tpot_s))
    rows = rows_of(tmp_path, *lines)
    return Bench(rows, grids_of(rows))


def test_a_fit_foretells_a_configuration_that_it_has_not_seen(planted):
    kept = [index for index, row in enumerate(planted.rows) if row.input_tokens == 1024]
    chosen = [index for index in range(len(planted.rows)) if index not in kept]
    fitted = fit(planted, chosen)
    real = np.array([[planted.rows[i].ttft_s, planted.rows[i].tpot_s] for i in kept])
    error = np.abs(predict(fitted, planted, kept) / real - 1)
    assert error[:, 0].mean() < 0.15
    assert error[:, 1].mean() < 0.05
    assert fitted.by_group[planted.rows[0].group].scale == pytest.approx(1.5, rel=0.1)


def test_rows_kept_back_do_not_change_the_fit(planted):
    chosen = list(range(12))
    before = to_json(fit(planted, chosen))
    planted.rows[15:] = [planted.rows[0]] * len(planted.rows[15:])
    assert to_json(fit(planted, chosen)) == before


def test_a_fit_survives_being_written(planted):
    fitted = fit(planted, range(len(planted.rows)))
    again = from_json(to_json(fitted))
    everything = range(len(planted.rows))
    told, told_again = predict(fitted, planted, everything), predict(again, planted, everything)
    assert told_again == pytest.approx(told, rel=0.01)  # kept to four digits


def test_what_is_held_against_a_target_lies_above_most_measured_times(planted):
    everything = range(len(planted.rows))
    fitted = fit(planted, everything)
    told = predict(fitted, planted, everything)
    careful = cautious(fitted, planted.rows, told)
    real = np.array([[row.ttft_s, row.tpot_s] for row in planted.rows])
    assert (real <= careful).mean() >= 0.7
