"""Shape of a decoder as a server meets it: weights, and the KV cache that each token needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unitcost.errors import BadFile, BadSetting, UnknownName

#: Bytes of a weight. Four-bit formats carry a scale for each block of 16 or 32.
BYTES_PER_WEIGHT: dict[str, float] = {
    "bf16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "nvfp4": 0.5625,
    "mxfp4": 0.53125,
    "int4": 0.53125,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderShape:
    """A decoder-only transformer, dense or with experts.

    Parameters
    ----------
    experts, experts_per_token, expert_intermediate
        Zero in a dense model; else all experts of a layer, those that a token visits, and the width of one.
    latent
        Values that each layer keeps of a token where keys and values are compressed (MLA); 0 otherwise.
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    intermediate: int
    vocabulary: int
    experts: int = 0
    experts_per_token: int = 0
    expert_intermediate: int = 0
    latent: int = 0

    def __post_init__(self) -> None:
        sizes = (self.layers, self.hidden, self.heads, self.kv_heads, self.head_size, self.vocabulary)
        if min(sizes) < 1 or max(self.intermediate, self.expert_intermediate) < 1:
            raise BadSetting(f"{self.name or 'a model'} has a size below one", mend="give sizes from 1")

    @property
    def attention_params(self) -> int:
        """Weights of attention in one layer."""
        return self.hidden * self.head_size * (2 * self.heads + 2 * self.kv_heads)

    @property
    def params(self) -> int:
        """All weights, with separate input and output embeddings."""
        width = self.expert_intermediate * self.experts if self.experts else self.intermediate
        return self.layers * (self.attention_params + 3 * self.hidden * width) + 2 * self.vocabulary * self.hidden

    @property
    def params_per_token(self) -> int:
        """Weights that one token is multiplied with."""
        width = self.expert_intermediate * self.experts_per_token if self.experts else self.intermediate
        return self.layers * (self.attention_params + 3 * self.hidden * width) + self.vocabulary * self.hidden

    def weights_bytes(self, precision: str) -> float:
        """Memory of the weights; embeddings stay in bf16. [bytes].

        Raises
        ------
        UnknownName
            When the precision is not known.
        """
        if precision not in BYTES_PER_WEIGHT:
            raise UnknownName("precision", precision, BYTES_PER_WEIGHT)
        embeddings = 2 * self.vocabulary * self.hidden
        return (self.params - embeddings) * BYTES_PER_WEIGHT[precision] + embeddings * BYTES_PER_WEIGHT["bf16"]

    def kv_bytes_per_token(self, bytes_per_value: float = 2.0) -> float:
        """Memory that one token holds in the KV cache. [bytes].

        Notes
        -----
        ``2 * layers * kv_heads * head_size * bytes_per_value`` (a key and a value), [1]_ section 3; with compressed keys
        and values ``layers * latent * bytes_per_value``.

        References
        ----------
        .. [1] W. Kwon et al., "Efficient Memory Management for LLM Serving with PagedAttention", SOSP 2023.
        """
        values = self.latent or 2 * self.kv_heads * self.head_size
        return self.layers * values * bytes_per_value


#: Published configurations.
DECODERS: tuple[DecoderShape, ...] = (
    DecoderShape(
        name="meta-llama/Meta-Llama-3.1-8B",
        layers=32,
        hidden=4096,
        heads=32,
        kv_heads=8,
        head_size=128,
        intermediate=14336,
        vocabulary=128256,
    ),
    DecoderShape(
        name="meta-llama/Meta-Llama-3.1-70B",
        layers=80,
        hidden=8192,
        heads=64,
        kv_heads=8,
        head_size=128,
        intermediate=28672,
        vocabulary=128256,
    ),
    DecoderShape(
        name="meta-llama/Meta-Llama-3.1-405B",
        layers=126,
        hidden=16384,
        heads=128,
        kv_heads=8,
        head_size=128,
        intermediate=53248,
        vocabulary=128256,
    ),
    DecoderShape(
        name="Qwen/Qwen3-0.6B",
        layers=28,
        hidden=1024,
        heads=16,
        kv_heads=8,
        head_size=128,
        intermediate=3072,
        vocabulary=151936,
    ),
    DecoderShape(
        name="Qwen/Qwen3-1.7B",
        layers=28,
        hidden=2048,
        heads=16,
        kv_heads=8,
        head_size=128,
        intermediate=6144,
        vocabulary=151936,
    ),
    DecoderShape(
        name="Qwen/Qwen3-8B",
        layers=36,
        hidden=4096,
        heads=32,
        kv_heads=8,
        head_size=128,
        intermediate=12288,
        vocabulary=151936,
    ),
    DecoderShape(
        name="Qwen/Qwen3-32B",
        layers=64,
        hidden=5120,
        heads=64,
        kv_heads=8,
        head_size=128,
        intermediate=25600,
        vocabulary=151936,
    ),
    DecoderShape(
        name="Qwen/Qwen3-30B-A3B",
        layers=48,
        hidden=2048,
        heads=32,
        kv_heads=4,
        head_size=128,
        intermediate=6144,
        vocabulary=151936,
        experts=128,
        experts_per_token=8,
        expert_intermediate=768,
    ),
    DecoderShape(
        name="mistralai/Mixtral-8x7B-v0.1",
        layers=32,
        hidden=4096,
        heads=32,
        kv_heads=8,
        head_size=128,
        intermediate=14336,
        vocabulary=32000,
        experts=8,
        experts_per_token=2,
        expert_intermediate=14336,
    ),
)


def decoder_of_config(config: Mapping[str, Any], *, name: str, where: str = "") -> DecoderShape:
    """Shape that a model's `config.json` states.

    Raises
    ------
    BadFile
        When a size is missing, not a whole number, or below one where nothing can be made of it.
    """
    held = config.get("text_config") or config

    def size(*names: str, default: int | None = None) -> int:
        for key in names:
            if isinstance(held.get(key), int):
                if held[key] < (1 if default is None else 0):
                    raise BadFile(f"`{key}` is {held[key]}", where=where, mend="give the model's config.json")
                return int(held[key])
        if default is None:
            raise BadFile(
                f"`{names[0]}` is missing or not a whole number", where=where, mend="give the model's config.json"
            )
        return default

    heads = size("num_attention_heads")
    hidden = size("hidden_size")
    experts = size("num_local_experts", "num_experts", "n_routed_experts", default=0)
    latent = size("kv_lora_rank", default=0)
    return DecoderShape(
        name=name, layers=size("num_hidden_layers"), hidden=hidden, heads=heads,
        kv_heads=size("num_key_value_heads", default=heads), head_size=size("head_dim", default=hidden // heads),
        intermediate=size("intermediate_size", default=hidden), vocabulary=size("vocab_size"), experts=experts,
        experts_per_token=size("num_experts_per_tok", "num_experts_per_token", default=0),
        expert_intermediate=size("moe_intermediate_size", "intermediate_size", default=0) if experts else 0,
        latent=latent + size("qk_rope_head_dim", default=0) if latent else 0,
    )  # fmt: skip
