"""Plan a model's life: training against serving, from stated amounts or from a version in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost import money
from unitcost.economics.lifetime import LifeAnswer, Lifetime, Payback, Spending, Successor, follow, payback
from unitcost.errors import UnitcostError, UnknownName
from unitcost.facts.drivers import SERVING
from unitcost.facts.estimates import EstimateBasis
from unitcost.facts.rules import STATED_PROVIDER
from unitcost.facts.runs import RunAnswer
from unitcost.facts.spend import Selection, SpendRow
from unitcost.jobs.asking import Asking
from unitcost.jobs.capacity import work_answers
from unitcost.jobs.life_estimates import LifeEstimates, life_estimates
from unitcost.jobs.review import attribute
from unitcost.jobs.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class LifetimePlan:
    """Answer.

    Parameters
    ----------
    once, again
        The life as asked, and with training repeated, where that was asked: training once tells how much repeating it adds.
    payback
        When a successor has paid for itself; None = none was given.
    estimates
        The answers with a low and a high value, what each stands on, and its formula.
    """

    life: Lifetime
    estimates: LifeEstimates
    answer: LifeAnswer
    once: LifeAnswer | None
    payback: Payback | None
    successor: Successor | None
    messages: tuple[str, ...]


def plan_lifetime(
    life: Lifetime, successor: Successor | None = None, *, messages: Sequence[str] = (), basis: EstimateBasis = "quoted"
) -> LifetimePlan:
    """Training against serving over a life, and when a successor has paid for itself.

    Parameters
    ----------
    basis
        What the cost of training stands on: `quoted` as given, `measured` from the ledger.
    """
    answer, paid = follow(life), payback(life, successor) if successor else None
    return LifetimePlan(
        life=life, answer=answer, estimates=life_estimates(life, answer, paid, successor, basis=basis),
        once=follow(replace(life, retrain_every_days=None)) if life.retrain_every_days else None,
        payback=paid, successor=successor, messages=tuple(messages),
    )  # fmt: skip


def spending_of(workspace: Workspace, version: str) -> tuple[Spending, list[str]]:
    """What making a version of a model has cost: all runs of its experiment, and charges that the settings state for it.

    Failed runs, sweeps and evaluation are among the runs; labelling is such a charge.

    Returns
    -------
    Spending and list of str
        Parts by what became of the runs; and what a reader should know.

    Raises
    ------
    UnknownName
        When the ledger has no such version; the message names the near ones.
    UnitcostError
        When it does not know which run made it, or what any run cost.
    """
    with workspace.open_ledger() as ledger:
        versions = ledger.work.versions()
        if version not in {name for name, _ in versions}:
            raise UnknownName("model version in the ledger", version, [name for name, _ in versions])
        runs = {run for name, run in versions if name == version and run}
        ledger.state_charges(workspace.settings.charges, now=workspace.now)
        attribute(ledger, workspace.settings)
        asking = Asking.of(ledger, workspace, Selection(), workspace.settings.currency)
        answers = work_answers(asking, asking.amounts())
        stated = asking.spend(("provider", "experiment", "driver", "service"))
    found = list(answers.runs) if answers else []
    groups = {answer.group for answer in found if _made(answer, runs)}
    mine = [answer for answer in found if answer.group in groups]
    if not mine:
        raise UnitcostError(
            "the ledger does not know which runs made it", where=version,
            mend="load the runs of your tracker, with the run of each model version, or give --training-usd",
        )  # fmt: skip
    return _spending(mine, _stated_for(groups, stated), version)


def _stated_for(groups: set[str], rows: Sequence[SpendRow]) -> dict[str, Decimal]:
    """Charges stated in the settings for an experiment, such as labelling, by name; those for serving are no training."""
    found: dict[str, Decimal] = {}
    for row in rows:
        provider, experiment, driver, what = row.keys
        if provider == STATED_PROVIDER and experiment in groups and driver != SERVING and row.currency == "USD":
            found[what or "stated"] = money.add([found.get(what or "stated", money.ZERO), row.amount])
    return found


def _made(answer: RunAnswer, runs: set[str]) -> bool:
    key = answer.run.workload
    return bool(runs & {key, key.partition(":")[2], answer.run.name})


def _spending(
    answers: Sequence[RunAnswer], stated: dict[str, Decimal], version: str
) -> tuple[Spending, list[str]]:  # fmt: skip
    parts = dict(stated)
    unpriced = 0
    for answer in answers:
        if answer.cost.value is None or answer.cost.unit != "USD":
            unpriced += 1
            continue
        part = f"{answer.outcome} {answer.run.kind or 'run'}s"
        parts[part] = money.add([parts.get(part, money.ZERO), answer.cost.value])
    if len(answers) == unpriced:
        raise UnitcostError(
            "no run of it has a cost in USD", where=version, mend="load the bill, or give prices under [work] prices"
        )
    said = "1 run has no cost in USD and is" if unpriced == 1 else f"{unpriced} runs have no cost in USD and are"
    messages = [f"{said} not counted."] if unpriced else []
    return Spending(parts_usd=tuple(sorted(parts.items()))), messages
