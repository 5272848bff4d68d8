"""Fewer layers: the last of a stack of equal layers are left out."""

from __future__ import annotations

import re
from typing import Any

from unitcost.errors import UnitcostError
from unitcost.measure.compression.forms import Given
from unitcost.measure.compression.heads import refit

#: Where exporters write the number of a layer into the name of a node.
_LAYER = re.compile(r"(?:^|[/.])(?:layers?|blocks?|h)[./_](\d+)(?=[/.]|$)")


def fewer_layers(given: Given, to: Any, *, kept_share: float = 0.5) -> str:
    """Half of the layers: what read the last one reads the last one that is kept; answers how the head was fitted again.

    Raises
    ------
    UnitcostError
        When nodes do not name their layers, or a layer passes on more than one tensor.
    """
    import onnx

    model = onnx.load(str(given.model))
    layers: dict[int, list[Any]] = {}
    for node in model.graph.node:
        found = _LAYER.search(node.name)
        if found:
            layers.setdefault(int(found[1]), []).append(node)
    if len(layers) < 2 or sorted(layers) != list(range(len(layers))):
        raise UnitcostError(
            "no stack of layers is named in the model", where=str(given.model), mend="leave the form fewer-layers out"
        )
    kept = max(1, round(len(layers) * kept_share))
    dropped = {id(node) for number in range(kept, len(layers)) for node in layers[number]}
    last, new_last = (_passed_on(model.graph, layers[number], given) for number in (len(layers) - 1, kept - 1))
    rest = [node for node in model.graph.node if id(node) not in dropped]
    for node in rest:
        for place, name in enumerate(node.input):
            if name == last:
                node.input[place] = new_last
    del model.graph.node[:]
    model.graph.node.extend(rest)
    used = {name for node in rest for name in node.input}
    weights = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(weights)
    how = refit(model, given)
    onnx.checker.check_model(model)
    onnx.save(model, str(to))
    return f"{kept} of {len(layers)} layers; {how}"


def _passed_on(graph: Any, layer: list[Any], given: Given) -> str:
    """The one tensor that nodes outside of a layer read."""
    inside = {id(node) for node in layer}
    made = {name for node in layer for name in node.output}
    read = {name for node in graph.node if id(node) not in inside for name in node.input if name in made}
    if len(read) != 1:
        raise UnitcostError(
            f"a layer passes on {len(read)} tensors", where=str(given.model), mend="leave the form fewer-layers out"
        )
    return str(read.pop())
