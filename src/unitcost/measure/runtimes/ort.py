"""ONNX Runtime."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnxruntime

from unitcost.measure.runtimes.running import About, Array, Input, Setting, joined

#: Operations whose numbers are 8 bits wide whatever goes in and out.
_INT8 = ("QLinear", "Integer", "DynamicQuantizeMatMul", "QGemm", "QAttention", "ConvInteger", "QMoE")
#: Operations in which the time of a network goes.
_HEAVY = frozenset({"Conv", "FusedConv", "ConvTranspose", "MatMul", "FusedMatMul", "Gemm", "FusedGemm", "Attention",
                    "MultiHeadAttention", "LSTM", "GRU", "MatMulNBits", "NhwcFusedConv"})  # fmt: skip
_DTYPES = {"float": "fp32", "float16": "fp16", "bfloat16": "bf16", "double": "fp64", "int8": "int8", "uint8": "int8"}
_NUMPY = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(int64)": "int64",
    "tensor(int32)": "int32", "tensor(string)": "str", "tensor(bool)": "bool", "tensor(uint8)": "uint8",
    "tensor(int8)": "int8",
}  # fmt: skip


def open_model(path: Path, setting: Setting) -> OrtModel:
    """Model in ONNX Runtime."""
    return OrtModel(path, setting)


class OrtModel:
    """A session of ONNX Runtime."""

    def __init__(self, path: Path, setting: Setting) -> None:
        self._path, self._setting = path, setting
        self._session = onnxruntime.InferenceSession(str(path), self._options(), providers=_providers())

    @property
    def inputs(self) -> Sequence[Input]:
        """Its inputs, in order."""
        return [
            Input(
                name=given.name, dtype=_NUMPY.get(given.type, given.type),
                shape=tuple(size if isinstance(size, int) and size > 0 else None for size in given.shape),
            )
            for given in self._session.get_inputs()
        ]  # fmt: skip

    @property
    def output_names(self) -> Sequence[str]:
        """Its outputs, in order."""
        return [output.name for output in self._session.get_outputs()]

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Outputs of one call."""
        return list(self._session.run(None, dict(feeds)))

    def about(self, feeds: Mapping[str, Array]) -> About:
        """What a profiled call says of each node; in a session of its own, as profiling slows down."""
        with tempfile.TemporaryDirectory() as folder:
            options = self._options()
            options.enable_profiling = True
            options.profile_file_prefix = str(Path(folder) / "profile")
            session = onnxruntime.InferenceSession(str(self._path), options, providers=_providers())
            session.run(None, dict(feeds))
            events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        nodes = [
            event["args"] for event in events if event.get("cat") == "Node" and "provider" in event.get("args", {})
        ]
        return About(
            runtime="ort", version=onnxruntime.__version__, precision=_precision(nodes),
            ran_on=tuple(sorted(Counter(str(node["provider"]) for node in nodes).items())),
        )  # fmt: skip

    def _options(self) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._setting.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "1" if self._setting.spin else "0")
        return options


def _providers() -> list[str]:
    """Providers that run on this machine; the one that sends data to a service is left out."""
    return [name for name in onnxruntime.get_available_providers() if name != "AzureExecutionProvider"]


def _precision(nodes: Sequence[Mapping[str, Any]]) -> str:
    heavy = {found for node in nodes if (found := _of_node(node))}
    return joined(heavy or {_first_type(node) for node in nodes} - {""})


def _of_node(node: Mapping[str, Any]) -> str:
    name = str(node.get("op_name", ""))
    if any(mark in name for mark in _INT8):
        return "int8"
    return _first_type(node) if name in _HEAVY else ""


def _first_type(node: Mapping[str, Any]) -> str:
    shapes = node.get("input_type_shape") or [{}]
    names = list(shapes[0]) if shapes else []
    return _DTYPES.get(names[0], "") if names else ""
