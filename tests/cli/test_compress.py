"""`unitcost compress` on a small model, and on a real one where it is at hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.measure.small_models import linear

from unitcost.cli import cli

pytestmark = pytest.mark.filterwarnings("ignore")  # the converters warn of their own libraries


def test_forms_are_made_measured_and_compared(tmp_path: Path):
    x = np.random.default_rng(0).standard_normal((900, 6)).astype(np.float32)
    np.savez(tmp_path / "data.npz", Xte=x[:600], yte=x[:600, :4].argmax(axis=1), Xtr=x[600:])
    model = linear(tmp_path / "model.onnx", np.eye(6)[:, :4])
    done = CliRunner().invoke(cli, [
        "compress", str(model), "--data", str(tmp_path / "data.npz"), "--forms", "dynamic-s8,static-qdq,fewer-layers", "--distil",
        "--runtimes", "ort", "--time", "1s", "--samples", "50", "--usd-per-hour", "1", "--margin", "0.05",
        "--into", str(tmp_path / "forms"), "--json",
    ])  # fmt: skip
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    names = {option["model"] for option in answer["measured"]}
    assert names == {
        "original",
        "dynamic-s8",
        "static-qdq",
        "fewer-layers",
        "student-linear",
        "student-tree",
        "student-network",
    }
    assert [f["option"] for f in answer["failures"]] == ["fewer-layers"]
    assert answer["reference"] == "original/ort/b1/t1 (fp32)"
    assert answer["cheapest"]
    made = {option["model"]: option["made"] for option in answer["measured"]}
    assert made["static-qdq"] == "int8 weights and activations, calibrated"
    assert made["original"] == ""
    by_model = {option["option"].partition("/")[0]: option for option in answer["options"]}
    assert by_model["static-qdq"]["precision"] == "int8"
    assert by_model["student-tree"]["quality"] is not None


@pytest.mark.shared
def test_the_sign_of_int8_on_a_real_network(shared_data: Path, tmp_path: Path):
    models = shared_data / "models"
    done = CliRunner().invoke(cli, [
        "compress", str(models / "mnist_cnn32.onnx"), "--data", str(models / "mnist.npz"),
        "--forms", "static-qdq,dynamic-u8,dynamic-s8-all", "--runtimes", "ort", "--time", "15s", "--samples", "200", "--usd-per-hour", "1",
        "--margin", "0.01", "--into", str(tmp_path / "forms"), "--json",
    ])  # fmt: skip
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    times = {o["model"]: o["timing"]["ratio"]["median"] for o in answer["measured"]}
    # measured 2.1 to 2.8, 1/2.2 to 1/1.4 and 1/8 to 1/5.5 on quiet machines; orderings of turns hold on busy ones
    assert times["static-qdq"] > 1.5
    assert times["dynamic-s8-all"] < 1 / 1.4
    assert times["dynamic-s8-all"] < times["dynamic-u8"] < 1 < times["static-qdq"]
    assert answer["cheapest"].startswith("static-qdq")
    assert {o["option"].partition("/")[0]: o["quality"] for o in answer["options"]}["original"] == pytest.approx(
        0.953, abs=0.001
    )
