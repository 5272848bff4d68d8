"""Requests to plan with: traces, logs that the readers of calls know, and the calls of the ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from unitcost.errors import BadFile, UnitcostError, UnknownName
from unitcost.facts.arrivals import RawArrivals, RefusedRow
from unitcost.facts.call_arrivals import CallArrival
from unitcost.facts.rules import Settings
from unitcost.jobs.ingest import load
from unitcost.jobs.workspace import Workspace
from unitcost.readers import traces
from unitcost.serving.arrivals import checked
from unitcost.serving.traces import Trace
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_DAY

#: What `--calls` takes for the calls of every model.
ALL_MODELS = "all"
#: Files whose times are further apart do not count from the same moment.
_FAR_APART_S = 2_000 * SECONDS_PER_DAY
_KINDS_NAMED = 5
_T = TypeVar("_T")


def requests_of_files(
    paths: Sequence[Path], *, hash_tokens: int = 0, most_tokens: int | None = None
) -> tuple[Trace, list[str]]:
    """Requests of one trace or log of calls, or of several that belong to one time, and what was found in them.

    Parameters
    ----------
    hash_tokens
        Tokens of a hashed block where a file does not say.
    most_tokens
        Longer requests, prompt and answer together, are refused; None: no limit.

    Raises
    ------
    BadFile
        When a file is neither, when nothing of it can be played, or when the times of several cannot be of one clock.
    """
    return _played([_read(path, hash_tokens) for path in paths], "", most_tokens)


def requests_of_ledger(workspace: Workspace, model: str, *, most_tokens: int | None = None) -> tuple[Trace, list[str]]:
    """Requests of the calls that the ledger holds.

    Parameters
    ----------
    model
        As the calls spell it, or a pattern such as `gpt-*`; `all`: of every model.
    most_tokens
        Longer requests are refused; None: no limit.

    Raises
    ------
    UnknownName
        When no call is of such a model; the message names the near ones.
    UnitcostError
        When there is no ledger.
    """
    with workspace.open_ledger() as ledger:
        known = sorted({name.model for name in ledger.work.calls.names()})
        chosen = (
            None if model == ALL_MODELS else [name for name in known if fnmatchcase(name.casefold(), model.casefold())]
        )
        if chosen == [] or not known:
            raise UnknownName("model in the calls of the ledger", model, [*known, ALL_MODELS])
        arrivals = ledger.work.calls.arrivals(chosen)
    return _played(_by_file(arrivals), f"calls of {model}", most_tokens)


def _played(files: Sequence[RawArrivals], name: str, most_tokens: int | None) -> tuple[Trace, list[str]]:
    """Requests of some files as one trace, and what was found, with the name of the file where there are several."""
    if len(files) == 1:
        trace, findings = checked(replace(files[0], name=name or files[0].name), context_tokens=most_tokens)
        return trace, [*map(str, findings), *_of_models(files)]
    said = [f"{raw.name}: {finding}" for raw in files for finding in checked(raw, context_tokens=most_tokens)[1]]
    _check_clocks(files)
    merged, _ = checked(replace(_merged(files), name=name or f"{len(files)} files"), context_tokens=most_tokens)
    return merged, [*said, *_of_models(files)]


def _read(path: Path, hash_tokens: int) -> RawArrivals:
    found = traces.read_known(path, hash_tokens=hash_tokens)
    return found if found is not None else _of_log(path)


def _of_log(path: Path) -> RawArrivals:
    """Calls of a log, through its reader and a ledger that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="unitcost-") as scratch:
        there = Workspace(folder=Path(scratch), settings=Settings(), now=datetime(1970, 1, 1, tzinfo=UTC))
        outcome = load(there, [str(path)])
        for _, failure in outcome.failures:
            raise _no_trace(path, failure)
        with there.open_ledger() as ledger:
            arrivals = ledger.work.calls.arrivals()
            refused = [
                RefusedRow(row=reject.row, reason=f"{reject.column} is {reject.value!r}: {reject.reason}")
                for _, reject in ledger.rejects()
            ]
            reader = outcome.records[0].reader
        if not arrivals and not refused:
            raise BadFile(f"has no calls: {reader} read it", where=str(path), mend="give a trace or a log of calls")
    (raw,) = _by_file(arrivals) or [RawArrivals(name=path.name)]
    return replace(raw, name=path.name, refused=[*refused, *raw.refused])


def _no_trace(path: Path, failure: UnitcostError) -> BadFile:
    return BadFile(
        f"is neither a trace nor a log of calls that is known here ({failure.what})", where=str(path),
        mend="give a csv with timestamp, input_tokens, output_tokens, JSON lines of Mooncake or vLLM, or a log of calls: "
        "OpenTelemetry, LiteLLM, Langfuse or a csv of called_at, model, input_tokens, output_tokens",
    )  # fmt: skip


def _by_file(arrivals: Iterable[CallArrival]) -> list[RawArrivals]:
    """Columns of each file, in the order in which the files were loaded."""
    by_file: dict[str, list[CallArrival]] = {}
    for arrival in arrivals:
        by_file.setdefault(arrival.file, []).append(arrival)
    return [_columns(file, rows) for file, rows in by_file.items()]


def _columns(file: str, rows: Sequence[CallArrival]) -> RawArrivals:
    models: list[str] = []
    tenants: list[str] = []
    told: dict[str, list[RefusedRow]] = {"refused": [], "left_out": [], "flagged": []}
    raw = RawArrivals(name=file)
    for row in rows:
        if row.kind != "played":
            told[row.kind].append(RefusedRow(row=row.row, reason=row.reason))
        if row.kind in ("played", "flagged"):
            raw.at_s.append((row.at_us or 0) / MICROSECONDS_PER_SECOND)
            raw.input_tokens.append(row.input_tokens or 0)
            raw.output_tokens.append(row.output_tokens or 0)
            raw.rows.append(row.row)
            models.append(row.model)
            tenants.append(row.tenant)
    return replace(
        raw, models=models, tenants=tenants, refused=told["refused"], left_out=told["left_out"], flagged=told["flagged"]
    )


def _check_clocks(files: Sequence[RawArrivals]) -> None:
    starts = [(min(raw.at_s), raw.name) for raw in files]
    (first, early), (last, late) = min(starts), max(starts)
    if last - first > _FAR_APART_S:
        raise BadFile(
            f"the times of {early} and of {late} do not count from the same moment", where=late,
            mend="give dates in all files, or one file at a time",
        )  # fmt: skip


def _merged(files: Sequence[RawArrivals]) -> RawArrivals:
    """All rows of some files, one file after the other; their rows keep the numbers that they have there."""
    sizes = {raw.hash_tokens for raw in files if raw.hash_tokens}
    if len(sizes) > 1:
        raise BadFile("files hash blocks of unlike size", where=files[0].name, mend="give one file at a time")
    one = RawArrivals(name="")
    for raw in files:
        one.at_s.extend(raw.at_s)
        one.input_tokens.extend(raw.input_tokens)
        one.output_tokens.extend(raw.output_tokens)
        one.rows.extend(raw.rows)
    return replace(
        one, hashes=_joined([(raw.hashes, raw, None) for raw in files]) if sizes else (), hash_tokens=max(sizes, default=0),
        keys=_joined([(raw.keys, raw, "") for raw in files]), tenants=_joined([(raw.tenants, raw, "") for raw in files]),
        models=_joined([(raw.models, raw, "") for raw in files]),
        refused=[row for raw in files for row in raw.refused], left_out=[row for raw in files for row in raw.left_out],
        flagged=[row for raw in files for row in raw.flagged],
    )  # fmt: skip


def _joined(columns: Sequence[tuple[Sequence[_T], RawArrivals, _T]]) -> Sequence[_T]:
    """A column of several files; files that do not have it hold `nothing` in it. Empty when none has it."""
    if not any(len(column) for column, _, _ in columns):
        return ()
    return [value for column, raw, nothing in columns for value in (column or [nothing] * len(raw.rows))]


def need_time(trace: Trace, findings: Sequence[str]) -> None:
    """Refuse requests that all come at one moment.

    Raises
    ------
    BadFile
        When they do; says what was refused besides, for that may be why.
    """
    if trace.duration_s > 0:
        return
    what = "one request alone has no rate" if len(trace) == 1 else "all requests come at one moment"
    raise BadFile(what, where=trace.name, mend="; ".join(findings[:3]) or "give a trace that lasts some time")


def _of_models(files: Sequence[RawArrivals]) -> list[str]:
    """What is said where requests to several models are played as if they were to one."""
    names = sorted({name for raw in files for name in raw.models if name})
    if len(names) < 2:
        return []
    shown = ", ".join(names[:_KINDS_NAMED]) + (", ..." if len(names) > _KINDS_NAMED else "")
    return [
        f"the requests went to {len(names)} models ({shown}); all are played as requests to the one that is planned"
    ]
