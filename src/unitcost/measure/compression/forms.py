"""Forms that a model can be brought into, each by the tool that people use for it."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import MissingLibrary, UnitcostError
from unitcost.measure.runtimes.running import Array

#: Operations whose int8 form is fast on processors; the rest stays as it is.
_DYNAMIC_OPS = ("MatMul", "Gemm", "Attention", "LSTM", "EmbedLayerNormalization")
_STATIC_OPS = ("Conv", "MatMul", "Gemm")
#: Items that a static form is calibrated on, at most.
CALIBRATION_ITEMS = 256
PRUNED_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a form is made from.

    Parameters
    ----------
    model
        File of the model.
    calibration
        Inputs that may be looked at: name -> items; empty where none are given.
    labels
        Their classes by place, or None.
    output
        Output with the answer; empty = the first that has one.
    """

    model: Path
    calibration: Mapping[str, Array]
    labels: Array | None = None
    output: str = ""


#: Writes a form of a model into a file; answers what is to be said of it beside what its table says.
Make = Callable[[Given, Path], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form: how it is made, and what it is for."""

    name: str
    make: Make
    what: str


def dynamic_s8(given: Given, to: Path) -> None:
    """Weights in signed 8 bits per channel, activations scaled on each call; only products of matrices."""
    _dynamic(given, to, "QInt8", per_channel=True, ops=_DYNAMIC_OPS)


def dynamic_u8(given: Given, to: Path) -> None:
    """Weights in unsigned 8 bits per tensor, activations scaled on each call; everything that the tool knows."""
    _dynamic(given, to, "QUInt8", per_channel=False, ops=None)


def dynamic_s8_all(given: Given, to: Path) -> None:
    """Weights in signed 8 bits per channel for everything that the tool knows; convolutions get much slower."""
    _dynamic(given, to, "QInt8", per_channel=True, ops=None)


def static_qdq(given: Given, to: Path) -> None:
    """Weights and activations in 8 bits, scales from calibration data.

    Raises
    ------
    UnitcostError
        When there is no calibration data.
    """
    quantization = _quantization()
    if not given.calibration:
        raise UnitcostError(
            "static quantisation needs calibration data", where=str(given.model),
            mend="give --calibration FILE, or an array `Xtr` in the data; items that quality is judged on are not used",
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, _quiet():
        prepared = Path(folder) / "prepared.onnx"
        quantization.quant_pre_process(str(given.model), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(
            str(prepared), str(to), _reader(quantization, given.calibration), per_channel=True,
            op_types_to_quantize=list(_STATIC_OPS), quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
        )  # fmt: skip


def float16(given: Given, to: Path) -> None:
    """Everything in 16-bit floats; inputs and outputs stay as they are."""
    try:
        import onnx
        from onnxruntime.transformers.float16 import convert_float_to_float16
    except ImportError:
        raise MissingLibrary("onnxruntime", "measure", "the form fp16") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells every value that is too small for 16 bits
        onnx.save(convert_float_to_float16(onnx.load(str(given.model)), keep_io_types=True), str(to))


def slim(given: Given, to: Path) -> None:
    """The same numbers with fewer operations: constants folded, operations merged."""
    try:
        import onnxslim
    except ImportError:
        raise MissingLibrary("onnxslim", "measure", "the form slim") from None
    _onnx().save(onnxslim.slim(str(given.model)), str(to))


def pruned(given: Given, to: Path) -> None:
    """Half of each weight matrix, the smallest in size, set to zero; dense runtimes do not skip zeros."""
    onnx = _onnx()
    model = onnx.load(str(given.model))
    changed = 0
    for tensor in model.graph.initializer:
        weights = onnx.numpy_helper.to_array(tensor)
        if weights.ndim < 2 or weights.dtype.kind != "f":
            continue
        limit = np.quantile(np.abs(weights), PRUNED_SHARE)
        kept = np.where(np.abs(weights) < limit, np.zeros_like(weights), weights)
        tensor.CopyFrom(onnx.numpy_helper.from_array(kept, tensor.name))
        changed += 1
    if not changed:
        raise UnitcostError("has no weight matrices to prune", where=str(given.model), mend="leave the form pruned out")
    onnx.save(model, str(to))


def _dynamic(given: Given, to: Path, weight_type: str, *, per_channel: bool, ops: Sequence[str] | None) -> None:
    quantization = _quantization()
    with tempfile.TemporaryDirectory() as folder, _quiet():
        prepared = Path(folder) / "prepared.onnx"
        quantization.quant_pre_process(str(given.model), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_dynamic(
            str(prepared), str(to), weight_type=quantization.QuantType[weight_type], per_channel=per_channel,
            op_types_to_quantize=list(ops) if ops else None,
        )  # fmt: skip


def _reader(quantization: Any, calibration: Mapping[str, Array]) -> Any:
    items = min(CALIBRATION_ITEMS, len(next(iter(calibration.values()))))

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        """Items one by one."""

        def __init__(self) -> None:
            self._rows: Iterator[dict[str, Array]] = (
                {name: column[place : place + 1] for name, column in calibration.items()} for place in range(items)
            )

        def get_next(self) -> dict[str, Array] | None:
            """Inputs of the next call, or None."""
            return next(self._rows, None)

    return Reader()


@contextmanager
def _quiet() -> Iterator[None]:
    """Quiet: the tools log each file and advise on what is done already."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(level)


def _quantization() -> Any:
    try:
        import onnxruntime.quantization as quantization
    except ImportError:
        raise MissingLibrary("onnxruntime", "measure", "quantising models") from None
    return quantization


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise MissingLibrary("onnx", "measure", "changing models") from None
    return onnx
