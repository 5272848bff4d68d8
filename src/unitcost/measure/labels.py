"""Names of models, GPUs and precisions as aiconfigurator-core spells them."""

from __future__ import annotations

import re
from pathlib import Path

from unitcost.errors import BadFile, UnknownName
from unitcost.measure.model_config import config_file

#: (gemm mode, mode of the experts); None leaves the checkpoint's own.
Modes = tuple[str | None, str | None]
CHECKPOINT: Modes = (None, None)

#: Models whose shape the package holds.
MODELS: tuple[str, ...] = (
    "MiniMaxAI/MiniMax-M2.5", "MiniMaxAI/MiniMax-M2.7", "Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B", "Qwen/Qwen3-8B",
    "Qwen/Qwen3-32B", "Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-30B-A3B-FP8", "Qwen/Qwen3-235B-A22B",
    "Qwen/Qwen3-235B-A22B-FP8", "Qwen/Qwen3-Coder-480B-A35B-Instruct", "Qwen/Qwen3.5-27B", "Qwen/Qwen3.5-35B-A3B",
    "Qwen/Qwen3.5-122B-A10B", "Qwen/Qwen3.5-397B-A17B", "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V3.2", "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct", "meta-llama/Meta-Llama-3.1-405B", "meta-llama/Meta-Llama-3.1-70B",
    "meta-llama/Meta-Llama-3.1-8B", "mistralai/Mixtral-8x22B-v0.1", "mistralai/Mixtral-8x7B-v0.1",
    "moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2.5", "nvidia/Llama-3_3-Nemotron-Super-49B-v1",
    "nvidia/Nemotron-H-56B-Base-8K", "openai/gpt-oss-120b", "openai/gpt-oss-20b", "zai-org/GLM-5",
)  # fmt: skip
#: Spellings that a rule cannot derive, folded.
_ALIASES = {
    "zhipuai/glm-5": "zai-org/GLM-5",
    "nvidia/llama-3.1-8b-instruct-fp8": "meta-llama/Meta-Llama-3.1-8B",
    "nvidia/llama-3.1-70b-instruct-fp8": "meta-llama/Meta-Llama-3.1-70B",
    "nvidia/llama-3.3-70b-instruct-fp8": "meta-llama/Meta-Llama-3.1-70B",
}
#: Words at the end of a name that leave the shape as it is.
_TUNED = re.compile(r"-(instruct|chat|base|it)$")
#: Later versions of the same shape.
_SAME_SHAPE = (("llama-3.3-70b", "llama-3.1-70b"), ("llama-3-70b", "llama-3.1-70b"), ("llama-3-8b", "llama-3.1-8b"))

#: GPUs with measured kernels, as the price book names them.
SYSTEMS: dict[str, str] = {
    "A100-80GB": "a100_sxm", "H100-80GB": "h100_sxm", "H200": "h200_sxm", "B200": "b200_sxm", "B300": "b300_sxm",
    "GB200": "gb200", "GB300": "gb300", "L40S": "l40s", "RTX-PRO-6000": "rtx_pro_6000_server",
}  # fmt: skip
GPU_OF_SYSTEM = {system: gpu for gpu, system in SYSTEMS.items()}
BACKENDS: tuple[str, ...] = ("vllm", "sglang", "trtllm")
PRECISIONS: tuple[str, ...] = ("bf16", "fp8", "nvfp4", "mxfp4", "int4")
#: Part of a name -> the precision of the checkpoint; others are in bf16.
_CHECKPOINTS = (
    ("nvfp4", "nvfp4"), ("gpt-oss", "mxfp4"), (r"kimi-k2\.", "int4"), ("fp8|deepseek|minimax|glm-5|kimi", "fp8"),
)  # fmt: skip
#: GPUs whose tensor cores multiply mxfp4 by mxfp8.
_MXFP8_GPUS = ("B200", "B300", "GB200", "GB300")
_GEMM_MODES: dict[str, tuple[Modes, ...]] = {
    "bf16": (("bfloat16", "bfloat16"),),
    "fp8": (("fp8", "fp8"), ("fp8_block", "fp8_block"), ("fp8", "fp8_block")),
    "nvfp4": (("nvfp4", "nvfp4"),),
    "mxfp4": ((None, "w4a16_mxfp4"),),
    "int4": (("int4_wo", "int4_wo"), (None, "int4_wo")),
}


def known_model(name: str) -> str:
    """Model that a name means: a known one, in any usual spelling, or a folder that holds its `config.json`.

    Raises
    ------
    UnknownName
        When it is neither; the message names the near ones.
    BadFile
        When the folder holds no `config.json`.
    """
    folder = Path(name)
    if folder.is_dir():
        if not config_file(name).is_file():
            raise BadFile("there is no config.json", where=name, mend="give the folder of a downloaded model")
        return str(folder)
    by_folded = {_folded(model): model for model in reversed(MODELS)}
    folded = name.strip().casefold()
    if folded in _ALIASES:
        return _ALIASES[folded]
    short = _folded(name)
    if short in by_folded:
        return by_folded[short]
    mend = "use a known model, or a folder that holds its config.json"
    raise UnknownName("model with known step times", name, [*MODELS, *by_folded], mend=mend)


def _folded(name: str) -> str:
    short = name.strip().casefold().rsplit("/", 1)[-1].replace("_", "-").removeprefix("meta-")
    while _TUNED.search(short):
        short = _TUNED.sub("", short)
    for later, same in _SAME_SHAPE:
        short = short.replace(later, same)
    return short


def system_of(gpu: str) -> str:
    """Name of a GPU in the package.

    Raises
    ------
    UnknownName
        When the package has no measured kernels of it; the message names those it has.
    """
    folded = {name.casefold(): system for name, system in SYSTEMS.items()} | {
        system: system for system in GPU_OF_SYSTEM
    }
    folded |= {"h100": "h100_sxm", "a100": "a100_sxm"}
    key = gpu.strip().casefold()
    if key not in folded:
        raise UnknownName("GPU with measured step times", gpu, SYSTEMS)
    return folded[key]


def modes_of(model: str, precision: str, *, backend: str = "", gpu: str = "") -> tuple[Modes, ...]:
    """Ways to compute a model in a precision, the likeliest first.

    Notes
    -----
    gpt-oss has experts in mxfp4 and nothing else quantised; Kimi in int4 likewise. TensorRT-LLM gives the experts of gpt-oss
    their inputs in mxfp8 where tensor cores take both (Blackwell). Other checkpoints may hold fp8 per tensor or per block:
    both are tried, and the checkpoint's own.
    """
    if precision not in PRECISIONS:
        raise UnknownName("precision", precision, PRECISIONS)
    if "gpt-oss" in model.casefold():
        narrow = ((None, "w4a8_mxfp4_mxfp8"),) if backend == "trtllm" and gpu in _MXFP8_GPUS else ()
        return (*narrow, *_GEMM_MODES["mxfp4"])
    if precision == "int4" and "kimi" in model.casefold():
        return ((None, "int4_wo"),)
    own = (CHECKPOINT,) if checkpoint_precision(model) == precision else ()
    return (*own, *_GEMM_MODES[precision]) if precision == "bf16" else (*_GEMM_MODES[precision], *own)


def checkpoint_precision(model: str) -> str:
    """Precision in which a checkpoint of that name stands."""
    folded = model.casefold()
    return next((precision for pattern, precision in _CHECKPOINTS if re.search(pattern, folded)), "bf16")
