"""The shape of a transformer: what counts its operations and its memory."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from unitcost.errors import BadSetting, UnknownName
from unitcost.units import GIGA, KILO, MEGA, TERA

#: Width over depth of usual decoders; 13B has 128, smaller ones less.
_WIDTH_OVER_DEPTH = 128
#: Parameters of a layer over its width squared: attention 4, feed-forward 8.
_PARAMS_PER_WIDTH2 = 12
_HEAD = 128
_VOCABULARY = 50_368
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmbt])", re.I)
_UNITS = {"k": KILO, "m": MEGA, "b": GIGA, "t": TERA}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A decoder-only transformer.

    Parameters
    ----------
    params
        All parameters.
    layers, hidden, heads, vocabulary
        Depth, width, attention heads, tokens known.
    inferred
        Whether depth and width were guessed from the number of parameters.
    """

    name: str
    params: float
    layers: int
    hidden: int
    heads: int
    vocabulary: int = _VOCABULARY
    inferred: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.params) and self.params > 0 and min(self.layers, self.hidden, self.heads) > 0):
            raise BadSetting(f"a model of {self.params:g} parameters cannot be", mend="give sizes above zero")


def _mpt(name: str, params: float, layers: int, hidden: int, heads: int) -> ModelShape:
    return ModelShape(name=name, params=params, layers=layers, hidden=hidden, heads=heads)


#: Shapes by their published configurations: MPT sizes (llm-foundry), then Llama 3.
SHAPES: tuple[ModelShape, ...] = (
    _mpt("125m", 0.125e9, 12, 768, 12),
    _mpt("350m", 0.356e9, 24, 1024, 16),
    _mpt("760m", 0.76e9, 24, 1536, 12),
    _mpt("1b", 1.316e9, 24, 2048, 16),
    _mpt("3b", 2.652e9, 32, 2560, 20),
    _mpt("7b", 6.659e9, 32, 4096, 32),
    _mpt("13b", 12.854e9, 40, 5120, 40),
    _mpt("30b", 29.975e9, 48, 7168, 56),
    _mpt("70b", 64.862e9, 80, 8192, 64),
    ModelShape(name="llama-3-8b", params=8.03e9, layers=32, hidden=4096, heads=32, vocabulary=128_256),
    ModelShape(name="llama-3-70b", params=70.6e9, layers=80, hidden=8192, heads=64, vocabulary=128_256),
    ModelShape(name="llama-3.1-405b", params=405e9, layers=126, hidden=16_384, heads=128, vocabulary=128_256),
)
_BY_NAME = {shape.name: shape for shape in SHAPES}


def model_shape(text: str) -> ModelShape:
    """Shape of a known model, or of a usual decoder with so many parameters: `7b`, `1.3B`, `350m`, `llama-3-8b`.

    Raises
    ------
    UnknownName
        When it is neither; the message names the near ones.
    """
    folded = text.strip().casefold().replace("_", "-")
    if folded in _BY_NAME:
        return _BY_NAME[folded]
    size = _SIZE.fullmatch(folded)
    if size is None:
        raise UnknownName(
            "model", text, _BY_NAME, mend="give a size such as 7b, or params, layers and hidden in a file"
        )
    return inferred_shape(float(size["number"]) * _UNITS[size["unit"].casefold()], name=folded)


def inferred_shape(params: float, *, name: str = "") -> ModelShape:
    """Shape of a usual decoder with so many parameters.

    Notes
    -----
    ``params = 12 * layers * hidden^2`` with ``hidden = 128 * layers``, rounded to whole layers and heads; the attention
    term of its operations is then known to about a tenth.
    """
    if not (math.isfinite(params) and params > 0):
        raise BadSetting(f"a model of {params:g} parameters cannot be", mend="give a size above zero")
    layers = max(1, round((params / _PARAMS_PER_WIDTH2 / _WIDTH_OVER_DEPTH**2) ** (1 / 3)))
    hidden = max(_HEAD, round(math.sqrt(params / _PARAMS_PER_WIDTH2 / layers) / _HEAD) * _HEAD)
    return ModelShape(
        name=name or f"{params:g}", params=params, layers=layers, hidden=hidden, heads=hidden // _HEAD, inferred=True
    )
