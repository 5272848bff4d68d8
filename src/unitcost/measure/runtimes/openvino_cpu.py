"""OpenVINO on the processor. It computes in bf16 where the processor can, unless it is told otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openvino

from unitcost.measure.runtimes.running import About, Array, Input, Setting, joined

_HEAVY = frozenset(
    {"Convolution", "FullyConnected", "MatMul", "Deconvolution", "LSTMSequence", "GRUSequence", "RNNCell"}
)
_NAMES = {"FP32": "fp32", "f32": "fp32", "BF16": "bf16", "bf16": "bf16", "FP16": "fp16", "f16": "fp16", "I8": "int8",
          "U8": "int8", "i8": "int8", "u8": "int8", "FP64": "fp64"}  # fmt: skip


def open_model(path: Path, setting: Setting) -> OpenVinoModel:
    """Model in OpenVINO."""
    return OpenVinoModel(path, setting)


class OpenVinoModel:
    """A compiled model of OpenVINO."""

    def __init__(self, path: Path, setting: Setting) -> None:
        core = openvino.Core()
        model = core.read_model(str(path))
        self._inputs = [_input(port) for port in model.inputs]
        self._outputs = [port.get_any_name() for port in model.outputs]
        hints = {"INFERENCE_NUM_THREADS": setting.threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
        self._compiled = core.compile_model(model, "CPU", hints)
        self._request = self._compiled.create_infer_request()

    @property
    def inputs(self) -> Sequence[Input]:
        """Its inputs, in order."""
        return self._inputs

    @property
    def output_names(self) -> Sequence[str]:
        """Its outputs, in order."""
        return self._outputs

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Outputs of one call."""
        found = self._request.infer(dict(feeds), share_inputs=True)
        return [found[place].copy() for place in range(len(self._outputs))]

    def about(self, feeds: Mapping[str, Array]) -> About:
        """What the compiled graph says of its nodes."""
        self.run(feeds)
        nodes = [(_told(op, "layerType"), _told(op, "runtimePrecision")) for op in self._graph_ops()]
        heavy = {_NAMES.get(precision, precision) for kind, precision in nodes if kind in _HEAVY}
        rest = {_NAMES.get(precision, "") for kind, precision in nodes} - {""}
        devices = Counter("CPU" for kind, _ in nodes if kind not in ("Input", "Output", "Const"))
        return About(
            runtime="openvino", version=openvino.__version__.partition("-")[0], precision=joined(heavy or rest),
            ran_on=tuple(sorted(devices.items())),
        )  # fmt: skip

    def _graph_ops(self) -> list[Any]:
        return list(self._compiled.get_runtime_model().get_ops())


def _told(op: Any, name: str) -> str:
    told = op.get_rt_info()
    return str(told[name].astype(str)) if name in told else ""


def _input(port: Any) -> Input:
    shape = tuple(int(size.get_length()) if size.is_static else None for size in port.get_partial_shape())
    dtype = "str" if port.get_element_type().get_type_name() == "string" else port.get_element_type().to_dtype().name
    return Input(name=port.get_any_name(), dtype=dtype, shape=shape)
