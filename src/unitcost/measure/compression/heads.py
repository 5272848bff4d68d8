"""The last linear layer of a model, fitted again: what came before it has changed, so its old weights no longer fit."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import MissingLibrary, UnitcostError
from unitcost.measure.answering import answer_all
from unitcost.measure.compression.forms import Given
from unitcost.measure.runtimes import runtime
from unitcost.measure.runtimes.running import Array, Setting

#: Operations between the last linear layer and an answer.
_AFTER = ("Add", "Softmax", "LogSoftmax", "Sigmoid", "Identity", "Cast", "ArgMax")
_PRODUCTS = ("Gemm", "MatMul")
_BATCH = 32
#: Strengths of the penalty that ridge regression chooses among, without looking at other data.
_PENALTIES = np.logspace(-3, 4, 8)
NOT_REFITTED = "head not refitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Last linear layer of a graph.

    Parameters
    ----------
    product
        Its node: `Gemm`, or `MatMul` with or without `shift`, the `Add` behind it.
    features, logits
        Tensors that it reads and makes.
    """

    product: Any
    shift: Any | None
    features: str
    logits: str


def refit(model: Any, given: Given) -> str:
    """Fit the head of a changed model to what the original says, and to labels where there are some; answers which was done.

    Parameters
    ----------
    model
        The changed model, whose head still has the original's weights; it gets new ones.

    Notes
    -----
    Ridge regression on the original's logits, its penalty chosen by leave-one-out error. Labels raise the logit of their
    class. Logistic regression on labels alone took 30 times as long and was no better (MiniLM-L6 cut to three layers).
    """
    if not given.calibration:
        return f"{NOT_REFITTED}: there are no inputs to fit it on, give --calibration FILE"
    head = find_head(model, given.output)
    if head is None:
        return f"{NOT_REFITTED}: the last layer is not linear"
    try:
        features = _tensor(model, head.features, given)
        logits = _tensor(_onnx().load(str(given.model)), head.logits, given)
        weights, offset, how = _fitted(features, logits, given.labels)
    except UnitcostError as error:
        return f"{NOT_REFITTED}: {error.what}"
    _put(model, head, weights, offset)
    return f"head refitted on {len(features):,} items, {how}"


def find_head(model: Any, output: str = "") -> Head | None:
    """Linear layer that an output comes from; None when there is none."""
    makers = {name: node for node in model.graph.node for name in node.output}
    weights = {tensor.name for tensor in model.graph.initializer}
    for name in [output] if output else [each.name for each in model.graph.output]:
        shift, node = None, makers.get(name)
        while node is not None and node.op_type in _AFTER:
            shift = node if node.op_type == "Add" else shift
            node = makers.get(next((n for n in node.input if n not in weights), ""))
        if node is not None and node.op_type in _PRODUCTS and node.input[1] in weights:
            shift = shift if node.op_type == "MatMul" and shift and node.output[0] in shift.input else None
            last = node if shift is None else shift
            return Head(product=node, shift=shift, features=node.input[0], logits=last.output[0])
    return None


def _tensor(model: Any, name: str, given: Given) -> Array:
    """What a model has at a tensor inside, for all items that may be looked at."""
    onnx = _onnx()
    seen = onnx.ModelProto()
    seen.CopyFrom(model)
    if name not in {each.name for each in seen.graph.output}:
        seen.graph.output.extend([onnx.ValueInfoProto(name=name)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.onnx"
        onnx.save(seen, str(path))
        opened = runtime("ort").open(path, Setting(threads=1, batch=_BATCH))
        batch = next((each.shape[0] for each in opened.inputs if each.shape and each.shape[0]), _BATCH)
        found = answer_all(opened, given.calibration, int(batch), output=name)
    if found.ndim != 2:
        raise UnitcostError("it reads or says more than one line per item")
    return found.astype(np.float64)


def _fitted(features: Array, logits: Array, labels: Array | None) -> tuple[Array, Array, str]:
    """Weights [features x classes], offsets, and what they were fitted to."""
    try:
        from sklearn.linear_model import RidgeCV
    except ImportError:
        raise MissingLibrary("scikit-learn", "measure", "fitting a head") from None
    middle, spread = features.mean(axis=0), features.std(axis=0)
    wide = np.where(spread > 0, spread, 1.0)
    wanted, how = _wanted(logits, labels)
    fit = RidgeCV(alphas=_PENALTIES).fit((features - middle) / wide, wanted)
    weights = np.atleast_2d(fit.coef_).T / wide[:, None]
    return weights, np.atleast_1d(fit.intercept_) - middle @ weights, how


def _wanted(logits: Array, labels: Array | None) -> tuple[Array, str]:
    """Logits that a head is fitted to: the original's; a label's class gets as much more as the original gives to its own."""
    classes = logits.shape[1]
    if labels is None or classes < 2 or labels.min() < 0 or labels.max() >= classes:
        return logits, "to what the original says of them"
    more = float((logits.max(axis=1) - logits.mean(axis=1)).mean())
    return logits + more * np.eye(classes)[labels], "to their labels and what the original says of them"


def _put(model: Any, head: Head, weights: Array, offset: Array) -> None:
    """Write new weights and offsets into a head; others that read the old ones keep them."""
    helper = _onnx().helper
    made = {"refitted.weight": weights.astype(np.float32), "refitted.offset": offset.astype(np.float32)}
    model.graph.initializer.extend([_onnx().numpy_helper.from_array(array, name) for name, array in made.items()])
    place = next(n for n, node in enumerate(model.graph.node) if node.output[0] == head.product.output[0])
    new = helper.make_node("Gemm", [head.features, *made], [head.logits], name="refitted")
    after = [node for node in model.graph.node[place + 1 :] if head.shift is None or node.output[0] != head.logits]
    before = list(model.graph.node[:place])
    del model.graph.node[:]
    model.graph.node.extend([*before, new, *after])
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise MissingLibrary("onnx", "measure", "changing models") from None
    return onnx
