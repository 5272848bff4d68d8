"""What is true about the work of the sample: who held what, how much of it was used, what came out of it, what is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from unitcost import money
from unitcost.samples import work_cards, work_gateway, work_runs, work_serving, work_stores
from unitcost.samples.lines import Line, exact_sum
from unitcost.samples.work import CARDS, TICK_S, TICKS_PER_DAY, TICKS_PER_HOUR, Job, Life, Work
from unitcost.samples.work_cards import Watched
from unitcost.samples.world import World
from unitcost.units import SECONDS_PER_HOUR, SHARE_PLACES

#: What the scheduler's users are charged for an hour of an accelerator [USD].
PRICES = {"h100": "2.6", "l40s": "0.85"}
#: What is charged under the id of a machine and is no capacity.
_NO_CAPACITY = ("storage", "data movement", "LLM API")
USED, IDLE, UNKNOWN, UNALLOCATED = "used", "allocated idle", "use unknown", "unallocated"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTruth:
    """A run of the tracker and what it cost."""

    name: str
    experiment: str
    outcome: str
    accepted: bool | None
    cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTruth:
    """What is true about the work of a sample; money is effective cost in USD unless said otherwise.

    Parameters
    ----------
    states
        Cost of all known machines by what became of it.
    held
        Holder (`source:id`, empty for nobody) -> state -> cost.
    runs, experiments
        Runs of the tracker; experiment -> (cost, accepted results).
    accounts, endings
        Account of the scheduler, and state of a life -> (accelerator-hours, USD at prices of the settings).
    outputs
        Service -> unit -> how many useful ones.
    stored
        Kind -> cost of keeping it.
    """

    states: dict[str, Decimal]
    held: dict[str, dict[str, Decimal]]
    runs: tuple[RunTruth, ...]
    experiments: dict[str, tuple[Decimal, int]]
    accounts: dict[str, tuple[Decimal, Decimal]]
    endings: dict[str, tuple[Decimal, Decimal]]
    outputs: dict[str, dict[str, int]]
    stored: dict[str, Decimal]


def work_truth(world: World, work: Work, watched: list[Watched], lines: Iterable[Line]) -> WorkTruth:
    """Truth about the work, from the generator alone.

    Parameters
    ----------
    lines
        Lines of all bills in USD, as they were written.
    """
    charged: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.label.line == "usage":
            charged[line.resource].append(line)
    held = _held(work, watched, charged)
    states: dict[str, Decimal] = dict.fromkeys((USED, IDLE, UNKNOWN, UNALLOCATED), money.ZERO)
    for parts in held.values():
        for state, amount in parts.items():
            states[state] = money.add([states[state], amount])
    runs = tuple(_runs(world, work, held))
    return WorkTruth(
        states=states, held=held, runs=runs, experiments=_experiments(runs),
        accounts=_hours(work, lambda job, life: job.account), endings=_hours(work, lambda job, life: _ending(life)),
        outputs=_outputs(world), stored=_stored(world, charged),
    )  # fmt: skip


def _held(work: Work, watched: list[Watched], charged: Mapping[str, list[Line]]) -> dict[str, dict[str, Decimal]]:
    """Cost by holder and state; what nobody held stands under the empty name."""
    lives: dict[str, dict[str, list[Life]]] = defaultdict(lambda: defaultdict(list))
    for job in (*work.jobs, *work.pods):
        for life in job.lives:
            if life.end is not None:
                lives[life.machine.node][job.key].append(life)
    told = _told(lives)
    found: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for seen in watched:
        own_lives = lives[seen.machine.node]
        bill = [line for line in charged[seen.machine.resource] if line.label.driver not in _NO_CAPACITY]
        windows = [told[source] for source in {_source(key) for key in own_lives} or told.keys()]
        window = (min(start for start, _ in windows), max(end for _, end in windows))
        nobodys = sum((_part(line, [window]) for line in bill), Fraction(0))
        found[""][UNKNOWN] += sum(exact_sum(line.effective) for line in bill) - nobodys
        for key, own in own_lives.items():
            amount = sum((_part(line, [(life.start, life.end or 0) for life in own]) for line in bill), Fraction(0))
            nobodys -= amount
            for state, share in _shares(seen, own).items():
                found[key][state] += amount * share
        found[""][UNALLOCATED] += nobodys
    return {
        key: {state: _decimal(amount) for state, amount in parts.items() if amount}
        for key, parts in sorted(found.items())
    }


def _told(lives: Mapping[str, Mapping[str, list[Life]]]) -> dict[str, tuple[int, int]]:
    """Source -> whole days from the first to the last of which it tells who held a machine. [ticks]."""
    found: dict[str, tuple[int, int]] = {}
    for by_key in lives.values():
        for key, own in by_key.items():
            ends = [life.end or 0 for life in own]
            first, last = found.get(_source(key), (own[0].start, 0))
            found[_source(key)] = (min(first, *(life.start for life in own)), max(last, *ends))
    return {
        source: (first - first % TICKS_PER_DAY, last + -last % TICKS_PER_DAY)
        for source, (first, last) in found.items()
    }  # fmt: skip


def _source(key: str) -> str:
    return key.partition(":")[0]


def _part(line: Line, lives: Iterable[tuple[int, int]]) -> Fraction:
    """Cost of the part of each charge in which some lives, from and to, held all of its machine. [10^-12 USD]."""
    length = line.hours * TICKS_PER_HOUR
    starts = line.starts * TICKS_PER_HOUR
    found = 0
    for start, end in lives:
        overlap = np.minimum(starts + length, end) - np.maximum(starts, start)
        rows = overlap > 0
        found += sum(a * b for a, b in zip(line.effective[rows].tolist(), overlap[rows].tolist(), strict=True))
    return Fraction(found, length) if found else Fraction(0)


def _shares(seen: Watched, lives: list[Life]) -> dict[str, Fraction]:
    """Shares of what was held by what became of it; measured shares have six places."""
    use = work_cards.use_of(seen, lives)
    if use is None:
        return {UNKNOWN: Fraction(1)}
    busy, known = (Fraction(money.round_places(_ratio(share), SHARE_PLACES)) for share in use)
    return {USED: known * busy, IDLE: known * (1 - busy), UNKNOWN: 1 - known}


def _runs(world: World, work: Work, held: Mapping[str, Mapping[str, Decimal]]) -> Iterable[RunTruth]:
    for run in work_runs.tracked(world, work):
        yield RunTruth(
            name=run.job.name, experiment=run.job.run, outcome=run.outcome, accepted=run.accepted,
            cost=money.add(held.get(run.job.key, {}).values()),
        )  # fmt: skip


def _experiments(runs: Iterable[RunTruth]) -> dict[str, tuple[Decimal, int]]:
    groups: dict[str, list[RunTruth]] = defaultdict(list)
    for run in runs:
        groups[run.experiment].append(run)
    return {
        name: (money.add(run.cost for run in found), sum(run.accepted is True for run in found))
        for name, found in sorted(groups.items())
    }


def _ending(life: Life) -> str:
    return {"COMPLETED": "completed", "PREEMPTED": "preempted", "TIMEOUT": "timeout", "FAILED": "failed",
            "OUT_OF_MEMORY": "failed"}.get(life.state, "cancelled")  # fmt: skip


def _hours(work: Work, name_of: Callable[[Job, Life], str]) -> dict[str, tuple[Decimal, Decimal]]:
    """Accelerator-hours of the scheduler's jobs, and their cost at the prices of the settings."""
    ticks: dict[tuple[str, str], int] = defaultdict(int)
    for job in work.jobs:
        for life in job.lives:
            if life.end is not None:
                kind = CARDS[life.machine.instance_type][0]
                ticks[name_of(job, life), kind] += (life.end - life.start) * life.machine.cards
    found: dict[str, tuple[Decimal, Decimal]] = {}
    for (name, kind), count in sorted(ticks.items()):
        hours, usd = found.get(name, (money.ZERO, money.ZERO))
        more = _ratio(Fraction(count * TICK_S, SECONDS_PER_HOUR))
        found[name] = (money.add([hours, more]), money.add([usd, money.multiply(more, Decimal(PRICES[kind]))]))
    return found


def _outputs(world: World) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {
        name: {"requests": sum(days)} for name, days in work_gateway.invoked(world).items()
    }
    found[work_gateway.LOGGED] = {"requests": work_gateway.logged(world)["requests"]}
    for server in work_serving.servers(world):
        if server.model:
            counted = work_serving.counted(world, server)
            name = f"serving/{server.deployment}"
            found[name] = {
                unit: work_serving.seen(counted[metric, labels])
                for unit, metric, labels in (
                    ("input tokens", "vllm:prompt_tokens_total", ()),
                    ("output tokens", "vllm:generation_tokens_total", ()),
                    ("requests", "vllm:request_success_total", (("finished_reason", "stop"),)),
                )
            }
    return found


def _stored(world: World, charged: Mapping[str, list[Line]]) -> dict[str, Decimal]:
    """Charges of each bucket that the inventory lists, divided by how much was kept and how long."""
    kept: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for thing in work_stores.things(world):
        kept[thing.bucket][thing.kind] += thing.kept(world)
    found: dict[str, Fraction] = defaultdict(Fraction)
    for bucket, kinds in kept.items():
        cost = sum(exact_sum(line.effective) for line in charged[bucket])
        for kind, amount in kinds.items():
            found[kind] += Fraction(cost * amount, sum(kinds.values()) or 1)
    return {kind: _decimal(amount) for kind, amount in sorted(found.items())}


def _ratio(share: Fraction) -> Decimal:
    return money.divide(Decimal(share.numerator), Decimal(share.denominator))


def _decimal(units: Fraction) -> Decimal:
    """Amount of a count of 10^-12."""
    return money.from_units(round(units))
