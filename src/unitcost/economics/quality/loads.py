"""What samples of a load say: percentiles, tokens, errors, and whether the run counts at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from unitcost.economics.quality.tails import Tail, misses_allowed, percentile, tail
from unitcost.facts.loads import Sample

#: A generator that is later than this part of the target measures itself.
OWN_DELAY_SHARE = 0.10
#: Share of errors that a rate inside the target may have.
ERROR_SHARE = 0.01
SHARES = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSummary:
    """A run in numbers; latency of requests that failed counts as that of a request that was too slow.

    Parameters
    ----------
    rate_per_s
        Requests that were due a second. [1/s]
    done_per_s
        Requests that were answered a second. [1/s]
    fates
        How many requests came to each end.
    tails
        Percentiles of latency from the due moment.
    first_token, between_tokens
        Percentiles of the time to the first token, from the due moment, and of the mean time per further token of a request
        ``(last - first) / (tokens - 1)``; empty where nothing is streamed.
    own_delay_p99_s
        How late the generator was. [s]
    why_invalid
        Why the run does not count; empty when it does.
    """

    requests: int
    rate_per_s: float
    done_per_s: float
    fates: tuple[tuple[str, int], ...]
    tails: tuple[tuple[str, Tail], ...]
    first_token: tuple[tuple[str, Tail], ...]
    between_tokens: tuple[tuple[str, Tail], ...]
    tokens: int
    own_delay_p99_s: float
    why_invalid: str
    reasons: tuple[str, ...]

    @property
    def error_share(self) -> float:
        """Share of the requests that did not end well."""
        return 1 - dict(self.fates).get("ok", 0) / self.requests if self.requests else 1.0

    def latency(self, name: str) -> Tail | None:
        """Tail by the name of its percentile."""
        return dict(self.tails).get(name)


def summary(samples: Sequence[Sample], *, warm_up_s: float = 0.0, target_s: float | None = None) -> LoadSummary:
    """Summary of a run.

    Parameters
    ----------
    warm_up_s
        What was due before is left out. [s]
    target_s
        Latency target that the generator's own delay is held against; None = the median latency. [s]
    """
    kept = [sample for sample in samples if sample.due_s >= warm_up_s]
    if not kept:
        return _nothing("no request was due after the warm-up")
    good = [sample for sample in kept if sample.fate == "ok"]
    worst_s = max((sample.latency_s for sample in kept), default=0.0)
    latencies = [sample.latency_s if sample.fate == "ok" else max(worst_s, sample.latency_s) for sample in kept]
    streamed = [sample for sample in good if sample.first_s is not None]
    span_s = max(kept[-1].due_s - kept[0].due_s, 1e-9) * len(kept) / max(1, len(kept) - 1)
    done_s = max(max((s.ended_s for s in good), default=0.0) - kept[0].due_s, 1e-9)
    delay_s = percentile(sorted(sample.delay_s for sample in kept), 0.99)
    return LoadSummary(
        requests=len(kept), rate_per_s=len(kept) / span_s, done_per_s=len(good) / done_s,
        fates=tuple(sorted(Counter(sample.fate for sample in kept).items())), tails=_tails(latencies),
        first_token=_tails([s.first_s - s.due_s for s in streamed if s.first_s is not None]),
        between_tokens=_tails([each for s in streamed if (each := _between_s(s)) is not None]),
        tokens=sum(sample.tokens for sample in good), own_delay_p99_s=delay_s,
        why_invalid=_why_invalid(delay_s, target_s or percentile(sorted(latencies), 0.5)),
        reasons=tuple(f"{count} x {why}" for why, count in Counter(s.why for s in kept if s.why).most_common(5)),
    )  # fmt: skip


def is_inside(found: LoadSummary, name: str, limit_s: float) -> bool:
    """Whether a run is valid, proves its percentile, keeps the limit, and has few enough errors.

    A request that failed is slower than any limit, however soon it failed.
    """
    late = found.latency(name)
    if found.why_invalid or late is None or late.bound_s is None or late.bound_s > limit_s:
        return False
    failed = found.requests - dict(found.fates).get("ok", 0)
    return found.error_share <= ERROR_SHARE and failed <= (misses_allowed(late.share, found.requests) or 0)


def _why_invalid(delay_s: float, target_s: float) -> str:
    if delay_s <= OWN_DELAY_SHARE * target_s:
        return ""
    return (
        f"the generator itself was {delay_s:.4f} s late (p99), more than {OWN_DELAY_SHARE:.0%} of {target_s:.4f} s:"
        " use a machine with a free core, or a lower rate"
    )


def _between_s(sample: Sample) -> float | None:
    if sample.first_s is None or sample.last_s is None or sample.tokens < 2:
        return None
    return (sample.last_s - sample.first_s) / (sample.tokens - 1)


def _tails(values_s: Sequence[float]) -> tuple[tuple[str, Tail], ...]:
    if not values_s:
        return ()
    return tuple((name, tail(values_s, share, misses=0 if name == "p999" else 1)) for name, share in SHARES.items())


def _nothing(why: str) -> LoadSummary:
    return LoadSummary(
        requests=0, rate_per_s=0.0, done_per_s=0.0, fates=(), tails=(), first_token=(), between_tokens=(), tokens=0,
        own_delay_p99_s=0.0, why_invalid=why, reasons=(),
    )  # fmt: skip
