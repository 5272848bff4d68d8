"""Names as others spell them."""

from __future__ import annotations

import pytest

from unitcost.errors import BadFile, UnknownName
from unitcost.measure.labels import known_model, modes_of, system_of


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("llama-3.1-70b", "meta-llama/Meta-Llama-3.1-70B"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B"),
        ("meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Meta-Llama-3.1-70B"),
        ("nvidia/Llama-3.1-8B-Instruct-FP8", "meta-llama/Meta-Llama-3.1-8B"),
        ("zhipuai/GLM-5", "zai-org/GLM-5"),
        ("gpt-oss-120b", "openai/gpt-oss-120b"),
    ],
)
def test_usual_spellings_are_known(said, meant):
    assert known_model(said) == meant


def test_a_folder_with_a_config_is_a_model_and_one_without_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"config\.json"):
        known_model(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert known_model(str(tmp_path)) == str(tmp_path)


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(UnknownName, match=r"llama-3\.1-70b"):
        known_model("lama-3.1-70b")
    with pytest.raises(UnknownName, match="H200"):
        system_of("H20")


def test_gpt_oss_and_kimi_are_quantised_in_their_experts_only():
    assert modes_of("openai/gpt-oss-120b", "mxfp4") == ((None, "w4a16_mxfp4"),)
    on_blackwell = modes_of("openai/gpt-oss-120b", "mxfp4", backend="trtllm", gpu="B200")
    assert on_blackwell == ((None, "w4a8_mxfp4_mxfp8"), (None, "w4a16_mxfp4"))
    assert modes_of("openai/gpt-oss-120b", "mxfp4", backend="vllm", gpu="B200") == ((None, "w4a16_mxfp4"),)
    assert modes_of("moonshotai/Kimi-K2.5", "int4") == ((None, "int4_wo"),)
    assert modes_of("meta-llama/Meta-Llama-3.1-70B", "nvfp4")[0] == ("nvfp4", "nvfp4")
