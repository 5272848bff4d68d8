"""Three tiny models that every session runs, so that sessions can be compared: their speed says how fast the machine was.

They stress what networks spend their time on: a product of matrices (arithmetic), a convolution (arithmetic and moving
data), an elementwise function (vector units and memory). Their weights come from a seed; the files are always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import MissingLibrary

_OPSET = 13
_IR = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An anchor model: its file and the shape of its one input `x`."""

    name: str
    path: Path
    shape: tuple[int, ...]


def write_anchors(folder: Path) -> list[Anchor]:
    """Anchor models, written into a folder.

    Raises
    ------
    MissingLibrary
        When `onnx` is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise MissingLibrary("onnx", "measure", "measuring models") from None
    found = []
    for name, (shape, nodes, weights) in _parts(onnx).items():
        graph = onnx.helper.make_graph(
            nodes, name, [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
            [onnx.numpy_helper.from_array(array, label) for label, array in weights.items()],
        )  # fmt: skip
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="unitcost"
        )
        path = folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        found.append(Anchor(name=name, path=path, shape=tuple(shape)))
    return found


def _parts(onnx: Any) -> dict[str, tuple[Sequence[int], list[Any], dict[str, Any]]]:
    """Name -> shape of the input, nodes, weights."""
    node = onnx.helper.make_node
    rng = np.random.default_rng(7)

    def weight(*shape: int) -> Any:
        return (rng.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)

    matrices = [node("MatMul", ["x", "a"], ["h"]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "b"], ["y"])]
    convolutions = [
        node("Conv", ["x", "k"], ["h"], pads=[1, 1, 1, 1]), node("Relu", ["h"], ["r"]),
        node("Conv", ["r", "l"], ["y"], pads=[1, 1, 1, 1]),
    ]  # fmt: skip
    pointwise = [node("Tanh", ["x"], ["h"]), node("Add", ["h", "x"], ["s"]), node("Exp", ["s"], ["y"])]
    return {
        "anchor-matmul": ((16, 384), matrices, {"a": weight(384, 512), "b": weight(512, 384)}),
        "anchor-conv": ((1, 16, 32, 32), convolutions, {"k": weight(32, 16, 3, 3), "l": weight(16, 32, 3, 3)}),
        "anchor-pointwise": ((1, 65_536), pointwise, {}),
    }
