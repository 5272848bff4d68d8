"""What runs cost, what became of them, and what one accepted result costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

from unitcost import money
from unitcost.economics.run_effort import lives_of, run_effort, spot_figures
from unitcost.economics.shared_jobs import share_of
from unitcost.economics.sweeps import duplicates_of, with_pruning
from unitcost.facts.runs import GroupAnswer, HeldLife, Life, OnDemand, Run, RunAnswer
from unitcost.figure import Figure, figure_id, ratio, total
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

_MICROSECOND = timedelta(microseconds=1)
#: An attempt, and the price of an hour of one of what it held; None = unpriced. [USD / hour]
PricedLife = tuple[HeldLife, Decimal | None]


def held_us(life: HeldLife) -> int | None:
    """How long an attempt held something; none at all when it never started, None when its end is not known."""
    if life.status == "never started":
        return 0
    if life.started_at is None or life.ended_at is None:
        return None
    return max(0, (life.ended_at - life.started_at) // _MICROSECOND)


def seconds_of(life: HeldLife) -> Decimal:
    """What an attempt held, none while its end is not known. [accelerator-seconds]."""
    length = money.divide(Decimal(held_us(life) or 0), Decimal(MICROSECONDS_PER_SECOND))
    return money.multiply(life.quantity, length)


def held_cost(name: str, lives: Sequence[PricedLife], *, at: str) -> Figure:
    """Cost of all attempts of a run at prices of the settings; without a value, and with the reason, where one has none.

    Notes
    -----
    ``sum(accelerator_seconds * usd_per_hour) / 3600``
    """
    label = f"{name}, at prices of the settings"
    started = [(life, price) for life, price in lives if held_us(life)]
    reason = _doubt(lives, started)
    if reason:
        return Figure(
            id=figure_id("run", name, "cost", at=at), value=None, unit="USD", basis="unknown", op="none",
            formula="no value", note=reason, label=label,
        )  # fmt: skip
    by_price: dict[Decimal, list[HeldLife]] = defaultdict(list)
    for life, price in started:
        by_price[price or money.ZERO].append(life)
    parts = tuple(_at_price(name, price, found, at) for price, found in sorted(by_price.items()))
    return total(figure_id("run", name, "cost", at=at), parts, unit="USD", label=label)


def _doubt(lives: Sequence[PricedLife], started: Sequence[PricedLife]) -> str:
    if not lives:
        return "nothing tells what it held"
    if any(held_us(life) is None for life, _ in lives):
        return "an attempt has no end: still running?"
    return "what it held has no price" if any(price is None for _, price in started) else ""


def _at_price(name: str, price: Decimal, lives: Sequence[HeldLife], at: str) -> Figure:
    def given(what: str, value: Decimal, unit: str, formula: str) -> Figure:
        return Figure(
            id=figure_id("run", name, str(price), what, at=at), value=value, unit=unit, basis="measured", op="given",
            formula=formula, label=what,
        )  # fmt: skip

    seconds = given(
        "held", money.add(seconds_of(life) for life in lives), "accelerator-seconds", "told by schedulers and trackers"
    )
    hour = given("hour", Decimal(SECONDS_PER_HOUR), "s", "definition")
    usd = given("price", price, "USD / accelerator-hour", "price of the settings")
    product = Figure(
        id=figure_id("run", name, str(price), "product", at=at),
        value=money.multiply(seconds.value or money.ZERO, price), unit="USD", basis="derived", op="product",
        formula="held seconds x price of an hour", inputs=(seconds, usd), label=name,
    )  # fmt: skip
    return ratio(figure_id("run", name, str(price), "cost", at=at), product, hour, unit="USD", label=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known about runs besides their tracker's word.

    Parameters
    ----------
    bills
        Job -> what the bill says that it held; the bill wins over prices of the settings.
    lives
        Job -> its attempts.
    jobs
        Run -> job of a scheduler that it is part of; a run that is missing held what it held itself.
    sharers
        Job -> runs that were made in it, where there are several.
    accepted
        Run -> whether its result counts, as the rule of the settings or the source says.
    on_demand
        Job that held spot capacity -> price of one accelerator on demand.
    """

    bills: Mapping[str, Figure]
    lives: Mapping[str, Sequence[PricedLife]]
    accepted: Mapping[str, bool | None]
    jobs: Mapping[str, str] = field(default_factory=dict)
    sharers: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    on_demand: Mapping[str, OnDemand] = field(default_factory=dict)


def run_answers(runs: Sequence[Run], known: Known, *, at: str) -> list[RunAnswer]:
    """What each run cost, what became of it, and what its time went into, the dearest first."""
    names = {run.workload: run.name or run.workload for run in runs}
    repeated = duplicates_of(runs)
    answers = [
        _answer(
            run, known, at=at,
            group=run.experiment or names.get(run.parent or "", "") or run.project or "(no experiment)",
            outcome="duplicate" if run.workload in repeated else run.status,
        )
        for run in runs
    ]  # fmt: skip
    answers = with_pruning(answers, at=at)
    return sorted(answers, key=lambda answer: (-(answer.cost.value or money.ZERO), answer.run.workload))


def _answer(run: Run, known: Known, *, group: str, outcome: str, at: str) -> RunAnswer:
    name = run.workload
    job = known.jobs.get(name, name)
    sharers, held, bill = known.sharers.get(job, ()), known.lives.get(job, ()), known.bills.get(job)
    whole = bill or held_cost(job if sharers else name, held, at=at)
    hours = money.divide(money.add(seconds_of(life) for life, _ in held), Decimal(SECONDS_PER_HOUR))
    answer = RunAnswer(
        run=run, group=group, outcome=outcome, accepted=known.accepted[name], cost=whole, from_bill=bill is not None,
        gpu_hours=hours, no_effort="nothing tells what it held", lasted_us=_lasted_us(run, () if sharers else held),
    )  # fmt: skip
    if sharers:
        mine = share_of(run, sharers, whole, at=at)
        return replace(
            answer, cost=mine, gpu_hours=_part_of(hours, whole, mine), shared_by=len(sharers),
            no_effort=f"{len(sharers)} runs share its job",
        )  # fmt: skip
    if not held:
        return answer
    lives = lives_of(held)
    effort, why = run_effort(name, lives, whole, at=at)
    price = known.on_demand.get(job)
    spot = spot_figures(name, lives, whole, price, at=at) if price else None
    return replace(answer, effort=effort, no_effort=why, spot=spot)


def _lasted_us(run: Run, held: Sequence[PricedLife]) -> int | None:
    """How long a run lasted over its attempts, or from its start to its end where these are not its own."""
    lengths = [life.held_us for life in lives_of(held)] or [_life(_whole(run)).held_us]
    known = [length for length in lengths if length is not None]
    return sum(known) if len(known) == len(lengths) else None


def _part_of(hours: Decimal, whole: Figure, mine: Figure) -> Decimal:
    """Hours in proportion to the cost of a part."""
    if not whole.value or mine.value is None:
        return money.ZERO
    return money.divide(money.multiply(hours, mine.value), whole.value)


def _whole(run: Run) -> HeldLife:
    return HeldLife(
        attempt=1, status=run.status, accelerator="", pricing_category="", quantity=money.ZERO, started_at=run.started_at,
        ended_at=run.ended_at, startup_s=None, start_step=None, end_step=None, kept_step=None,
    )  # fmt: skip


def _life(held: HeldLife) -> Life:
    return Life(
        attempt=held.attempt, status=held.status, quantity=held.quantity, started_at=held.started_at,
        ended_at=held.ended_at, usd_per_hour=None,
    )  # fmt: skip


def group_answers(answers: Iterable[RunAnswer], *, at: str) -> list[GroupAnswer]:
    """Cost per accepted result of each group: everything that was spent over what was accepted, the dearest first."""
    groups: dict[tuple[str, str], list[RunAnswer]] = defaultdict(list)
    for answer in answers:
        groups[answer.group, answer.cost.unit].append(answer)
    made = [_group(name, unit, found, at) for (name, unit), found in groups.items()]
    return sorted(made, key=lambda group: (-(group.cost.value or money.ZERO), group.group))


def _group(name: str, unit: str, answers: Sequence[RunAnswer], at: str) -> GroupAnswer:
    known = tuple(answer.cost for answer in answers if answer.cost.value is not None)
    cost = total(figure_id("runs", name, unit, at=at), known, unit=unit, label=f"all runs of {name}")
    count = sum(answer.accepted is True for answer in answers)
    accepted = Figure(
        id=figure_id("runs", name, "accepted", at=at), value=Decimal(count), unit="accepted results", basis="measured",
        op="given", formula="runs that are accepted", label=f"accepted of {name}",
    )  # fmt: skip
    unpriced = sum(answer.cost.value is None and answer.run.status != "never started" for answer in answers)
    saved = tuple(f for answer in answers if (f := answer.pruning_saved) is not None and f.value is not None)
    saved_id = figure_id("runs", name, "pruning", unit, at=at)
    return GroupAnswer(
        pruning_saved=total(saved_id, saved, unit=unit, label=f"saved by pruning in {name}") if saved else None,
        group=name, runs=len(answers), accepted=accepted, cost=cost, unpriced=unpriced,
        per_accepted=ratio(
            figure_id("runs", name, "per-accepted", unit, at=at), cost, accepted, unit=f"{unit}/accepted result",
            label=f"{name} per accepted result", empty="no accepted unit",
        ),
    )  # fmt: skip
