"""Models whose engines cannot share beginnings of prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unitcost.errors import BadFile
from unitcost.measure.attention_kind import attention_kind
from unitcost.measure.step_times import decoder
from unitcost.serving.fleet import prefix_caching_works


@pytest.mark.parametrize(
    ("config", "works"),
    [
        ({"model_type": "llama", "num_attention_heads": 8}, True),
        ({"model_type": "gpt_oss", "layer_types": ["sliding_attention", "full_attention"]}, True),
        ({"model_type": "qwen3_next", "layer_types": ["linear_attention", "full_attention"]}, False),
        ({"model_type": "own", "mamba_d_state": 128}, False),
        ({"architectures": ["NemotronHForCausalLM"], "hybrid_override_pattern": "M-M*"}, False),
        ({"text_config": {"ssm_state_size": 16}}, False),
    ],
)
def test_a_recurrent_state_gives_itself_away(tmp_path: Path, config: dict[str, object], works: bool) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    found, why = prefix_caching_works(attention_kind(str(tmp_path)))
    assert found is works
    assert ("state per sequence" in why) is not works


def test_names_and_broken_files(tmp_path: Path) -> None:
    assert attention_kind("meta-llama/Meta-Llama-3.1-8B") == "attention"
    assert "hybrid" in attention_kind("nvidia/NVIDIA-Nemotron-Nano-9B-v2")
    assert "hybrid" in attention_kind("state-spaces/mamba-2.8b")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BadFile, match="not JSON"):
        attention_kind(str(tmp_path))
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(BadFile, match="no JSON object"):
        attention_kind(str(tmp_path))
    with pytest.raises(BadFile, match="no JSON object"):
        decoder(str(tmp_path))
