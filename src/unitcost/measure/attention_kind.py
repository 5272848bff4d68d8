"""What kind of attention a model has, where that decides whether engines share beginnings of prompts."""

from __future__ import annotations

import re
from typing import Any

from unitcost.measure.model_config import read_config

#: Members of a config.json that only models with a recurrent state have, and names of such models.
_STATE = re.compile(r"^(mamba|ssm|linear_(num|key|value|conv)|rwkv|conv_kernel|hybrid_override_pattern)")
_NAMED = re.compile(
    r"mamba|jamba|bamba|zamba|rwkv|nemotron-?_?h\b|nemotron.*nano.*v2|falcon-?_?h1|granite-?moe-?hybrid|granite-4.*-h-|"
    r"qwen3-?_?next|qwen3\.5|kimi-linear|minimax-(text|m1)|recurrentgemma|griffin|xlstm|lfm2|plamo2", re.I
)  # fmt: skip
_FULL = frozenset({"full_attention", "sliding_attention", "chunked_attention", "attention"})


def attention_kind(model: str) -> str:
    """`attention`, or `hybrid` with what gives it away: a recurrent state or linear attention in some layers.

    Parameters
    ----------
    model
        Name, or the folder of its config.json.

    Raises
    ------
    BadFile
        When the config.json is no JSON object.
    """
    config = read_config(model)
    if config is not None:
        return _of_config(config)
    return f"a hybrid model ({model})" if _NAMED.search(model) else "attention"


def _of_config(config: dict[str, Any]) -> str:
    held = config.get("text_config") or config
    kinds = {str(kind) for kind in held.get("layer_types") or held.get("layers_block_type") or ()} - _FULL
    if kinds:
        return f"a hybrid model ({', '.join(sorted(kinds))} in some layers)"
    named = [name for name in held if _STATE.match(name) and held[name]]
    if named:
        return f"a hybrid model (its config.json has {named[0]})"
    kind = f"{config.get('model_type', '')} {' '.join(config.get('architectures') or ())}"
    return f"a hybrid model ({kind.strip()})" if _NAMED.search(kind) else "attention"
