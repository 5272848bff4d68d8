"""Models in real runtimes: exact answers, effective precision, and what is said when something is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unitcost.errors import BadFile, UnitcostError
from unitcost.measure.anchors import write_anchors
from unitcost.measure.answering import answers
from unitcost.measure.eval_data import read_eval
from unitcost.measure.one_runtime import Job, measure
from unitcost.measure.runtimes import RUNTIMES
from unitcost.measure.runtimes.running import Setting, joined

from .small_models import broken, labelled, linear


def measured(
    folder: Path,
    models: dict[str, Path],
    runtime: str = "ort",
    batches: tuple[int, ...] = (1,),
    data: Path | None = None,
):
    if data is None:
        data, _ = labelled(folder / "data.npz")
    job = Job(
        runtime=runtime,
        models={k: str(v) for k, v in models.items()},
        data=str(data),
        batches=batches,
        time_s=0.2,
        samples=5,
    )
    kept = []
    found = measure(job, lambda part: kept.append(len(part["options"])), lambda _: None)
    return found, kept


@pytest.mark.parametrize("runtime", ["ort", "openvino", "tract"])
def test_answers_are_exact_at_every_batch_in_every_runtime(runtime: str, tmp_path: Path):
    if not RUNTIMES[runtime].is_installed:
        pytest.skip(f"{runtime} is not installed")
    model = linear(tmp_path / "identity.onnx", np.eye(4))
    found, _ = measured(tmp_path, {"identity": model}, runtime, (1, 7))
    _, y = labelled(tmp_path / "again.npz")
    for option in found["options"]:
        assert option["failure"] == ""
        assert found["answers"][option["answers"]] == y.tolist()
        assert option["precision"] != "unknown"
        assert option["timing"]["calls"] >= 5
    assert len(found["answers"]) == 1  # equal answers are kept once
    assert {anchor["name"] for anchor in found["anchors"] if anchor["timing"]} == {
        "anchor-matmul", "anchor-conv", "anchor-pointwise"
    }  # fmt: skip


def test_classes_that_are_told_by_place_get_the_names_of_the_labels():
    labels = np.array(["b", "a", "c", "a"])
    assert answers(np.array([[1], [0], [2], [0]]), labels).tolist() == labels.tolist()
    assert answers(np.array([[0.1, 0.8, 0.1]]), labels).tolist() == ["b"]
    assert answers(np.array([["c"]]), labels).tolist() == ["c"]
    assert answers(np.array([[3], [1]]), np.array([3, 1])).tolist() == [3, 1]
    with pytest.raises(UnitcostError, match="tells 5 classes and the labels name 3"):
        answers(np.array([[4]]), labels)
    with pytest.raises(UnitcostError, match="tells 2 classes and the labels name 3"):
        answers(np.array([[0.1, 0.9]]), labels)


def test_the_anchors_are_the_same_files_each_time(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = write_anchors(tmp_path / "a"), write_anchors(tmp_path / "b")
    assert [a.path.read_bytes() for a in one] == [b.path.read_bytes() for b in other]


def test_what_is_broken_is_a_row_with_its_reason_and_the_rest_is_measured(tmp_path: Path):
    garbage = tmp_path / "garbage.onnx"
    garbage.write_bytes(b"no model at all")
    models = {
        "nan": broken(tmp_path / "nan.onnx"), "garbage": garbage, "wide": linear(tmp_path / "wide.onnx", np.eye(9)),
        "fixed": linear(tmp_path / "fixed.onnx", np.eye(4), batch=1), "good": linear(tmp_path / "good.onnx", np.eye(4)),
    }  # fmt: skip
    found, kept = measured(tmp_path, models, batches=(2,))
    reasons = {option["model"]: option["failure"] for option in found["options"]}
    assert "NaN" in reasons["nan"]
    assert reasons["garbage"]
    assert "do not fit the input `x` of shape 9" in reasons["wide"]
    assert reasons["fixed"]
    assert reasons["good"] == ""
    assert kept == [1, 2, 3, 4, 5, 5]  # kept after each, so that a crash loses nothing


def test_the_provider_and_the_precision_are_those_that_ran(tmp_path: Path):
    model = linear(tmp_path / "identity.onnx", np.eye(4))
    about = RUNTIMES["ort"].open(model, Setting()).about({"x": np.zeros((1, 4), np.float32)})
    assert about.precision == "fp32"
    assert dict(about.ran_on)["CPUExecutionProvider"] == 1


def test_precisions_are_told_narrowest_first():
    assert joined({"fp32", "int8"}) == "int8+fp32"
    assert joined(set()) == "unknown"


def test_data_of_every_form_is_read_the_same(tmp_path: Path):
    data, y = labelled(tmp_path / "data.npz", items=6)
    x = np.load(data)["x"]
    table = tmp_path / "data.csv"
    table.write_text(
        "a,b,c,d,label\n" + "\n".join(",".join(map(str, [*row, lab])) for row, lab in zip(x, y, strict=True))
    )
    lines = tmp_path / "data.jsonl"
    lines.write_text("\n".join(f'{{"x": {row.tolist()}, "label": {lab}}}' for row, lab in zip(x, y, strict=True)))
    given = RUNTIMES["ort"].open(linear(tmp_path / "m.onnx", np.eye(4)), Setting()).inputs
    for path in (data, table, lines):
        assert read_eval(path).feeds(given)["x"] == pytest.approx(x)
        assert read_eval(path).labels.tolist() == y.tolist()


def test_data_that_cannot_be_used_says_why(tmp_path: Path):
    empty = tmp_path / "empty.npz"
    np.savez(empty, x=np.zeros((0, 4)))
    with pytest.raises(BadFile, match="holds no items"):
        read_eval(empty)
    data, _ = labelled(tmp_path / "data.npz")
    with pytest.raises(BadFile, match="no column `labl`"):
        read_eval(data, label="labl")
    np.savez(tmp_path / "nan.npz", x=np.full((3, 4), np.nan))
    given = RUNTIMES["ort"].open(linear(tmp_path / "m.onnx", np.eye(4)), Setting()).inputs
    with pytest.raises(BadFile, match="NaN"):
        read_eval(tmp_path / "nan.npz").feeds(given)
    np.savez(tmp_path / "other.npz", p=np.zeros((3, 4)), q=np.zeros((3, 4)))
    with pytest.raises(UnitcostError, match="no column is meant for the input `x`"):
        read_eval(tmp_path / "other.npz").feeds(given)
    (tmp_path / "bad.npz").write_text("x")
    with pytest.raises(BadFile, match="cannot be read as npz"):
        read_eval(tmp_path / "bad.npz")


def test_data_that_is_broken_ends_in_a_message(tmp_path: Path):
    x = np.zeros((4, 4), np.float32)
    np.savez(tmp_path / "whole.npz", x=x, y=[0, 1, 2, 3], t=3.0)
    assert list(read_eval(tmp_path / "whole.npz").columns) == ["x"]  # a single number belongs to no item
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    np.savez(tmp_path / "objects.npz", x=np.array([{"a": 1}, 2], dtype=object))
    np.savez(tmp_path / "unlike.npz", x=x, y=[0, 1])
    np.save(tmp_path / "bare.npy", x)
    (tmp_path / "lists.jsonl").write_text('{"x": [1, 2], "label": 0}\n{"x": [1], "label": 1}\n')
    for name, words in (
        ("cut.npz", "cannot be read as npz"), ("objects.npz", "holds Python objects, which could run code"),
        ("unlike.npz", "2 labels in `y` and no column of so many items"), ("bare.npy", "a single array"),
        ("lists.jsonl", "lists are of unlike length"),
    ):  # fmt: skip
        with pytest.raises(BadFile, match=words):
            read_eval(tmp_path / name)


def test_truncated_and_empty_models_are_rows_with_their_reason(tmp_path: Path):
    whole = linear(tmp_path / "whole.onnx", np.eye(4))
    (tmp_path / "cut.onnx").write_bytes(whole.read_bytes()[:40])
    (tmp_path / "empty.onnx").write_bytes(b"")
    found, _ = measured(tmp_path, {name: tmp_path / f"{name}.onnx" for name in ("cut", "empty", "whole")})
    assert [bool(option["failure"]) for option in found["options"]] == [True, True, False]
