"""Memory of weights and cache, what fits, and step times from data sheets."""

from __future__ import annotations

import numpy as np
import pytest

from unitcost.errors import BadFile, DoesNotFit, UnknownName
from unitcost.machine.decoder import DECODERS, DecoderShape, decoder_of_config
from unitcost.machine.roofline import board, kv_tokens, need_room, roofline_grid
from unitcost.machine.steps import Served
from unitcost.units import GB, KIB

BY_NAME = {one.name: one for one in DECODERS}
LLAMA8, LLAMA70 = BY_NAME["meta-llama/Meta-Llama-3.1-8B"], BY_NAME["meta-llama/Meta-Llama-3.1-70B"]


def served(gpu="L4", precision="bf16", size=1):
    return Served(model="m", gpu=gpu, precision=precision, backend="vllm", tensor_parallel=size)


def test_kv_cache_of_opt_13b_kwon_2023_section_3():
    opt = DecoderShape(
        name="opt-13b",
        layers=40,
        hidden=5120,
        heads=40,
        kv_heads=40,
        head_size=128,
        intermediate=20480,
        vocabulary=50272,
    )
    assert opt.kv_bytes_per_token() == 800 * KIB


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 8.03),
        ("meta-llama/Meta-Llama-3.1-70B", 70.6),
        ("Qwen/Qwen3-32B", 32.8),
        ("Qwen/Qwen3-30B-A3B", 30.5),
        ("mistralai/Mixtral-8x7B-v0.1", 46.7),
    ],
)
def test_weights_add_up_to_the_published_number(name, billions):
    assert BY_NAME[name].params / 1e9 == pytest.approx(billions, rel=0.005)  # norms and biases are left out


def test_a_config_gives_the_shape_and_a_broken_one_is_refused():
    config = {
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "vocab_size": 128256,
    }  # fmt: skip
    shape = decoder_of_config(config, name=LLAMA8.name)
    assert shape == LLAMA8
    with pytest.raises(BadFile, match="hidden_size"):
        decoder_of_config({"num_attention_heads": 32}, name="x")
    for name in ("num_attention_heads", "num_hidden_layers", "hidden_size"):
        with pytest.raises(BadFile, match=f"`{name}` is 0"):
            decoder_of_config({**config, name: 0}, name="x")
    with pytest.raises(BadFile, match="`num_key_value_heads` is -8"):
        decoder_of_config({**config, "num_key_value_heads": -8}, name="x")


def test_what_does_not_fit_names_the_smallest_change():
    with pytest.raises(DoesNotFit, match="4 GPUs in one replica") as found:
        need_room(LLAMA70, served("L40", size=2), 48, least_tokens=8192)
    assert "fp8 weights on the same GPUs" in found.value.mend
    assert need_room(LLAMA8, served(), 24, least_tokens=8192) == kv_tokens(LLAMA8, served(), 24) > 8192


def test_a_small_batch_reads_the_weights_at_the_bandwidth():
    grid = roofline_grid(LLAMA8, served(), board("L4"))
    read_s = LLAMA8.weights_bytes("bf16") / (0.8 * 300 * GB)
    assert grid.decode_step_s[0, 0] == pytest.approx(read_s, rel=0.02)  # and 20 us a layer
    assert grid.origin == "roofline"
    assert grid.flags


def test_more_work_never_takes_less_time_and_more_gpus_never_more_for_a_large_step():
    one, two = (roofline_grid(LLAMA8, served("A30", size=size), board("A30")) for size in (1, 2))
    for grid in (one, two):
        assert (np.diff(grid.shared_s) >= 0).all()
        assert (np.diff(grid.decode_step_s, axis=0) >= 0).all()
        assert (np.diff(grid.decode_step_s, axis=1) >= 0).all()
    assert two.shared_s[-1] < one.shared_s[-1]
    assert two.kv_tokens_per_replica > 2 * one.kv_tokens_per_replica


def test_few_tokens_read_few_experts():
    grid = roofline_grid(BY_NAME["Qwen/Qwen3-30B-A3B"], served("A40", "fp8"), board("A40"))
    assert grid.shared_s[0] < 0.2 * grid.shared_s[4]


def test_unknown_boards_are_answered_with_near_ones():
    with pytest.raises(UnknownName, match="A10G"):
        board("A10GG")
