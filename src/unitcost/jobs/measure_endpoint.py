"""Put load on an endpoint: at a rate, along a trace, with a number of callers, or in search of the highest rate."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost.economics.quality.loads import LoadSummary, is_inside, summary
from unitcost.economics.quality.totals import infra
from unitcost.errors import BadSetting
from unitcost.facts.loads import Sample
from unitcost.facts.options import Demand, Option
from unitcost.jobs.bench_words import percentile_share
from unitcost.measure.load.arrivals import from_trace, poisson, steady
from unitcost.measure.load.driving import closed_loop, is_stopped, open_loop
from unitcost.measure.load.kinds import Client, Target, kserve_body, read_bodies, target
from unitcost.measure.load.searching import INTERRUPTED, Asked, Found, first_rate, search

#: Latency target of a search that names none.
_NO_TARGET = "a search needs a target"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAsk:
    """What load is put on.

    Parameters
    ----------
    rate_per_s, trace, concurrency
        One of them: an open loop at a rate [1/s], an open loop along a trace, or a closed loop of so many callers.
        `rate_per_s` is where a search begins; without it at the lowest rate that the budget has time to prove.
    is_search
        Whether the highest rate inside the target is searched for.
    is_steady
        Whether requests come at even distances instead of on their own.
    slo
        Percentile and its limit, or None. [s]
    duration_s, warm_up_s, timeout_s, budget_s
        Length of a run after its warm-up, the warm-up, patience with a request, and length of a whole search. [s]
    usd_per_hour
        Price of what serves, or None. [USD/h]
    """

    url: str
    kind: str = "http"
    rate_per_s: float | None = None
    trace: Path | None = None
    concurrency: int | None = None
    is_search: bool = False
    is_steady: bool = False
    slo: tuple[str, float] | None = None
    duration_s: float = 20.0
    warm_up_s: float = 2.0
    timeout_s: float = 30.0
    budget_s: float = 600.0
    model: str = ""
    body: Path | None = None
    batch: int = 1
    headers: tuple[tuple[str, str], ...] = ()
    speed: float = 1.0
    seed: int = 0
    usd_per_hour: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAnswer:
    """What was measured.

    Parameters
    ----------
    runs
        What was put on, in words, and what came of it.
    found
        Outcome of a search, or None.
    usd_per_1k
        Cost of a thousand requests at the highest rate inside the target, or None. [USD]
    """

    ask: EndpointAsk
    runs: tuple[tuple[str, LoadSummary], ...]
    found: Found | None = None
    usd_per_1k: Decimal | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def is_usable(self) -> bool:
        """Whether any run counts, anything was answered, and nobody broke a search off."""
        is_whole = self.found is None or self.found.why_stopped != INTERRUPTED
        return is_whole and any(not run.why_invalid and run.error_share < 1 for _, run in self.runs)

    @property
    def is_inside(self) -> bool:
        """Whether the target is kept, or there is none."""
        if self.ask.slo is None:
            return True
        if self.found is not None:
            return self.found.highest_per_s is not None
        return all(is_inside(run, *self.ask.slo) for _, run in self.runs)


def measure_endpoint(ask: EndpointAsk, said: Callable[[str], None] = lambda _: None) -> EndpointAnswer:
    """Measure an endpoint; it ends by itself.

    Parameters
    ----------
    said
        Is told what goes on.

    Raises
    ------
    BadSetting
        When it is not clear which load is meant, or a search has no target.
    """
    _check(ask)
    asked = target(ask.url, ask.kind, read_bodies(ask.body), model=ask.model, headers=dict(ask.headers))
    return asyncio.run(_measure(ask, asked, said))


def _check(ask: EndpointAsk) -> None:
    ways = sum(way is not None for way in (ask.rate_per_s, ask.trace, ask.concurrency))
    if ask.is_search:
        if ask.slo is None:
            raise BadSetting(_NO_TARGET, mend="give --slo p99=200ms")
        if ask.trace is not None or ask.concurrency is not None:
            raise BadSetting("a search chooses its own rates", mend="give at most --rate, where it begins")
    elif ways != 1:
        raise BadSetting(
            "it is not clear which load is meant", mend="give one of --rate, --trace, --concurrency, --search"
        )


async def _measure(ask: EndpointAsk, asked: Target, said: Callable[[str], None]) -> EndpointAnswer:
    async with Client(asked) as client:
        if asked.kind == "kserve-v2" and not asked.bodies:
            body = kserve_body(await client.metadata(), ask.batch)
            asked = target(ask.url, ask.kind, [body], headers=dict(ask.headers))
    async with Client(asked) as client:
        _stop_on_terminate()
        if ask.is_search:
            return await _searched(ask, client, said)
        words, found = await _one_run(ask, client)
        return EndpointAnswer(ask=ask, runs=((words, found),), usd_per_1k=_usd(ask, found), notes=_closed_note(ask))


def _stop_on_terminate() -> None:
    """A request to terminate ends the run as Ctrl-C does, where signals can be handled: what is known is told."""
    task = asyncio.current_task()
    if task is not None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _summed(samples: Sequence[Sample], ask: EndpointAsk) -> LoadSummary:
    found = summary(samples, warm_up_s=ask.warm_up_s, target_s=ask.slo[1] if ask.slo else None)
    return replace(found, why_invalid=INTERRUPTED) if is_stopped() else found


async def _one_run(ask: EndpointAsk, client: Client) -> tuple[str, LoadSummary]:
    whole_s = ask.warm_up_s + ask.duration_s
    if ask.concurrency is not None:
        samples = await closed_loop(ask.concurrency, client.send, duration_s=whole_s, timeout_s=ask.timeout_s)
        return f"closed loop, {ask.concurrency} callers", _summed(samples, ask)
    if ask.trace is not None:
        due, words = from_trace(ask.trace, speed=ask.speed, duration_s=whole_s), f"trace {ask.trace.name}"
    else:
        due, words = _due(ask, ask.rate_per_s or 0.0, whole_s), f"{ask.rate_per_s:g}/s"
    samples = await open_loop(due, client.send, timeout_s=ask.timeout_s)
    return words, _summed(samples, ask)


async def _searched(ask: EndpointAsk, client: Client, said: Callable[[str], None]) -> EndpointAnswer:
    assert ask.slo is not None
    name, limit_s = ask.slo

    async def load(rate_per_s: float, duration_s: float) -> LoadSummary:
        due = _due(ask, rate_per_s, ask.warm_up_s + duration_s)
        found = _summed(await open_loop(due, client.send, timeout_s=ask.timeout_s), ask)
        late = found.latency(name)
        said(f"{rate_per_s:.4g}/s: {name} {late.latency_s if late else float('nan'):.4f} s")
        return found

    share = percentile_share(name)
    wanted = Asked(
        percentile=name, share=share, limit_s=limit_s, step_s=ask.duration_s, budget_s=ask.budget_s,
        first_per_s=ask.rate_per_s or first_rate(share, ask.duration_s, ask.budget_s),
    )  # fmt: skip
    found = await search(load, wanted)
    runs = tuple((f"{rate:.4g}/s", run) for rate, run in found.runs)
    return EndpointAnswer(
        ask=ask,
        runs=runs,
        found=found,
        usd_per_1k=_per_1k(ask.usd_per_hour, found.highest_per_s),
        notes=(found.why_stopped,),
    )


def _due(ask: EndpointAsk, rate_per_s: float, duration_s: float) -> list[float]:
    return steady(rate_per_s, duration_s) if ask.is_steady else poisson(rate_per_s, duration_s, seed=ask.seed)


def _usd(ask: EndpointAsk, found: LoadSummary) -> Decimal | None:
    """Cost at a rate that keeps the target; a closed loop's throughput is not one that users can have."""
    if ask.concurrency is not None or (ask.slo and not is_inside(found, *ask.slo)):
        return None
    return _per_1k(ask.usd_per_hour, found.rate_per_s)


def _per_1k(usd_per_hour: Decimal | None, per_s: float | None) -> Decimal | None:
    return infra(Option(name="endpoint", usd_per_hour=usd_per_hour, per_s=per_s), Demand()).usd if per_s else None


def _closed_note(ask: EndpointAsk) -> tuple[str, ...]:
    if ask.concurrency is None:
        return ()
    return (
        "callers that wait for their answer send less while the server is slow: this is no latency that users see, and"
        " about twice the rate that keeps a target",
    )


def summary_data(found: LoadSummary) -> dict[str, Any]:
    """A summary for machines."""
    groups = {"latency": found.tails, "first_token": found.first_token, "between_tokens": found.between_tokens}
    return {
        "requests": found.requests, "rate_per_s": found.rate_per_s, "done_per_s": found.done_per_s,
        "fates": dict(found.fates), "error_share": found.error_share, "tokens": found.tokens,
        "own_delay_p99_s": found.own_delay_p99_s, "why_invalid": found.why_invalid or None, "reasons": list(found.reasons),
        **{
            group: {
                name: {"latency_s": late.latency_s, "bound_s": late.bound_s, "missing": late.missing} for name, late in tails
            }
            for group, tails in groups.items()
        },
    }  # fmt: skip
