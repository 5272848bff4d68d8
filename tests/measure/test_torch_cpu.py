"""Programs of torch: both forms of file, formats, several inputs, anchors; skipped where torch is not installed."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from unitcost.measure.anchors import SHAPES, write_anchors
from unitcost.measure.answering import answer_all
from unitcost.measure.eval_data import read_eval
from unitcost.measure.one_runtime import Job, measure
from unitcost.measure.runtimes import RUNTIMES
from unitcost.measure.runtimes.running import AS_GIVEN, Setting

from .small_models import labelled

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # TorchScript is deprecated, and files of it are about


class Identity(torch.nn.Module):
    """Logits that are the features, through a product of matrices; the module is not called `self`."""

    def __init__(this, dtype=torch.float32) -> None:
        super().__init__()
        this.line = torch.nn.Linear(4, 4, bias=False, dtype=dtype)
        with torch.no_grad():
            this.line.weight.copy_(torch.eye(4))

    def forward(this, x):
        return this.line(x)


class Two(torch.nn.Module):
    """Sum of chosen rows of a table, as a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(10, 3)

    def forward(self, ids, mask):
        return {"sums": (self.table(ids) * mask.unsqueeze(-1)).sum(1), "count": mask.sum(1)}


def exported(path: Path, module, *examples, free: bool = True) -> Path:
    sizes = tuple({0: torch.export.Dim("n")} for _ in examples) if free else None
    torch.export.save(torch.export.export(module.eval(), examples, dynamic_shapes=sizes), str(path))
    return path


def scripted(path: Path, module) -> Path:
    torch.jit.script(module.eval()).save(str(path))
    return path


def test_answers_are_exact_at_every_batch_in_both_forms(tmp_path: Path):
    data, y = labelled(tmp_path / "data.npz")
    models = {
        "exported": exported(tmp_path / "a.pt2", Identity(), torch.zeros(2, 4)),
        "scripted": scripted(tmp_path / "b.pt", Identity()),
    }
    job = Job(
        runtime="torch", models={k: str(v) for k, v in models.items()}, data=str(data), batches=(1, 7), time_s=0.2, samples=5
    )  # fmt: skip
    found = measure(job, lambda _: None, lambda _: None)
    assert [option["failure"] for option in found["options"]] == [""] * 4
    assert list(found["answers"].values()) == [y.tolist()]
    assert {option["precision"] for option in found["options"]} == {"fp32"}
    assert all(option["version"] == torch.__version__ and option["ran_on"]["cpu"] >= 1 for option in found["options"])
    assert {a["name"]: a["failure"] for a in found["anchors"] if a["timing"]} == dict.fromkeys(SHAPES, "")


def test_inputs_that_a_file_does_not_describe_are_taken_as_they_are(tmp_path: Path):
    ids, mask = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 0], [1, 1], [0, 0]])
    np.savez(tmp_path / "data.npz", ids=ids, mask=mask)
    module = Two()
    truth = module(torch.from_numpy(ids), torch.from_numpy(mask))
    for path in (
        scripted(tmp_path / "two.pt", module),
        exported(tmp_path / "two.pt2", module, torch.zeros(2, 2, dtype=torch.int64), torch.zeros(2, 2, dtype=torch.int64)),
    ):  # fmt: skip
        opened = RUNTIMES["torch"].open(path, Setting(batch=2))
        feeds = read_eval(tmp_path / "data.npz").feeds(opened.inputs)
        assert answer_all(opened, feeds, 2, output="sums") == pytest.approx(truth["sums"].detach().numpy())
        assert answer_all(opened, feeds, 2, output="count").tolist() == [1, 2, 0]
        assert opened.output_names == ["sums", "count"]


def test_half_precision_is_told_and_fed(tmp_path: Path):
    x = np.eye(4, dtype=np.float32)
    opened = RUNTIMES["torch"].open(scripted(tmp_path / "half.pt", Identity(torch.bfloat16)), Setting())
    assert opened.inputs[0].dtype == AS_GIVEN
    assert opened.about({"x": x}).precision == "bf16"
    assert opened.run({"x": x})[0].tolist() == x.tolist()


def test_a_fixed_batch_fails_with_its_reason(tmp_path: Path):
    data, _ = labelled(tmp_path / "data.npz")
    model = exported(tmp_path / "fixed.pt2", Identity(), torch.zeros(2, 4), free=False)
    job = Job(runtime="torch", models={"fixed": str(model)}, data=str(data), batches=(3,), time_s=0.1, samples=5)
    [option] = measure(job, lambda _: None, lambda _: None)["options"]
    assert option["failure"]


def test_the_anchors_compute_the_same_in_torch_and_onnx(tmp_path: Path):
    of_torch = write_anchors(tmp_path, RUNTIMES["torch"].suffixes)
    for one, other in zip(of_torch, write_anchors(tmp_path), strict=True):
        x = np.random.default_rng(3).standard_normal(one.shape).astype(np.float32)
        program = RUNTIMES["torch"].open(one.path, Setting())
        [ours] = program.run({program.inputs[0].name: x})
        [theirs] = RUNTIMES["ort"].open(other.path, Setting()).run({"x": x})
        # both compute in fp32; sums of 384 to 512 products differ in their order only
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4)


def test_opening_a_file_of_torchscript_says_nothing(tmp_path: Path):
    path = scripted(tmp_path / "m.pt", Identity())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        RUNTIMES["torch"].open(path, Setting())
    assert heard == []
