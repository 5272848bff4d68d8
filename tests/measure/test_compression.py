"""Forms of a model: what they keep, what they may look at, and reasons where they cannot be made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from unitcost.errors import UnitcostError, UnknownName
from unitcost.measure.answering import answer_all, answers
from unitcost.measure.compression.distilling import students
from unitcost.measure.compression.forms import Given
from unitcost.measure.compression.making import FORMS, make_each, make_forms
from unitcost.measure.runtimes import RUNTIMES
from unitcost.measure.runtimes.running import Setting

from .small_models import linear

pytestmark = pytest.mark.filterwarnings("ignore")  # the converters warn of their own libraries


def said(path: Path, x: np.ndarray, batch: int = 16) -> np.ndarray:
    opened = RUNTIMES["ort"].open(path, Setting(batch=batch))
    return answers(answer_all(opened, {opened.inputs[0].name: x}, batch), None)


def items(count: int = 300, features: int = 8, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, features)).astype(np.float32)


def test_every_form_runs_and_answers_almost_the_same(tmp_path: Path):
    model = linear(tmp_path / "model.onnx", np.random.default_rng(0).standard_normal((8, 5)))
    x = items()
    made = make_forms(
        Given(model=model, calibration={"x": items(seed=2)}),
        ["dynamic-s8", "dynamic-u8", "static-qdq", "fp16", "slim"],
        tmp_path,
    )
    assert made.failed == {}
    exact = said(model, x)
    for name, path in made.files.items():
        agree = float((said(path, x) == exact).mean())
        assert agree > (0.99 if name in ("slim", "fp16") else 0.9), name
    precision = RUNTIMES["ort"].open(made.files["dynamic-s8"], Setting()).about({"x": x[:1]}).precision
    assert precision == "int8"


def test_pruning_sets_half_of_each_matrix_to_zero(tmp_path: Path):
    model = linear(tmp_path / "model.onnx", np.random.default_rng(0).standard_normal((8, 6)))
    made = make_forms(Given(model=model, calibration={}), ["pruned"], tmp_path)
    [weights] = [numpy_helper.to_array(t) for t in onnx.load(str(made.files["pruned"])).graph.initializer]
    assert (weights == 0).mean() == pytest.approx(0.5)


def test_what_cannot_be_made_is_a_reason_and_the_rest_is_made(tmp_path: Path):
    model = linear(tmp_path / "model.onnx", np.eye(4))
    made = make_forms(Given(model=model, calibration={}), ["static-qdq", "fewer-layers", "slim"], tmp_path)
    assert "needs calibration data" in made.failed["static-qdq"]
    assert "no stack of layers" in made.failed["fewer-layers"]
    assert list(made.files) == ["slim"]
    with pytest.raises(UnknownName, match="dynamic-s8"):
        make_forms(Given(model=model, calibration={}), ["dynamic-s9"], tmp_path)


def stack(path: Path, layers: int) -> Path:
    """Model that adds one in each of its layers."""
    nodes = []
    name = "x"
    for number in range(layers):
        nodes.append(helper.make_node("Add", [name, "one"], [f"h{number}"], name=f"/encoder/layer.{number}/Add"))
        name = f"h{number}"
    nodes.append(helper.make_node("Identity", [name], ["y"], name="/out"))
    graph = helper.make_graph(
        nodes, "stack", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])], [numpy_helper.from_array(np.ones(1, np.float32), "one")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def test_half_of_the_layers_add_half_as_much(tmp_path: Path):
    made = make_forms(Given(model=stack(tmp_path / "stack.onnx", 6), calibration={}), ["fewer-layers"], tmp_path)
    opened = RUNTIMES["ort"].open(made.files["fewer-layers"], Setting())
    assert opened.run({"x": np.zeros((1, 2), np.float32)})[0].tolist() == [[3.0, 3.0]]


def test_students_learn_what_the_teacher_says(tmp_path: Path):
    x = items(600)
    taught = (x[:, 0] > 0).astype(np.int64)
    made = make_each(students({"x": x}, taught), "teacher", tmp_path, lambda _: None)
    assert made.failed == {}
    fresh = items(400, seed=9)
    for path in made.files.values():
        assert float((said(path, fresh) == (fresh[:, 0] > 0)).mean()) > 0.9


def test_a_student_of_texts_reads_texts(tmp_path: Path):
    texts = np.array(
        [[word] for word in ("lost my card", "card was stolen", "what is the fee", "fee of a transfer")] * 20,
        dtype=object,
    )
    labels = np.array(["card", "card", "fee", "fee"] * 20)
    made = make_each(students({"text": texts}, labels), "teacher", tmp_path, lambda _: None)
    opened = RUNTIMES["ort"].open(made.files["student-text"], Setting())
    assert opened.run({"text": np.array([["a stolen card"]], dtype=object)})[0].tolist() == ["card"]


def test_what_teaches_nothing_is_refused():
    with pytest.raises(UnitcostError, match="teach nothing"):
        students({"x": items(600)}, np.zeros(600, dtype=np.int64))
    with pytest.raises(UnitcostError, match="2 inputs"):
        students({"x": items(600), "z": items(600)}, np.zeros(600, dtype=np.int64))


def test_each_form_says_what_it_is():
    assert all(form.what for form in FORMS.values())


def network(path: Path, *, gemm: bool, layers: int = 4) -> Path:
    """Layers that each turn the features by 90 degrees, and a linear head of three classes behind them."""
    turn = np.zeros((4, 4), np.float32)
    turn[[0, 1, 2, 3], [1, 2, 3, 0]] = 1
    head = np.random.default_rng(5).standard_normal((4, 3)).astype(np.float32)
    nodes, name = [], "x"
    for number in range(layers):
        nodes.append(helper.make_node("MatMul", [name, "turn"], [f"h{number}"], name=f"/layer.{number}/MatMul"))
        name = f"h{number}"
    if gemm:
        nodes.append(helper.make_node("Gemm", [name, "head", "offset"], ["logits"], name="/head", transB=1))
    else:
        nodes.append(helper.make_node("MatMul", [name, "head"], ["product"], name="/head/MatMul"))
        nodes.append(helper.make_node("Add", ["product", "offset"], ["logits"], name="/head/Add"))
    nodes.append(helper.make_node("Softmax", ["logits"], ["shares"], name="/softmax", axis=1))
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("shares", TensorProto.FLOAT, ["N", 3])],
        [
            numpy_helper.from_array(turn, "turn"), numpy_helper.from_array(head.T.copy() if gemm else head, "head"),
            numpy_helper.from_array(np.array([0.5, -0.5, 0.0], np.float32), "offset"),
        ],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


@pytest.mark.parametrize("gemm", [True, False])
def test_a_head_is_fitted_again_to_what_the_original_says(tmp_path: Path, gemm: bool):
    model, x = network(tmp_path / "network.onnx", gemm=gemm), items(features=4)
    made = make_forms(Given(model=model, calibration={"x": items(features=4, seed=2)}), ["fewer-layers"], tmp_path)
    assert made.failed == {}
    assert made.notes["fewer-layers"] == (
        "2 of 4 layers; head refitted on 300 items, to what the original says of them"
    )
    # the layers that are left out only turn the features, so a head that is fitted again makes up for them
    assert float((said(made.files["fewer-layers"], x) == said(model, x)).mean()) > 0.98
    bare = make_forms(Given(model=model, calibration={}), ["fewer-layers"], tmp_path)
    assert "head not refitted: there are no inputs" in bare.notes["fewer-layers"]
    assert float((said(bare.files["fewer-layers"], x) == said(model, x)).mean()) < 0.9


def test_a_head_is_fitted_to_labels_too_where_there_are_some(tmp_path: Path):
    model, x = network(tmp_path / "network.onnx", gemm=True), items(features=4)
    (tmp_path / "bare").mkdir()
    learnt = items(600, features=4, seed=3)
    given = Given(model=model, calibration={"x": learnt}, labels=learnt[:, :3].argmax(axis=1))
    made = make_forms(given, ["fewer-layers"], tmp_path)
    assert made.notes["fewer-layers"].endswith("on 600 items, to their labels and what the original says of them")
    truth = x[:, :3].argmax(axis=1)  # which the original does not tell: its head is drawn by chance
    bare = make_forms(Given(model=model, calibration={"x": learnt}), ["fewer-layers"], tmp_path / "bare")
    right = [float((said(each.files["fewer-layers"], x) == truth).mean()) for each in (made, bare)]
    assert right[0] > right[1] + 0.1
    missing = Given(model=model, calibration={"x": learnt}, labels=np.full(600, 7))
    assert "what the original says" in make_forms(missing, ["fewer-layers"], tmp_path).notes["fewer-layers"]


def test_a_model_without_a_linear_head_keeps_what_it_has(tmp_path: Path):
    given = Given(model=stack(tmp_path / "stack.onnx", 4), calibration={"x": np.zeros((5, 2), np.float32)})
    made = make_forms(given, ["fewer-layers"], tmp_path)
    assert made.notes["fewer-layers"] == "2 of 4 layers; head not refitted: the last layer is not linear"
