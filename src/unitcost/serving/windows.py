"""The part of a trace in which most work comes: what an option must stand before it is tried on the whole."""

from __future__ import annotations

import numpy as np

from unitcost.serving.traces import Trace


def busiest(trace: Trace, requests: int) -> Trace:
    """The stretch of so many requests with the most tokens a second; the whole trace when it has no more.

    Parameters
    ----------
    requests
        Length of the stretch; ten places along the trace are compared for each such length.

    Notes
    -----
    Prompts and answers count alike: a stretch with many long answers is as full as one with many long prompts.
    """
    count = len(trace)
    if requests >= count:
        return trace
    tokens = np.concatenate([[0], np.cumsum(trace.input_tokens + trace.output_tokens)])
    begins = np.unique(np.linspace(0, count - requests, max(2, 10 * count // requests)).astype(np.int64))
    spans_s = trace.arrival_s[begins + requests - 1] - trace.arrival_s[begins]
    rates = (tokens[begins + requests] - tokens[begins]) / np.maximum(spans_s, np.finfo(np.float64).tiny)
    return _part(trace, int(begins[int(np.argmax(rates))]), requests)


def _part(trace: Trace, begin: int, requests: int) -> Trace:
    end = begin + requests
    start_s = float(trace.arrival_s[begin])
    stop_s = float(trace.arrival_s[end]) if end < len(trace) else trace.duration_s
    return Trace(
        arrival_s=trace.arrival_s[begin:end] - start_s, input_tokens=trace.input_tokens[begin:end],
        output_tokens=trace.output_tokens[begin:end], duration_s=stop_s - start_s, hashes=trace.hashes,
        hash_from=trace.hash_from[begin : end + 1] if trace.hash_tokens else trace.hash_from,
        hash_tokens=trace.hash_tokens, name=trace.name,
    )  # fmt: skip
