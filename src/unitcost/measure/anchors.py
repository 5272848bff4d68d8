"""Three tiny models that every session runs, so that sessions can be compared: their speed says how fast the machine was.

They stress what networks spend their time on: a product of matrices (arithmetic), a convolution (arithmetic and moving
data), an elementwise function (vector units and memory). Their weights come from a seed; the ONNX files are always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import MissingLibrary
from unitcost.measure.runtimes.running import Array

#: Number of this set of models; sessions with another set cannot be set side by side.
SUITE = 1
_OPSET = 13
_IR = 8
#: Name -> shape of the one input.
SHAPES: dict[str, tuple[int, ...]] = {
    "anchor-matmul": (16, 384), "anchor-conv": (1, 16, 32, 32), "anchor-pointwise": (1, 65_536)
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An anchor model: its file and the shape of its one input."""

    name: str
    path: Path
    shape: tuple[int, ...]


def write_anchors(folder: Path, suffixes: tuple[str, ...] = (".onnx",)) -> list[Anchor]:
    """Anchor models, written into a folder, in a form that a runtime can open.

    Parameters
    ----------
    suffixes
        Files that the runtime opens; those without ONNX get programs of torch.

    Raises
    ------
    MissingLibrary
        When `onnx` is not installed.
    """
    return [
        Anchor(name=name, shape=SHAPES[name], path=_written(name, SHAPES[name], weights, folder, suffixes))
        for name, weights in _weights().items()
    ]


def _written(
    name: str, shape: tuple[int, ...], weights: dict[str, Array], folder: Path, suffixes: tuple[str, ...]
) -> Path:
    if ".onnx" in suffixes:
        return _as_onnx(name, shape, weights, folder)
    from unitcost.measure.runtimes.torch_anchors import write_anchor

    return write_anchor(name, shape, weights, folder)


def _as_onnx(name: str, shape: tuple[int, ...], weights: dict[str, Array], folder: Path) -> Path:
    try:
        import onnx
    except ImportError:
        raise MissingLibrary("onnx", "measure", "measuring models") from None
    graph = onnx.helper.make_graph(
        _nodes(onnx)[name], name, [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(array, label) for label, array in weights.items()],
    )  # fmt: skip
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="unitcost"
    )
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def _weights() -> dict[str, dict[str, Array]]:
    rng = np.random.default_rng(7)

    def weight(*shape: int) -> Array:
        drawn: Array = rng.standard_normal(shape) / shape[-1] ** 0.5
        return drawn.astype(np.float32)

    return {
        "anchor-matmul": {"a": weight(384, 512), "b": weight(512, 384)},
        "anchor-conv": {"k": weight(32, 16, 3, 3), "l": weight(16, 32, 3, 3)},
        "anchor-pointwise": {},
    }


def _nodes(onnx: Any) -> dict[str, list[Any]]:
    node = onnx.helper.make_node
    return {
        "anchor-matmul": [
            node("MatMul", ["x", "a"], ["h"]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "b"], ["y"])
        ],
        "anchor-conv": [
            node("Conv", ["x", "k"], ["h"], pads=[1, 1, 1, 1]), node("Relu", ["h"], ["r"]),
            node("Conv", ["r", "l"], ["y"], pads=[1, 1, 1, 1]),
        ],
        "anchor-pointwise": [node("Tanh", ["x"], ["h"]), node("Add", ["h", "x"], ["s"]), node("Exp", ["s"], ["y"])],
    }  # fmt: skip
