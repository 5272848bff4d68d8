"""Load files into the ledger: find them, read each by its content, keep what is wrong apart."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from unitcost import readers
from unitcost.errors import BadFile, UnitcostError
from unitcost.facts.rules import LoadEntry
from unitcost.facts.source import LoadRecord, Plan, ReadOptions
from unitcost.facts.work import WorkPlan
from unitcost.jobs import fetching
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Claim, Ledger
from unitcost.readers.live import Address, Window, address_of
from unitcost.units import MIB

#: Called with the file at work, what is done and how much there is to do (in steps of the reader's choice).
Progress = Callable[[str, int, int], None]
_SCRATCH = "unitcost-"
#: What is said about how files follow each other, not about how one is read.
_RESTATING = ("replace", "version", "part")
_SKIPPED_SUFFIXES = {".toml", ".md", ".duckdb", ".wal", ".html", ".png", ".py", ".sql", ".pdf", ".xlsx"}


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
) -> LoadOutcome:
    """Load files, or the `[[load]]` entries of the settings when none are named.

    Each file is one transaction: killed half-way, the ledger is as before. A file that cannot be read
    does not keep the others out. A live source (`prometheus+http://...`) is asked first, before the ledger is opened.

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

    Raises
    ------
    UnitcostError
        When there is nothing to load.
    BadSetting, UnknownName
        When an option means nothing.
    """
    _check_options(workspace, options or ReadOptions())
    jobs = list(_files(workspace, paths, options or ReadOptions()))
    if not jobs:
        raise UnitcostError(
            "there is no file to load here", where=", ".join(paths), mend="name a file or a folder that holds some"
        )
    records: list[LoadRecord] = []
    files, failures = _fetched(workspace, jobs, window or Window(), progress)
    if not files:
        return LoadOutcome(records=(), failures=tuple(failures))
    insists = bool(options and options.replace)
    names = frozenset(workspace.name(file) for file, _, _ in files)
    with workspace.open_ledger(to_write=True) as ledger:
        _clear_scratch(workspace)
        _state_settings(workspace, ledger)
        for file, source, said in files:
            claim = Claim(apart=_other_entries(workspace, source), beside=names, insists=insists)
            try:
                records.append(_load_file(workspace, ledger, file, source, said, claim, progress))
            except UnitcostError as error:
                failures.append((workspace.name(file), error))
    return LoadOutcome(records=tuple(records), failures=tuple(failures))


def _check_options(workspace: Workspace, said: ReadOptions) -> None:
    """Refuse options that mean nothing before a file is opened; a known file would not need them."""
    readers.check_options(said)
    for number, entry in enumerate(workspace.settings.loads):
        stated = _stated(workspace, entry) or ReadOptions()
        readers.check_options(stated, where=f"{workspace.settings.file}, load[{number}]")


_Job = tuple[Path | Address, str, ReadOptions]


def _fetched(
    workspace: Workspace, jobs: Sequence[_Job], window: Window, progress: Progress | None
) -> tuple[list[tuple[Path, str, ReadOptions]], list[tuple[str, UnitcostError]]]:
    """The same jobs with files only: live sources are asked, and those that fail are told apart."""
    files: list[tuple[Path, str, ReadOptions]] = []
    failures: list[tuple[str, UnitcostError]] = []
    for place, source, said in jobs:
        if isinstance(place, Path):
            files.append((place, source, said))
            continue
        tell = partial(progress, place.shown) if progress else None
        try:
            files.append((fetching.fetch(workspace, place, window, tell), source, said))
        except UnitcostError as error:
            failures.append((place.shown, error))
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


def _load_file(
    workspace: Workspace, ledger: Ledger, file: Path, source: str, options: ReadOptions, claim: Claim,
    progress: Progress | None,
) -> LoadRecord:  # fmt: skip
    name = workspace.name(file)

    def tell(done: int, total: int) -> None:
        if progress:
            progress(name, done, total)

    if not file.is_file():
        raise BadFile("there is no such file", where=name, mend="check the path")
    sha256 = _sha256(file)
    said = _said(options)
    known = ledger.known(name, sha256, source=source, options=options, said=said, claim=claim)
    if known is not None:
        return known

    def hand_over(plan: Plan | WorkPlan) -> LoadRecord:
        return ledger.load(
            plan, file=name, sha256=sha256, source=source, options=options, now=workspace.now, said=said, claim=claim,
            progress=tell,
        )  # fmt: skip

    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=workspace.ledger_path.parent) as scratch:
        workdir = Path(scratch)
        plan = readers.read(file, options, workdir=workdir, progress=tell)
        try:
            return hand_over(plan)
        except BadFile:
            if not (isinstance(plan, Plan) and plan.fast):
                raise
        return hand_over(readers.read(file, options, workdir=workdir, progress=tell, careful=True))


def _said(options: ReadOptions) -> str:
    """What is said about reading a file, as text that stays the same while it does; a rate card by its content."""
    said = {
        f.name: value for f in fields(ReadOptions) if f.name not in _RESTATING and (value := getattr(options, f.name))
    }
    if options.rates and Path(options.rates).is_file():
        said["rates"] = _sha256(Path(options.rates))
    return json.dumps(said, sort_keys=True)


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(4 * MIB):
            digest.update(block)
    return digest.hexdigest()


def _files(workspace: Workspace, paths: Sequence[str], said: ReadOptions) -> Iterator[_Job]:
    """What to load in sorted order, each once, with the source it belongs to and what is said about it."""
    entries = workspace.settings.loads
    if not paths and not entries:
        raise UnitcostError(
            "there is nothing to load", where=str(workspace.folder),
            mend="name files (`unitcost load bills/`), or run `unitcost init` to write [[load]] entries",
        )  # fmt: skip
    seen: set[Path | Address] = set()
    if paths:
        for path in paths:
            for place in _places(path):
                entry = _entry_of(workspace, place)
                source = entry.path if entry else place.shown if isinstance(place, Address) else path
                if _new(seen, place):
                    yield place, source, merge(_stated(workspace, entry), said)
        return
    for entry in entries:
        for place in _places(entry.path, workspace.folder):
            if _new(seen, place):
                yield place, entry.path, merge(_stated(workspace, entry), said)


def _places(path: str, folder: Path | None = None) -> Sequence[Path | Address]:
    """What a path or the address of a live source means."""
    address = address_of(path)
    if address:
        return [address]
    return _expand(folder / path if folder else Path(path))


def _new(seen: set[Path | Address], place: Path | Address) -> bool:
    resolved = place.resolve() if isinstance(place, Path) else place
    if resolved in seen:
        return False
    seen.add(resolved)
    return True


def _entry_of(workspace: Workspace, place: Path | Address) -> LoadEntry | None:
    if isinstance(place, Address):
        return next((entry for entry in workspace.settings.loads if address_of(entry.path) == place), None)
    name = workspace.name(place)
    return next((entry for entry in workspace.settings.loads if fnmatch(name, entry.path)), None)


def _stated(workspace: Workspace, entry: LoadEntry | None) -> ReadOptions | None:
    """Options of an entry; the rate card that it names lies beside the settings."""
    if entry is None or not entry.options.rates:
        return entry.options if entry else None
    return replace(entry.options, rates=str(workspace.folder / entry.options.rates))


def merge(stated: ReadOptions | None, said: ReadOptions) -> ReadOptions:
    """Options of a `[[load]]` entry, overruled by those of the call that say something."""
    if stated is None:
        return said
    overrules = {f.name: getattr(said, f.name) for f in fields(ReadOptions) if getattr(said, f.name)}
    return replace(stated, **overrules)


def _expand(path: Path) -> list[Path]:
    """Files that a path, folder or glob means, sorted; a path that matches nothing stands for itself."""
    if path.is_dir():
        return sorted(f for f in path.rglob("*") if f.is_file() and loadable(f.relative_to(path)))
    if path.exists():
        return [path]
    pattern = str(path)
    if not any(sign in pattern for sign in "*?["):
        return [path]
    anchor = Path(path.anchor)
    found = anchor.glob(str(path.relative_to(anchor) if path.is_absolute() else path))
    return sorted(f for f in found if f.is_file()) or [path]


def loadable(path: Path) -> bool:
    """Whether a file found in a folder could be data: not hidden, no settings, no page, no program."""
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and path.suffix.lower() not in _SKIPPED_SUFFIXES


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
