"""Metrics that are read from Prometheus: the one place that says which native name means what.

Names are looked up with `:` as `_` (OpenTelemetry collectors write it so) and without `_total` (old and new client
libraries differ in it). A histogram gives `NAME_bucket`, `NAME_sum` and `NAME_count`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["counter", "gauge", "bucket", "histogram"]
#: Unit of a prefix cache whose counts may be either: the name alone does not tell, the help text does.
TOKENS_OR_BLOCKS = "tokens or blocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A measured quantity: our name, how it behaves, its unit, what it counts, and who calls it how.

    The unit is that of the native numbers, which are kept as they are; all natives of a name share it.
    """

    name: str
    kind: Kind
    unit: str
    counts: str
    natives: tuple[str, ...]


def _metric(name: str, kind: Kind, unit: str, counts: str, *natives: str) -> Metric:
    return Metric(name=name, kind=kind, unit=unit, counts=counts, natives=natives)


METRICS: tuple[Metric, ...] = (
    # The card: NVIDIA DCGM exporter. One measurement per card, or per instance of a card that is cut by MIG.
    _metric("gpu_utilisation", "gauge", "percent", "share of time in which a kernel ran", "DCGM_FI_DEV_GPU_UTIL"),
    _metric(
        "gpu_engine_active", "gauge", "ratio", "share of time in which the compute engine was active; also for MIG",
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    ),
    _metric("gpu_sm_active", "gauge", "ratio", "share of multiprocessors with work", "DCGM_FI_PROF_SM_ACTIVE"),
    _metric(
        "gpu_tensor_active", "gauge", "ratio", "share of cycles of the tensor cores", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"
    ),
    _metric("gpu_memory_used", "gauge", "MiB", "memory of the card in use", "DCGM_FI_DEV_FB_USED"),
    _metric("gpu_memory_free", "gauge", "MiB", "memory of the card that is free", "DCGM_FI_DEV_FB_FREE"),
    _metric("gpu_power", "gauge", "W", "power that the card draws", "DCGM_FI_DEV_POWER_USAGE"),
    _metric(
        "gpu_energy", "counter", "mJ", "energy since the driver was loaded", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    ),
    # The model server: vLLM, SGLang, TGI, Triton, KServe, TorchServe, TensorFlow Serving.
    _metric(
        "prompt_tokens", "counter", "tokens", "tokens of prompts, those found in a cache included",
        "vllm:prompt_tokens_total", "sglang:prompt_tokens_total", "tgi_request_input_length_sum",
    ),
    _metric(
        "generation_tokens", "counter", "tokens", "tokens that the model wrote",
        "vllm:generation_tokens_total", "sglang:generation_tokens_total", "tgi_request_generated_tokens_sum",
    ),
    _metric(
        "cached_prompt_tokens", "counter", "tokens", "tokens of prompts that were found in a cache",
        "sglang:cached_tokens_total",
    ),
    _metric(
        "prefix_cache_queries", "counter", "tokens", "tokens of prompts that were looked up in the prefix cache",
        "vllm:prefix_cache_queries_total",
    ),
    _metric(
        "prefix_cache_hits", "counter", "tokens", "tokens of prompts that the prefix cache held",
        "vllm:prefix_cache_hits_total",
    ),
    # The first releases of vLLM V1 counted these in blocks, later ones in tokens; the help text tells.
    _metric(
        "prefix_cache_queries", "counter", TOKENS_OR_BLOCKS, "as above, under the older name",
        "vllm:gpu_prefix_cache_queries_total",
    ),
    _metric(
        "prefix_cache_hits", "counter", TOKENS_OR_BLOCKS, "as above, under the older name",
        "vllm:gpu_prefix_cache_hits_total",
    ),
    _metric(
        "prefix_cache_hit_rate", "gauge", "ratio", "hits of the prefix cache of late",
        "vllm:gpu_prefix_cache_hit_rate", "sglang:cache_hit_rate",
    ),
    _metric(
        "kv_cache_usage", "gauge", "ratio", "share of the KV cache in use",
        "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
    ),
    _metric(
        "cache_config", "gauge", "", "settings of the KV cache, in the labels: block_size, num_gpu_blocks ...",
        "vllm:cache_config_info",
    ),
    _metric(
        "requests_running", "gauge", "requests", "requests at work",
        "vllm:num_requests_running", "sglang:num_running_reqs", "tgi_batch_current_size",
    ),
    _metric(
        "requests_waiting", "gauge", "requests", "requests in the queue",
        "vllm:num_requests_waiting", "sglang:num_queue_reqs", "tgi_queue_size", "nv_inference_pending_request_count",
    ),
    _metric("preemptions", "counter", "preemptions", "requests put back to the queue", "vllm:num_preemptions_total"),
    _metric(
        "requests", "counter", "requests", "requests that were answered",
        "vllm:request_success_total", "sglang:num_requests_total", "tgi_request_success", "nv_inference_request_success",
        "ts_inference_requests_total", ":tensorflow:serving:request_count",
    ),
    _metric("requests_failed", "counter", "requests", "requests that failed", "nv_inference_request_failure"),
    _metric(
        "predictions", "counter", "predictions", "predictions: a request with a batch of eight makes eight",
        "nv_inference_count",
    ),
    _metric(
        "executions", "counter", "executions", "runs of the model, each on one batch", "nv_inference_exec_count"
    ),
    _metric(
        "request_latency", "histogram", "s", "from arrival to the last token",
        "vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds", "tgi_request_duration",
    ),
    _metric(
        "time_to_first_token", "histogram", "s", "from arrival to the first token",
        "vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds",
    ),
    # vLLM observed the time between two tokens under the name of the time per token until it named it rightly.
    _metric(
        "inter_token_latency", "histogram", "s", "between two tokens of an answer",
        "vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds", "sglang:inter_token_latency_seconds",
    ),
    _metric(
        "time_per_output_token", "histogram", "s", "of an answer after its first token, per token",
        "vllm:request_time_per_output_token_seconds", "sglang:time_per_output_token_seconds",
        "tgi_request_mean_time_per_token_duration",
    ),
    _metric(
        "predict_latency", "histogram", "s", "of one call of a KServe model; its count is requests",
        "request_predict_seconds",
    ),
)  # fmt: skip

#: What kube-state-metrics says about pods and nodes -> what is made of it.
KUBE: dict[str, str] = {
    "kube_pod_container_resource_requests": "holdings: accelerators that a container asks for",
    "kube_pod_container_resource_limits": "the same, where no request is listed",
    "kube_pod_status_phase": "holdings count while a pod is running; status of the workload",
    "kube_pod_owner": "parent of the workload",
    "kube_replicaset_owner": "the deployment behind a replica set",
    "kube_pod_labels": "tags of the workload",
    "kube_pod_start_time": "start of the workload",
    "kube_pod_completion_time": "end of the workload",
    "kube_node_status_capacity": "resources: accelerators of a node",
    "kube_node_status_allocatable": "the same, where no capacity is listed",
    "kube_node_labels": "tags of the node: instance type, model of the card, time slices",
    "kube_node_info": "identity of the node's instance",
}

#: Counts of histograms that are the number of requests where the server has no counter of them.
_REQUESTS = frozenset({"predict_latency_count"})
_COUNT_UNIT = "observations"


def canonical(native: str) -> str:
    """Native name in the one spelling by which it is looked up."""
    return native.replace(":", "_").removesuffix("_total")


def lookup(native: str) -> Metric | None:
    """What a native name means, or None when it is not read."""
    return _BY_NATIVE.get(canonical(native))


def natives() -> tuple[str, ...]:
    """Native names of all that is read, in their main spelling, parts of histograms each by itself."""
    return (*_NATIVES, *KUBE)


def parts_of(metric: Metric) -> list[Metric]:
    """Series of a metric: itself, or the three of a histogram."""
    if metric.kind != "histogram":
        return [metric]
    made = [
        replace(metric, name=f"{metric.name}_{part}", kind=kind, natives=tuple(f"{n}_{part}" for n in metric.natives),
                unit=metric.unit if part == "sum" else _COUNT_UNIT)
        for part, kind in _PARTS
    ]  # fmt: skip
    return [replace(part, name="requests", unit="requests") if part.name in _REQUESTS else part for part in made]


_PARTS: tuple[tuple[str, Kind], ...] = (("bucket", "bucket"), ("sum", "counter"), ("count", "counter"))
_ALL = [part for metric in METRICS for part in parts_of(metric)]
_BY_NATIVE = {canonical(native): metric for metric in _ALL for native in metric.natives}
_NATIVES = tuple(native for metric in _ALL for native in metric.natives)
