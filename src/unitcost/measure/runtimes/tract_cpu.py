"""tract, a runtime in Rust: one thread, and the number formats of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import tract

from unitcost.errors import UnitcostError
from unitcost.measure.runtimes.running import About, Array, Input, Setting, joined

_DTYPES: dict[int, str] = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.INT64: "int64", onnx.TensorProto.INT32: "int32",
           onnx.TensorProto.FLOAT16: "float16", onnx.TensorProto.STRING: "str"}  # fmt: skip
_WIDTHS = {"float32": "fp32", "float16": "fp16"}
_FACTS = {"float32": "f32", "int64": "i64", "int32": "i32", "float16": "f16"}
_PRECISIONS: dict[int, str] = {onnx.TensorProto.FLOAT: "fp32", onnx.TensorProto.FLOAT16: "fp16", onnx.TensorProto.INT8: "int8",
               onnx.TensorProto.UINT8: "int8"}  # fmt: skip


def open_model(path: Path, setting: Setting) -> TractModel:
    """Model in tract, for batches of one size.

    Raises
    ------
    UnitcostError
        When more than one thread is asked for, or an input is no number.
    """
    if setting.threads != 1:
        raise UnitcostError("tract runs a model in one thread", where=str(path), mend="measure it with --threads 1")
    return TractModel(path, setting)


class TractModel:
    """A runnable of tract."""

    def __init__(self, path: Path, setting: Setting) -> None:
        described = onnx.load(str(path), load_external_data=False)
        weights = {tensor.name for tensor in described.graph.initializer}
        self._inputs = [_input(given) for given in described.graph.input if given.name not in weights]
        self._outputs = [output.name for output in described.graph.output]
        weighed = {_PRECISIONS[t.data_type] for t in described.graph.initializer if t.data_type in _PRECISIONS}
        self._precision = joined(weighed or {_WIDTHS.get(given.dtype, given.dtype) for given in self._inputs})
        model = tract.onnx().load(str(path))
        for place, given in enumerate(self._inputs):
            if given.dtype not in _FACTS:
                raise UnitcostError(
                    f"tract takes no {given.dtype} as input", where=str(path), mend="use another runtime"
                )
            sizes = [str(size or setting.batch) for size in given.shape]
            model.set_input_fact(place, ",".join([*sizes, _FACTS[given.dtype]]))
        self._runnable = model.into_model().into_runnable()

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
        return [output.to_numpy() for output in self._runnable.run([feeds[given.name] for given in self._inputs])]

    def about(self, feeds: Mapping[str, Array]) -> About:
        """Formats of the weights: tract keeps them."""
        self.run(feeds)
        return About(runtime="tract", version=str(tract.version()), precision=self._precision, ran_on=(("CPU", 1),))


def _input(given: onnx.ValueInfoProto) -> Input:
    tensor = given.type.tensor_type
    shape = tuple(size.dim_value if size.dim_value > 0 else None for size in tensor.shape.dim)
    return Input(name=given.name, dtype=_DTYPES.get(tensor.elem_type, "other"), shape=shape)
