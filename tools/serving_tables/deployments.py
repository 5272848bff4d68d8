"""Deployments whose step times ship: popular models on usual GPUs."""

from __future__ import annotations

from unitcost.machine.steps import Served

_LLAMA8, _LLAMA70 = "meta-llama/Meta-Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-70B"
_QWEN8, _QWEN32, _QWEN30 = "Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "Qwen/Qwen3-30B-A3B"
#: Model, precision, GPU, tensor parallel sizes; all under vLLM.
_TABLE: tuple[tuple[str, str, str, tuple[int, ...]], ...] = (
    (_LLAMA8, "bf16", "A100-80GB", (1, 2)),
    (_LLAMA8, "bf16", "H100-80GB", (1, 2)),
    (_LLAMA8, "fp8", "H100-80GB", (1,)),
    (_LLAMA8, "bf16", "L40S", (1, 2)),
    (_LLAMA8, "fp8", "L40S", (1,)),
    (_LLAMA8, "bf16", "H200", (1,)),
    (_LLAMA8, "fp8", "H200", (1,)),
    (_LLAMA8, "fp8", "B200", (1,)),
    (_LLAMA70, "bf16", "A100-80GB", (4, 8)),
    (_LLAMA70, "bf16", "H100-80GB", (4, 8)),
    (_LLAMA70, "fp8", "H100-80GB", (2, 4, 8)),
    (_LLAMA70, "bf16", "H200", (2, 4)),
    (_LLAMA70, "fp8", "H200", (1, 2, 4, 8)),
    (_LLAMA70, "fp8", "L40S", (4, 8)),
    (_LLAMA70, "fp8", "B200", (1, 2, 4)),
    (_LLAMA70, "nvfp4", "B200", (1, 2, 4)),
    (_QWEN8, "bf16", "H100-80GB", (1,)),
    (_QWEN8, "bf16", "A100-80GB", (1,)),
    (_QWEN32, "bf16", "H100-80GB", (2, 4)),
    (_QWEN32, "fp8", "H100-80GB", (1, 2)),
    (_QWEN32, "fp8", "H200", (1, 2)),
    (_QWEN30, "bf16", "H100-80GB", (1, 2)),
    ("openai/gpt-oss-120b", "mxfp4", "H100-80GB", (1, 2, 4)),
    ("openai/gpt-oss-120b", "mxfp4", "H200", (1, 2)),
    ("openai/gpt-oss-120b", "mxfp4", "B200", (1, 2)),
    ("openai/gpt-oss-20b", "mxfp4", "H100-80GB", (1,)),
    ("Qwen/Qwen3-235B-A22B-FP8", "fp8", "H200", (4,)),
)
DEPLOYMENTS: tuple[Served, ...] = tuple(
    Served(model=model, gpu=gpu, precision=precision, backend="vllm", tensor_parallel=size)
    for model, precision, gpu, sizes in _TABLE
    for size in sizes
)
