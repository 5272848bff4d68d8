"""What agrees, what does not, and which export would answer what cannot be answered yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from unitcost.facts.source import Reject
from unitcost.facts.spend import Selection
from unitcost.jobs.review import review
from unitcost.jobs.workspace import Workspace
from unitcost.report.model import Report

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question: whether it can be answered, and what would help."""

    question: str
    verdict: Verdict
    answer: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """All checks, and the rows that were set aside."""

    checks: tuple[Check, ...]
    rejects: tuple[tuple[str, Reject], ...]
    report: Report

    @property
    def fails(self) -> bool:
        """Whether a threshold was passed."""
        return any(check.verdict == "fail" for check in self.checks)


def check(workspace: Workspace, selection: Selection, *, min_owned: float = 0.0, rejects: int = 20) -> CheckOutcome:
    """Check a ledger.

    Parameters
    ----------
    min_owned
        Share of the spend that must have a team.
    rejects
        How many set-aside rows to return.
    """
    report = review(workspace, selection)
    with workspace.open_ledger() as ledger:
        aside = ledger.rejects(limit=rejects)
        rejected = sum(load.rows_rejected for load in ledger.loads())
        outputs = bool(ledger.outputs(selection))
    answers = report.answers
    checks = [
        _closing(report),
        Check(
            question="Was every row accepted?", verdict="warn" if rejected else "ok",
            answer=f"{rejected} rows were set aside" if rejected else "yes",
            mend="mend the rows in the export and load it again" if rejected else "",
        ),
        *_currencies(report),
        *_owned(answers, min_owned),
        *_drivers(answers),
        *_splits(answers),
        Check(
            question="What does one useful unit cost?", verdict="ok" if outputs else "warn",
            answer="outputs are loaded" if outputs else "not known: no outputs are loaded",
            mend="" if outputs else "export a csv `service, day, unit, quantity` and load it",
        ),
    ]  # fmt: skip
    return CheckOutcome(checks=tuple(checks), rejects=tuple(aside), report=report)


def _closing(report: Report) -> Check:
    question = "Does the ledger agree with the invoices?"
    rows: list[dict[str, Any]] = report.answers["closing"]
    known = [row for row in rows if row["invoice_total"] is not None]
    wrong = [row for row in known if row["difference"] not in ("0", None)]
    if wrong:
        text = "; ".join(f"{r['invoice']} differs by {r['difference']} {r['currency']}" for r in wrong)
        return Check(
            question=question,
            verdict="fail",
            answer=text,
            mend="load what is missing, or correct the [[invoice]] total",
        )
    if not known:
        return Check(
            question=question, verdict="warn", answer="not known: no invoice total is given",
            mend="state totals under [[invoice]], or load the provider's invoice detail",
        )  # fmt: skip
    some = f"{len(known)} of {len(rows)} agree to the last place" + (
        "" if len(known) == len(rows) else "; the others have no total"
    )
    return Check(question=question, verdict="ok", answer=some)


def _currencies(report: Report) -> list[Check]:
    if len(report.currencies) < 2:
        return []
    return [
        Check(
            question="Can everything be added?",
            verdict="warn",
            answer=f"no: {', '.join(report.currencies)} stay apart",
            mend="give dated rates under [fx]",
        )
    ]


def _owned(answers: dict[str, Any], min_owned: float) -> list[Check]:
    checks = []
    before = " before shared cost is divided" if answers["splits"] else ""
    for unit, share in answers["owned_share"]["team"].items():
        value = float(share) if share is not None else 0.0
        low = value < min_owned
        checks.append(
            Check(
                question=f"Which share of the {unit} spend has a team?",
                verdict="fail" if low else "ok" if value == 1 else "warn",
                answer=f"{value:.1%}" + before + (f", less than {min_owned:.1%}" if low else ""),
                mend=""
                if value == 1
                else "see the section Untagged of the report; add aliases or rules under [owners.team]",
            )
        )
    return checks


def _splits(answers: dict[str, Any]) -> list[Check]:
    if not answers["splits"] and not answers["split_notes"]:
        return []
    notes = [f"{note['split']}: {note['says']}" for note in answers["split_notes"]]
    return [
        Check(
            question="Is shared cost divided as the settings say?",
            verdict="warn" if notes else "ok",
            answer="; ".join(notes) or "yes",
            mend="correct these [[split]] entries, or load what they need" if notes else "",
        )
    ]


def _largest(largest: str | None, firm: bool) -> str:
    if not largest:
        return "not known: no rule placed any of it"
    return f"largest: {largest}" + ("" if firm else ", but what is unknown could change that")


def _drivers(answers: dict[str, Any]) -> list[Check]:
    checks = []
    for unit, firm in answers["firm"].items():
        largest = answers["largest_driver"][unit]
        checks.append(
            Check(
                question=f"What is the {unit} spend for?",
                verdict="ok" if firm else "warn",
                answer=_largest(largest, firm),
                mend="" if firm else "tag the unknown charges, or place them with [[drivers]]",
            )
        )
    return checks
