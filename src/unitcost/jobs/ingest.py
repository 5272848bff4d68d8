"""Load files into the ledger: find them, read each by its content, keep what is wrong apart."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

from unitcost import readers
from unitcost.errors import BadFile, UnitcostError
from unitcost.facts.paths import printable
from unitcost.facts.source import LoadRecord, Plan, ReadOptions
from unitcost.facts.work import WorkPlan
from unitcost.jobs import fetching
from unitcost.jobs.ahead import Ahead, Arriving, sha256_of
from unitcost.jobs.call_doubts import check_rules, load_notes
from unitcost.jobs.finding import Found, cannot_open, files_to_load, stated
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Claim, Ledger
from unitcost.readers.live import Window

#: Called with the file at work, what is done and how much there is to do (in steps of the reader's choice).
Progress = Callable[[str, int, int], None]
_SCRATCH = "unitcost-"
#: What is said about how files follow each other, not about how one is read.
_RESTATING = ("replace", "version", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOutcome:
    """What came of loading some files.

    `failures` are files that could not be read at all, with the reason; `reject_share` is over all files.
    """

    records: tuple[LoadRecord, ...]
    failures: tuple[tuple[str, UnitcostError], ...]

    @property
    def rows_read(self) -> int:
        """Data rows seen in all files, unchanged files included."""
        return sum(record.rows_read for record in self.records)

    @property
    def rows_rejected(self) -> int:
        """Rows set aside in all files."""
        return sum(record.rows_rejected for record in self.records)

    def exit_code(self, max_rejects: int = 0) -> int:
        """0 in order, 1 when a file could not be read, 3 when more rows were set aside than allowed."""
        if self.failures:
            return 1
        return 3 if self.rows_rejected > max_rejects else 0


def load(
    workspace: Workspace,
    paths: Sequence[str] = (),
    *,
    options: ReadOptions | None = None,
    window: Window | None = None,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
) -> LoadOutcome:
    """Load files, or the `[[load]]` entries of the settings when none are named.

    Each file is one transaction, in their order: killed half-way, the ledger is as before. A file that cannot be read
    does not keep the others out. While one is stored, those after it are read. A live source
    (`prometheus+http://...`) is asked first, before the ledger is opened.

    Parameters
    ----------
    workspace
        Where to work.
    paths
        Files, folders or globs, relative to the current folder, or live sources.
    options
        What the user says about them; wins over the settings.
    window
        Time that live sources are asked for.
    progress
        Told how far each file is.
    ledger
        The workspace's ledger, when it is open already; it stays open.

    Raises
    ------
    UnitcostError
        When there is nothing to load.
    BadSetting, UnknownName
        When an option means nothing.
    """
    _check_options(workspace, options or ReadOptions())
    jobs = files_to_load(workspace, paths, options or ReadOptions())
    if not jobs:
        raise UnitcostError(
            "there is no file to load here", where=", ".join(map(printable, paths)),
            mend="name a file or a folder that holds some",
        )  # fmt: skip
    records: list[LoadRecord] = []
    jobs, failures = _fetched(workspace, jobs, window or Window(), progress)
    if not jobs:
        return LoadOutcome(records=(), failures=tuple(failures))
    insists = bool(options and options.replace)
    names = frozenset(workspace.name(job.file) for job in jobs)
    with nullcontext(ledger) if ledger else workspace.open_ledger(to_write=True) as ledger:
        _clear_scratch(workspace)
        _state_settings(workspace, ledger)
        with _reading(workspace, ledger, jobs, progress) as reading:
            for job, arriving in zip(jobs, reading, strict=True):
                claim = Claim(apart=_other_entries(workspace, job.source), beside=names, insists=insists)
                try:
                    record = _store(workspace, ledger, arriving, claim, progress)
                    doubts = load_notes(ledger, record, workspace.settings.calls)
                    records.append(replace(record, notes=(*record.notes, *doubts)))
                except UnitcostError as error:
                    failures.append((arriving.name, error))
                except OSError as error:
                    failures.append((arriving.name, cannot_open(error, arriving.name)))
    return LoadOutcome(records=tuple(records), failures=tuple(failures))


def _check_options(workspace: Workspace, said: ReadOptions) -> None:
    """Refuse options that mean nothing before a file is opened; a known file would not need them."""
    readers.check_options(said)
    check_rules(workspace.settings.calls, where=workspace.settings.file)
    for number, entry in enumerate(workspace.settings.loads):
        readers.check_options(
            stated(workspace, entry) or ReadOptions(), where=f"{workspace.settings.file}, load[{number}]"
        )


def _fetched(
    workspace: Workspace, jobs: Sequence[Found], window: Window, progress: Progress | None
) -> tuple[list[Found], list[tuple[str, UnitcostError]]]:
    """The same jobs with files only: live sources are asked, and those that fail are told apart."""
    files: list[Found] = []
    failures: list[tuple[str, UnitcostError]] = []
    for job in jobs:
        if job.address is None:
            files.append(job)
            continue
        tell = partial(progress, job.address.shown) if progress else None
        try:
            files.append(replace(job, file=fetching.fetch(workspace, job.address, window, tell)))
        except UnitcostError as error:
            failures.append((job.address.shown, error))
    return files, failures


def _clear_scratch(workspace: Workspace) -> None:
    """Remove what a killed load left; the open ledger keeps other loads away meanwhile."""
    for left in workspace.ledger_path.parent.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)


def _state_settings(workspace: Workspace, ledger: Ledger) -> None:
    ledger.state_charges(workspace.settings.charges, now=workspace.now)
    ledger.state_invoices(workspace.settings.invoices)


def _other_entries(workspace: Workspace, source: str) -> frozenset[str]:
    """Sources that add up with an entry of the settings: the other entries. A call beside them may restate them."""
    paths = frozenset(entry.path for entry in workspace.settings.loads)
    return paths - {source} if source in paths else frozenset()


def _reading(workspace: Workspace, ledger: Ledger, jobs: Sequence[Found], progress: Progress | None) -> Ahead:
    files = [(job, workspace.name(job.file)) for job in jobs]
    folder = workspace.ledger_path.parent
    return Ahead(files, known=ledger.contents(), folder=folder, prefix=_SCRATCH, progress=progress)


def _store(
    workspace: Workspace, ledger: Ledger, arriving: Arriving, claim: Claim, progress: Progress | None
) -> LoadRecord:
    name, source, options = arriving.name, arriving.found.source, arriving.found.options
    sha256, said = arriving.sha256(), _said(options)
    known = ledger.known(name, sha256, source=source, options=options, said=said, claim=claim)
    if known is not None:
        return known

    def hand_over(plan: Plan | WorkPlan) -> LoadRecord:
        return ledger.load(
            plan, file=name, sha256=sha256, source=source, options=options, now=workspace.now, said=said, claim=claim,
            progress=partial(progress, name) if progress else None,
        )  # fmt: skip

    plan = arriving.plan()
    try:
        return hand_over(plan)
    except BadFile:
        if not (isinstance(plan, Plan) and plan.fast):
            raise
    return hand_over(arriving.read(careful=True))


def _said(options: ReadOptions) -> str:
    """What is said about reading a file, as text that stays the same while it does; a rate card by its content."""
    said = {
        f.name: value for f in fields(ReadOptions) if f.name not in _RESTATING and (value := getattr(options, f.name))
    }
    if options.rates and Path(options.rates).is_file():
        said["rates"] = sha256_of(Path(options.rates))
    return json.dumps(said, sort_keys=True)


def as_data(outcome: LoadOutcome) -> dict[str, object]:
    """Outcome as plain data for JSON."""
    return {
        "schema_version": 1,
        "files": [
            {
                "file": record.file, "outcome": record.outcome, "reader": record.reader, "dialect": record.dialect,
                "dataset": record.dataset, "rows_read": record.rows_read, "rows_accepted": record.rows_accepted,
                "rows_rejected": record.rows_rejected, "totals": record.totals, "residues": record.residues,
                "conventions": list(record.conventions), "flags": list(record.flags), "notes": list(record.notes),
                "sha256": record.sha256,
            }
            for record in outcome.records
        ],
        "failures": [
            {"file": file, "what": error.what, "where": error.where, "mend": error.mend} for file, error in outcome.failures
        ],
    }  # fmt: skip


def table(outcome: LoadOutcome) -> tuple[list[str], list[list[str]]]:
    """Headers and rows that say what came of each file."""
    headers = ["file", "reader", "outcome", "rows", "set aside", "billed or effective"]
    rows = [
        [
            record.file, f"{record.reader} ({record.dialect})", record.outcome, f"{record.rows_read:,}",
            f"{record.rows_rejected:,}", _sums(record),
        ]
        for record in outcome.records
    ]  # fmt: skip
    return headers, rows


def _sums(record: LoadRecord) -> str:
    sums = []
    for currency, totals in record.totals.items():
        amount = totals.get("billed_cost") or totals.get("effective_cost") or "0"
        sums.append(f"{amount} {currency}")
    return ", ".join(sums)


def reject_words(outcome: LoadOutcome) -> list[str]:
    """Words about rows that were set aside, one line per file."""
    return [
        f"{record.file}: {record.rows_rejected} of {record.rows_read} rows were set aside; "
        f"`unitcost check --rejects {record.rows_rejected}` lists them"
        for record in outcome.records
        if record.rows_rejected
    ]
