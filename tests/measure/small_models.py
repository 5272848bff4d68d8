"""Small models with known answers, made in a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def linear(path: Path, weights: np.ndarray, *, name: str = "linear", batch: str | int = "N") -> Path:
    """Model `logits = x @ weights`."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["logits"])]
    return _saved(path, name, nodes, {"w": weights.astype(np.float32)}, weights.shape[0], weights.shape[1], batch)


def broken(path: Path, features: int = 4) -> Path:
    """Model whose outputs are NaN: 0 / 0."""
    nodes = [helper.make_node("Mul", ["x", "zero"], ["z"]), helper.make_node("Div", ["z", "z"], ["logits"])]
    return _saved(path, "broken", nodes, {"zero": np.zeros(1, np.float32)}, features, features, "N")


def _saved(path: Path, name: str, nodes, weights, features: int, classes: int, batch) -> Path:
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, features])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, classes])],
        [numpy_helper.from_array(array, label) for label, array in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return path


def labelled(path: Path, items: int = 200, features: int = 4, seed: int = 0) -> tuple[Path, np.ndarray]:
    """Data whose label is the place of the largest feature, which the identity answers without an error."""
    x = np.random.default_rng(seed).standard_normal((items, features)).astype(np.float32)
    y = x.argmax(axis=1)
    np.savez(path, x=x, y=y)
    return path, y
