"""The anchors as programs of torch: the same operations on the same weights as the ONNX files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from unitcost.measure.runtimes.running import Array
from unitcost.measure.runtimes.torch_cpu import EXPORTED


def write_anchor(name: str, shape: tuple[int, ...], weights: Mapping[str, Array], folder: Path) -> Path:
    """File of an anchor, as `torch.export` saves it."""
    path = folder / f"{name}{EXPORTED}"
    module = MODULES[name](weights).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own parts
        torch.export.save(torch.export.export(module, (torch.zeros(shape),)), str(path))
    return path


def _matrices(weights: Mapping[str, Array]) -> Any:
    lines = [torch.nn.Linear(*weights[name].shape, bias=False) for name in ("a", "b")]
    for line, name in zip(lines, ("a", "b"), strict=True):
        line.weight.data = torch.from_numpy(weights[name].T.copy())
    return torch.nn.Sequential(lines[0], torch.nn.ReLU(), lines[1])


def _convolutions(weights: Mapping[str, Array]) -> Any:
    layers = []
    for kernel in (weights["k"], weights["l"]):
        layer = torch.nn.Conv2d(kernel.shape[1], kernel.shape[0], kernel.shape[2:], padding=1, bias=False)
        layer.weight.data = torch.from_numpy(kernel)
        layers.append(layer)
    return torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])


def _pointwise(_: Mapping[str, Array]) -> Any:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    both = graph.call_function(torch.add, (graph.call_function(torch.tanh, (x,)), x))
    graph.output(graph.call_function(torch.exp, (both,)))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


MODULES: dict[str, Callable[[Mapping[str, Array]], Any]] = {
    "anchor-matmul": _matrices, "anchor-conv": _convolutions, "anchor-pointwise": _pointwise
}  # fmt: skip
