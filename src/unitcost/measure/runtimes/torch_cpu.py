"""PyTorch: programs saved by `torch.export`, and TorchScript, which tells less of itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unitcost.measure.runtimes.running import AS_GIVEN, About, Array, Input, Setting, joined

EXPORTED = ".pt2"
_PRECISIONS = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64",
               torch.qint8: "int8", torch.quint8: "int8", torch.int8: "int8", torch.uint8: "int8"}  # fmt: skip
#: How operations on 8 bits are called in the graphs of both forms.
_INT8 = ("quantized::", "quantized_decomposed.", "_weight_int8pack", "_int_mm", "torchao.")


def open_model(path: Path, setting: Setting) -> TorchModel:
    """Model in PyTorch, on the processor."""
    with _quiet():
        return _exported(path, setting) if path.suffix == EXPORTED else _scripted(path, setting)


def _exported(path: Path, setting: Setting) -> TorchModel:
    program = torch.export.load(str(path))
    values = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    inputs = [_input(name, values[name]) for name in program.graph_signature.user_inputs]
    nodes = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    return TorchModel(program.module(), inputs, list(program.state_dict.values()), nodes, setting)


def _scripted(path: Path, setting: Setting) -> TorchModel:
    module = torch.jit.load(str(path), map_location="cpu").eval()
    # The first argument is the module itself; TorchScript keeps the names of the others, not their shapes.
    inputs = [Input(name=argument.name, dtype=AS_GIVEN, shape=()) for argument in module.forward.schema.arguments[1:]]
    nodes = [node.kind() for node in module.inlined_graph.nodes() if not node.kind().startswith("prim::")]
    return TorchModel(module, inputs, [*module.parameters(), *module.buffers()], nodes, setting)


class TorchModel:
    """A program of torch, in the form of a callable."""

    def __init__(
        self, call: Callable[..., Any], inputs: Sequence[Input], weights: Sequence[Any], nodes: Sequence[str],
        setting: Setting,
    ) -> None:  # fmt: skip
        self._call, self._inputs, self._nodes, self._threads = call, inputs, nodes, setting.threads
        self._floats = {weight.dtype for weight in weights if weight.is_floating_point()}
        self._is_int8 = any(mark in node for node in nodes for mark in _INT8)
        self._outputs = ["output"]

    @property
    def inputs(self) -> Sequence[Input]:
        """Its inputs, in order."""
        return self._inputs

    @property
    def output_names(self) -> Sequence[str]:
        """Its outputs, in order; their names are known after a call."""
        return self._outputs

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Outputs of one call."""
        torch.set_num_threads(self._threads)
        with torch.inference_mode():
            found = self._call(*(self._tensor(feeds[given.name], given) for given in self._inputs))
        parts = _named(found)
        self._outputs = list(parts)
        return [_array(part) for part in parts.values()]

    def about(self, feeds: Mapping[str, Array]) -> About:
        """Formats of the weights, in which torch computes; of the inputs where there are no weights."""
        self.run(feeds)
        found = {_PRECISIONS.get(dtype, str(dtype)) for dtype in self._floats}
        found |= {"int8"} if self._is_int8 else set()
        given = {_PRECISIONS.get(torch.from_numpy(feed).dtype, "") for feed in feeds.values()} - {""}
        return About(
            runtime="torch", version=str(torch.__version__), precision=joined(found or given),
            ran_on=(("cpu", len(self._nodes)),),
        )  # fmt: skip

    def _tensor(self, feed: Array, given: Input) -> torch.Tensor:
        """Input as a tensor; where a file keeps no types, numbers with a point take that of the weights."""
        tensor = torch.from_numpy(feed)
        if given.dtype == AS_GIVEN and tensor.is_floating_point() and len(self._floats) == 1:
            return tensor.to(next(iter(self._floats)))
        return tensor


def _input(name: str, value: torch.Tensor) -> Input:
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    dtype = str(torch.zeros(0, dtype=value.dtype).numpy().dtype) if value.dtype != torch.bfloat16 else "float32"
    return Input(name=name, dtype=dtype, shape=shape)


def _named(found: Any) -> dict[str, torch.Tensor]:
    if isinstance(found, Mapping):
        return {str(name): part for name, part in found.items()}
    if isinstance(found, tuple | list):
        return {f"output{place or ''}": part for place, part in enumerate(found)}
    return {"output": found}


def _array(part: torch.Tensor) -> Array:
    wide = part.float() if part.dtype == torch.bfloat16 else part
    return np.asarray(wide.numpy())


@contextmanager
def _quiet() -> Iterator[None]:
    """Quiet: torch warns that TorchScript is to go, which whoever measures a file cannot mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
