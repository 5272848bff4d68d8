"""The fewest whole replicas of each option that keep the targets, and the cheapest of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.machine.steps import StepGrid, front_s, mixed_step_s
from unitcost.serving.costs import Rates, ServingCost, UnitCosts, price, unit_costs
from unitcost.serving.engine_limits import variants
from unitcost.serving.fleet import Engine, Fleet, Targets
from unitcost.serving.outcome import Outcome, simulate
from unitcost.serving.traces import Trace
from unitcost.serving.windows import busiest

#: Requests of the short sample; a trace of no more is its own sample.
SAMPLE_REQUESTS = 10_000
#: Options that are tried on the whole trace: those within this much of the cheapest on the sample.
_NEAR_SHARE = Decimal("0.5")
#: Replicas beyond the fewest that are shown, to see what a lower latency costs.
_BEYOND = 2
#: On a trace of more requests than this they are shown for so many of the cheapest options only.
_LARGE, _BEYOND_FIRST = 200_000, 3
_SHARE = 95


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the 95th percentiles must keep. None: no limit. [s].

    Parameters
    ----------
    ttft_p95_s, tpot_p95_s, e2e_p95_s
        Time to the first token, time per further token, time to the last token.
    """

    ttft_p95_s: float | None = None
    tpot_p95_s: float | None = None
    e2e_p95_s: float | None = None

    def __post_init__(self) -> None:
        if any(limit is not None and not 0 < limit < math.inf for limit in self.by_latency.values()):
            raise BadSetting("a target is not above zero", mend="write it like 2s or 60ms")

    @property
    def by_latency(self) -> dict[str, float | None]:
        """Limits by the names of the latencies of an outcome."""
        return {"ttft_s": self.ttft_p95_s, "tpot_s": self.tpot_p95_s, "e2e_s": self.e2e_p95_s}

    @property
    def targets(self) -> Targets:
        """The same as targets of single requests, for goodput."""
        return Targets(ttft_s=self.ttft_p95_s, tpot_s=self.tpot_p95_s, e2e_s=self.e2e_p95_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A way to serve: step times of a replica, how it batches, and what it costs.

    Parameters
    ----------
    name
        Unlike that of all other options.
    usd_per_replica_hour
        Price of all GPUs of one replica. [USD / hour]
    needs_check
        Why its quality must be looked at first; empty: nothing to check.
    variant_of
        Name of the option of which only limits of the engine differ; empty: it is none.
    """

    name: str
    grid: StepGrid
    usd_per_replica_hour: Decimal
    engine: Engine = field(default_factory=Engine)
    needs_check: str = ""
    variant_of: str = ""

    @property
    def family(self) -> str:
        """Name that all variants of an option share."""
        return self.variant_of or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An option with some replicas, played and priced.

    Parameters
    ----------
    misses
        Which targets it misses, in words; empty: it keeps all.
    """

    option: Option
    replicas: int
    outcome: Outcome
    cost: ServingCost
    units: UnitCosts
    misses: tuple[str, ...]

    @property
    def usd_per_hour(self) -> Decimal:
        """All replicas together. [USD / hour]."""
        return money.multiply(self.option.usd_per_replica_hour, Decimal(self.replicas))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An option that was ruled out: by a bound, on the sample or on the whole trace, and why."""

    name: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Answer of a search.

    Parameters
    ----------
    fewest
        Each finalist with the fewest replicas that keep the targets, the cheapest first.
    tried
        All that was played on the whole trace.
    runs
        How often the simulator ran.
    """

    fewest: tuple[Tried, ...]
    tried: tuple[Tried, ...]
    refused: tuple[Refused, ...]
    runs: int


class Search:
    """Runs over one trace; the same requests and the same draws for every option.

    Parameters
    ----------
    most_replicas
        Beyond this an option is given up.
    on_run
        Called with the name of an option before each run.
    """

    def __init__(
        self,
        trace: Trace,
        limits: Limits,
        *,
        most_replicas: int = 64,
        sample_requests: int = SAMPLE_REQUESTS,
        seed: int = 0,
        on_run: Callable[[str], None] = lambda _: None,
        on_compile: Callable[[], None] = lambda: None,
    ) -> None:
        self.trace, self.limits, self.most_replicas, self.seed = trace, limits, most_replicas, seed
        self.sample = busiest(trace, sample_requests)
        self.on_run, self.on_compile = on_run, on_compile
        self.runs = 0
        self._seen: dict[tuple[str, int, bool], Tried] = {}

    @property
    def whole(self) -> tuple[Tried, ...]:
        """All that was played on the whole trace with replicas that only differ in number."""
        return tuple(tried for (_, _, sample), tried in self._seen.items() if not sample)

    def play(self, option: Option, replicas: int, *, sample: bool = False) -> Tried:
        """Play an option with so many replicas; each pair once."""
        key = (option.name, replicas, sample and self.sample is not self.trace)
        if key not in self._seen:
            fleet = Fleet(grid=option.grid, engine=option.engine, places={"on-demand": replicas})
            self._seen[key] = self.play_fleet(option, fleet, replicas, self.sample if sample else self.trace)
        return self._seen[key]

    def play_fleet(self, option: Option, fleet: Fleet, replicas: int, trace: Trace) -> Tried:
        """Play a fleet whose every category costs what the option says."""
        rate = option.usd_per_replica_hour
        rates = Rates(usd_per_hour=dict.fromkeys(fleet.categories, rate))
        return self.play_priced(option, fleet, rates, replicas=replicas, trace=trace)

    def play_priced(
        self, option: Option, fleet: Fleet, rates: Rates, *, replicas: int, trace: Trace | None = None
    ) -> Tried:
        """Play a fleet at its own prices, on the whole trace where no other is given."""
        self.on_run(option.name)
        self.runs += 1
        played = self.trace if trace is None else trace
        outcome = simulate(played, fleet, self.limits.targets, seed=self.seed, on_compile=self.on_compile)
        cost = price(outcome, rates)
        return Tried(
            option=option, replicas=replicas, outcome=outcome, cost=cost, units=unit_costs(cost.usd, outcome),
            misses=misses(outcome, self.limits),
        )  # fmt: skip

    def fewest(self, option: Option, *, start: int = 1, sample: bool = False) -> Tried | None:
        """The fewest replicas that keep the targets; None when `most_replicas` do not.

        Notes
        -----
        Doubling from `start` up, or growing steps down from it, then halving the gap: latencies fall as replicas are added, up to
        the luck of routing.
        """
        low, high, step = 0, max(1, min(start, self.most_replicas)), 1
        while high > step and not self.play(option, high, sample=sample).misses:
            if self.play(option, high - step, sample=sample).misses:
                low = high - step
                break
            high, step = high - step, 2 * step
        while self.play(option, high, sample=sample).misses:
            if high >= self.most_replicas:
                return None
            low, high = high, min(2 * high, self.most_replicas)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.play(option, middle, sample=sample).misses else (low, middle)
        return self.play(option, high, sample=sample)


def misses(outcome: Outcome, limits: Limits) -> tuple[str, ...]:
    """Targets that an outcome misses, in words.

    A request without an answer counts as one that came too late; of these at most as many may be as the percentile leaves.
    """
    found = []
    for name, limit in limits.by_latency.items():
        latency = outcome.latencies.get(name)
        if limit is not None and latency is not None and latency.p95 > limit:
            found.append(f"{_WORDS[name]} p95 {latency.p95:.3g} s is above {limit:.3g} s")
    lost = outcome.requests - outcome.answered
    if lost * 100 > (100 - _SHARE) * outcome.requests:
        found.append(f"{lost} of {outcome.requests} requests have no answer")
    elif limits.targets != Targets() and outcome.good_share * 100 < _SHARE and lost:
        found.append(f"only {outcome.good_share:.1%} of all requests are answered within the targets")
    return tuple(found)


_WORDS = {"ttft_s": "TTFT", "tpot_s": "TPOT", "e2e_s": "end to end"}


def unloaded_misses(option: Option, trace: Trace, limits: Limits) -> str:
    """Why no number of replicas keeps the targets; empty when some may.

    Notes
    -----
    A bound from below: a request alone on a replica. Its first token takes at least one step over its whole prompt, each
    further token at least a decode step of one sequence with the context of its prompt. The prefix cache may shorten
    prompts, so with it the first bound does not hold and is left out.
    """
    grid = option.grid
    cached = option.engine.prefix_caching and trace.hash_tokens > 0
    if limits.ttft_p95_s is not None and not cached:
        prompt = int(np.percentile(trace.input_tokens, _SHARE, method="lower"))
        alone_s = front_s(grid.constants, prompt) + mixed_step_s(grid, ((prompt, 0),), 0, 0.0)
        if alone_s > limits.ttft_p95_s:
            took = f"a prompt of {prompt:,} tokens alone on a replica takes {alone_s:.3g} s to the first token"
            return f"{took}, more than {limits.ttft_p95_s:g} s"
    several = trace.output_tokens > 1
    if limits.tpot_p95_s is not None and several.any():
        context = float(trace.input_tokens[several].min())
        alone_s = mixed_step_s(grid, (), 1, context)
        if alone_s > limits.tpot_p95_s:
            return f"a token alone on a replica takes {alone_s:.3g} s, more than {limits.tpot_p95_s:g} s"
    longest = int((trace.input_tokens + trace.output_tokens).max())
    if longest > grid.kv_tokens_per_replica:
        return f"its KV cache holds {grid.kv_tokens_per_replica:,} tokens, the longest request needs {longest:,}"
    return ""


def least_replicas(option: Option, trace: Trace) -> int:
    """Replicas below which work piles up whatever the batching: a bound from the busy time of the best steps."""
    grid = option.grid
    most = int(min(option.engine.max_batch or grid.max_batch, grid.max_batch))
    step_tokens = option.engine.max_step_tokens
    prefill_s = mixed_step_s(grid, ((step_tokens, 0),), 0, 0.0) / step_tokens
    decode_s = min(mixed_step_s(grid, (), size, 1.0) / size for size in {1, most})
    fresh = 0 if option.engine.prefix_caching and trace.hash_tokens else int(trace.input_tokens.sum())
    work_s = min(prefill_s, decode_s) * fresh + decode_s * int((trace.output_tokens - 1).sum())
    # Half of it: what is left over at the end of the trace is still answered then.
    return max(1, math.floor(work_s / trace.duration_s / 2)) if trace.duration_s else 1


def search(options: Sequence[Option], run: Search) -> Found:
    """Cheapest whole replicas of each option that keep the targets."""
    sampled, refused = _sampled(options, run)
    finalists, dear = _finalists(sampled) if run.sample is not run.trace else (sampled, [])
    refused += [Refused(name=t.option.name, stage="sample", reason=_dear(t, finalists)) for t in dear]
    fewest = []
    for tried in finalists:
        best = run.fewest(tried.option, start=tried.replicas)
        if best is None:
            refused.append(_given_up(tried.option, run, sample=False))
            continue
        fewest.append(best)
    order = sorted(fewest, key=lambda t: (t.cost.usd, t.option.name))
    for best in order if len(run.trace) <= _LARGE else order[:_BEYOND_FIRST]:
        for more in range(1, _BEYOND + 1):
            run.play(best.option, min(best.replicas + more, run.most_replicas))
    return Found(fewest=tuple(order), tried=run.whole, refused=tuple(refused), runs=run.runs)


def _sampled(options: Sequence[Option], run: Search) -> tuple[list[Tried], list[Refused]]:
    """Options with the fewest replicas on the sample, and those that a bound or the sample rules out."""
    sampled, refused = [], []
    for option in options:
        why = unloaded_misses(option, run.trace, run.limits)
        if why:
            refused.append(Refused(name=option.name, stage="bound", reason=why))
            continue
        found = run.fewest(option, start=least_replicas(option, run.sample), sample=True)
        best = _with_limits(option, found, run)
        if best is None:
            refused.append(_given_up(option, run, sample=True))
        else:
            sampled.append(best)
    return sampled, refused


def _with_limits(option: Option, found: Tried | None, run: Search) -> Tried | None:
    """The option with those limits of its engine that keep the targets on the sample with the fewest replicas.

    Notes
    -----
    Each variant is played with one replica less than the best so far, and goes down from there only where that keeps
    the targets: most cost a single run of the sample.
    """
    best = found
    for words, engine in variants(option.engine, option.grid):
        replicas = best.replicas - 1 if best is not None else run.most_replicas
        if replicas < 1:
            break
        one = replace(option, engine=engine, name=f"{option.name}, {words}", variant_of=option.name)
        if not run.play(one, replicas, sample=True).misses:
            best = run.fewest(one, start=replicas, sample=True)
    return best


def _dear(tried: Tried, finalists: Sequence[Tried]) -> str:
    best = min(finalists, key=lambda one: one.usd_per_hour)
    return (
        f"{money.text(tried.usd_per_hour)} USD an hour on the sample, {best.option.name} "
        f"{money.text(best.usd_per_hour)}: too far apart to be played on the whole trace"
    )


def _finalists(sampled: Sequence[Tried]) -> tuple[list[Tried], list[Tried]]:
    """Options near the cheapest of those that need the same check or none, and the others."""
    if not sampled:
        return [], []
    free = [t for t in sampled if not t.option.needs_check] or list(sampled)
    best = min(t.usd_per_hour for t in free)
    limit = money.multiply(best, money.add([Decimal(1), _NEAR_SHARE]))
    near = [t for t in sampled if t.usd_per_hour <= limit]
    return near, [t for t in sampled if t.usd_per_hour > limit]


def _given_up(option: Option, run: Search, *, sample: bool) -> Refused:
    last = run.play(option, run.most_replicas, sample=sample)
    where = "sample" if sample else "whole trace"
    return Refused(name=option.name, stage=where, reason=f"with {run.most_replicas} replicas: {'; '.join(last.misses)}")


def frontier(tried: Sequence[Tried], limits: Limits) -> tuple[Tried, ...]:
    """Those than which no other is both cheaper and faster to the first token, among all that keep the other targets."""
    kept = [
        t for t in tried if not any(not why.startswith("TTFT") for why in t.misses) and "ttft_s" in t.outcome.latencies
    ]
    order = sorted(kept, key=lambda t: (t.cost.usd, t.outcome.latencies["ttft_s"].p95, t.option.name))
    best, found = math.inf, []
    for one in order:
        if one.outcome.latencies["ttft_s"].p95 < best:
            best = one.outcome.latencies["ttft_s"].p95
            found.append(one)
    return tuple(found)
