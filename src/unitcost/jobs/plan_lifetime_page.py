"""A model's life as a page."""

from __future__ import annotations

from unitcost.facts.estimates import Estimate
from unitcost.jobs.plan_lifetime import LifetimePlan
from unitcost.jobs.plan_words import usd
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, PlanTile, line_chart, table

#: Points of the chart.
_POINTS = 120


def lifetime_page(plan: LifetimePlan) -> PlanPage:
    """Page of a model's life."""
    life, answer = plan.life, plan.answer
    again = f", trained every {life.retrain_every_days} days" if life.retrain_every_days else ""
    passing = "never" if answer.passing_day is None else f"day {answer.passing_day}"
    tiles = [
        PlanTile(
            name="serving passes training", value=passing,
            beside=str(answer.passing_date) if answer.passing_date else f"within {life.life_days} days",
        ),
        PlanTile(name="make cheaper first", value=answer.larger, beside=_tenth(plan)),
        PlanTile(name="training, USD", value=usd(answer.training_usd)),
        PlanTile(name="serving, USD", value=usd(answer.serving_usd)),
    ]  # fmt: skip
    if plan.payback:
        after = plan.payback.after_days
        tiles.append(
            PlanTile(
                name="successor", value=plan.payback.verdict if after is None else f"paid back after {after} days",
                beside=plan.payback.reason,
            )
        )  # fmt: skip
    return PlanPage(
        title="Training against serving",
        subtitle=f"{life.predictions_per_day:,.0f} predictions a day at {life.usd_per_1k:f} USD per 1k{again}",
        messages=plan.messages, tiles=tuple(tiles), sections=(_parts(plan), _course(plan), *_successor(plan), _basis(plan)),
    )  # fmt: skip


def _tenth(plan: LifetimePlan) -> str:
    answer = plan.answer
    return f"10 % off: training {usd(answer.tenth_of_training_usd)}, serving {usd(answer.tenth_of_serving_usd)} USD"


def _parts(plan: LifetimePlan) -> Section:
    rows = [[name, usd(amount)] for name, amount in plan.life.training.parts_usd]
    rows.append(["one training in all", usd(plan.life.training.usd)])
    return Section(
        key="parts", title="Training", question="What does one training of it cost in all?",
        tables=(table(["part", "USD"], rows),),
    )  # fmt: skip


def _course(plan: LifetimePlan) -> Section:
    days = plan.answer.days
    step = max(1, len(days) // _POINTS)
    shown = [*days[::step], *([days[-1]] if (len(days) - 1) % step else [])]
    lines = {
        "training": [(float(day.day), float(day.training_usd)) for day in shown],
        "serving": [(float(day.day), float(day.serving_usd)) for day in shown],
    }
    marks = sorted({1, 7, 30, 90, 180, len(days), *([plan.answer.passing_day] if plan.answer.passing_day else [])})
    rows = [
        [f"{day.day}", usd(day.training_usd), usd(day.serving_usd)] for day in days if day.day in marks
    ]  # fmt: skip
    notes = [
        "Both up to the end of the day. Training is counted when it begins to serve, and again each time it is repeated."
    ]
    if plan.once:
        first = plan.once.passing_day
        notes.append(f"Trained only once, serving would pass it on {'no day' if first is None else f'day {first}'}.")
    return Section(
        key="course", title="Over its life", question="When has serving cost more than training?",
        tables=(table(["end of day", "training, USD", "serving, USD"], rows),),
        charts=(line_chart("course", "Cumulative cost", lines, across="day", up="USD"),), notes=tuple(notes),
    )  # fmt: skip


def _basis(plan: LifetimePlan) -> Section:
    """Each answer with its range and what it stands on."""
    told = plan.estimates
    answers: list[tuple[str, Estimate | None]] = [
        ("day serving passes training", told.passing_day), ("training, USD", told.training_usd),
        ("serving, USD", told.serving_usd), ("10 % off training saves, USD", told.tenth_of_training_usd),
        ("10 % off serving saves, USD", told.tenth_of_serving_usd), ("days to pay back", told.payback_days),
    ]  # fmt: skip
    found = [(name, estimate) for name, estimate in answers if estimate is not None]
    rows = [[name, *(f"{x:,.0f}" for x in (e.low, e.value, e.high)), e.basis] for name, e in found]
    return Section(
        key="basis", title="What it stands on", question="How sure is each answer, and how is it counted?",
        tables=(table(["answer", "low", "expected", "high", "basis"], rows),),
        notes=tuple(f"{name}: {estimate.because}." for name, estimate in found),
    )  # fmt: skip


def _successor(plan: LifetimePlan) -> list[Section]:
    if plan.payback is None or plan.successor is None:
        return []
    found, told = plan.payback, plan.successor
    rows = [[name, usd(amount)] for name, amount in told.spending.parts_usd]
    rows.append(["making it, in all", usd(told.spending.usd)])
    if found.daily_saving_usd is not None:
        rows.append(["saved a day", usd(found.daily_saving_usd)])
    notes = [f"{found.verdict}: {found.reason}."]
    if found.on_day is not None:
        date = plan.life.date_of(found.on_day)
        notes.append(f"That is day {found.on_day} of the life{f', {date}' if date else ''}.")
    return [
        Section(
            key="successor", title="Successor", question="When has a cheaper model paid for itself?",
            tables=(table(["part", "USD"], rows),), notes=tuple(notes),
        )
    ]  # fmt: skip
