"""Runs of an MLflow tracking server: REST answers (`runs/search`, `model-versions/search`) and `search_runs` tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkTable
from unitcost.readers import json_rows, tables
from unitcost.readers.head import Head
from unitcost.readers.json_rows import BrokenObject, written
from unitcost.readers.opening import Source, text_of
from unitcost.readers.tables import Broken
from unitcost.readers.work import mlflow_answers as answers
from unitcost.readers.work import mlflow_table
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.tracked_run import TrackedRun

NAME = "mlflow"
CONVENTIONS = (
    "A run that other runs of the file name as their parent is a sweep, a run with a parent is one of its trials; the "
    "tag unitcost.kind overrules this.",
    "Times are UTC, in milliseconds since 1970 or as ISO text. A run without an end is not taken to last until now.",
    "Accelerators are counted by a tag (unitcost.gpus, gpus, gpu_count, num_gpus ...) or a parameter (num_gpus, or "
    "gpus_per_node times num_nodes) of the run. What MLflow saw of the node (system/gpu ...) shows use, and counts "
    "nothing.",
    "A run that names a job of a scheduler (SLURM_JOB_ID ...) holds what that job holds, and nothing of its own.",
    "A sweep whose trials state accelerators holds nothing besides.",
    "Metrics are the last values logged, parameters are kept as tags `params.NAME`. Whether a run is accepted is for "
    "the settings to say.",
    "Runs of the same parameters, a seed among them, are of the same configuration.",
    "A metric that names its data set is a quality; where none does, the only data set of the run is meant if it was "
    "logged for evaluation, validation or test.",
    "Before a version of a model came the next lower version of the same file.",
    "In a table an empty cell was not logged, and a metric that is no number looks the same.",
)
DEFINING = mlflow_table.DEFINING

_LISTS = ("runs", "experiments", "model_versions", "registered_models")
_PAGE = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*"(?:%s|next_page_token)"\s*:' % "|".join(_LISTS).encode())
_RUNS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*"(?:info|data|inputs|outputs)"\s*:')
_KNOWN_BY = (b'"run_id"', b'"run_uuid"', b'"experiment_id"', b'"model_versions"', b'"latest_versions"')


def sniff(head: Head) -> int:
    """How many names of MLflow the file shows."""
    if head.format == "document":
        begins = _PAGE.match(head.data) or _RUNS.match(head.data)
        return sum(name in head.data for name in _KNOWN_BY) if begins else 0
    return head.count(*DEFINING, "artifact_uri") if mlflow_table.is_table(head.columns) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the whole file into the sink; see `WorkReader`."""
    filling = _Filling(source, sink, progress)
    filling.survey()
    filling.write()
    dialect = "REST" if source.format == "document" else "search_runs"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=tuple(filling.flags()))


@dataclass(slots=True)
class _Family:
    """What one run of the file says about another, and what must be known before the first is written."""

    parents: set[str] = field(default_factory=set)
    parents_without_holding: set[str] = field(default_factory=set)
    experiments: dict[str, str] = field(default_factory=dict)
    versions: dict[str, list[int]] = field(default_factory=dict)
    page: str = ""
    next_page: str = ""
    registry_error: str = ""


class _Filling:
    """Reads one file twice: who is whose parent, then the rows."""

    def __init__(self, source: Source, sink: Sink, progress: Progress | None) -> None:
        self.source, self.sink, self.progress = source, sink, progress
        self.table = mlflow_table.TableRuns(source.columns)
        self.family = _Family()
        self.seen: Counter[str] = Counter()
        self.ids: set[str] = set()

    def records(self, progress: Progress | None) -> Iterator[tuple[str, Any]]:
        """What kind of record and the record, in order; a broken one among them."""
        if self.source.format != "document":
            for row in tables.rows(self.source, progress):
                yield "row", row
            return
        pages = _PAGE.match(self.source.data) is not None
        with text_of(self.source) as (text, raw):
            found = json_rows.entries(text, _LISTS) if pages else (("runs", run) for run in json_rows.values(text))
            for name, record in found:
                if progress:
                    progress(raw.tell(), self.source.size_bytes)
                yield name, record

    def survey(self) -> None:
        for name, record in self.records(None):
            if isinstance(record, Broken | BrokenObject):
                continue
            if name == "experiments" and isinstance(record, dict):
                self.family.experiments[str(record.get("experiment_id"))] = str(record.get("name") or "")
            elif name == "next_page_token":
                self.family.page = str(record or "")
            elif name == "registry_error":
                self.family.registry_error = str(record)
            elif not name:
                self.family.next_page, self.family.page = self.family.page, ""
            else:
                self._survey_record(name, record)

    def _survey_record(self, name: str, record: Any) -> None:
        try:
            if name in ("runs", "row"):
                run = self._run(name, record)
                if run.parent:
                    self.family.parents.add(run.parent)
                    if run.held:
                        self.family.parents_without_holding.add(run.parent)
            for version in _versions(name, record):
                model, number, _, _ = answers.version_of(version)
                if number.isdigit():
                    self.family.versions.setdefault(model, []).append(int(number))
        except ValueError:
            return  # set aside with its reason when it is written

    def write(self) -> None:
        for name, record in self.records(self.progress):
            if isinstance(record, Broken | BrokenObject):
                self.sink.reject(self.sink.read(), record.reason, record.raw)
            elif name in ("runs", "row"):
                self._write(record, lambda r, name=name: self._rows(name, r))
            else:
                for version in _versions(name, record):
                    self._write(version, self._version_rows)

    def _write(self, record: Any, rows_of: Any) -> None:
        row = self.sink.read()
        try:
            self.sink.add_all(row, rows_of(record))
        except ValueError as error:
            self.sink.reject(row, str(error), record if isinstance(record, str) else written(record))

    def _run(self, name: str, record: Any) -> TrackedRun:
        return self.table.run_of(record) if name == "row" else answers.run_of(record, self.family.experiments)

    def _rows(self, name: str, record: Any) -> list[tuple[WorkTable, dict[str, Any]]]:
        run = self._run(name, record)
        if run.run_id in self.ids:
            raise ValueError(f"the run {run.run_id} stands in the file already")
        self.ids.add(run.run_id)
        holds = run.run_id not in self.family.parents_without_holding
        rows = run.rows(is_parent=run.run_id in self.family.parents, holds=holds)
        if name == "runs":
            rows += [("qualities", quality) for quality in answers.qualities_of(record, run)]
        self._count(run, holds)
        return rows

    def _count(self, run: TrackedRun, holds: bool) -> None:
        self.seen["runs"] += 1
        self.seen["unknown status"] += run.final_status == "unknown"
        self.seen["in jobs"] += bool(run.job)
        self.seen["without count"] += not run.job and run.held is None
        self.seen["left to trials"] += bool(run.held) and not holds
        self.seen["not a number"] += any(value.casefold() in _NO_NUMBERS for value in run.metrics.values())

    def _version_rows(self, version: Any) -> list[tuple[WorkTable, dict[str, Any]]]:
        model, number, tags, run = answers.version_of(version)
        lower = [n for n in self.family.versions.get(model, ()) if number.isdigit() and n < int(number)]
        row = {
            "model_version": f"{model}/{number}", "run": run, "predecessor": f"{model}/{max(lower)}" if lower else "",
            "endpoint": next((tags[name] for name in answers.ENDPOINT_TAGS if tags.get(name)), ""),
        }  # fmt: skip
        return [("model_versions", row)]

    def flags(self) -> Iterator[str]:
        seen = self.seen
        if self.family.next_page:
            yield "The answer is not complete: it names a next page, which is to be asked for with its page token."
        if self.family.registry_error:
            yield f"The registry of models could not be asked: {self.family.registry_error}"
        if seen["in jobs"]:
            yield f"{seen['in jobs']} of {seen['runs']} runs are part of a scheduler's job; load its accounting too."
        if seen["without count"]:
            yield f"{seen['without count']} of {seen['runs']} runs do not say how many accelerators they held."
        if seen["left to trials"]:
            yield f"{seen['left to trials']} sweeps state accelerators that their trials state too; those of the trials count."
        if seen["not a number"]:
            yield f"{seen['not a number']} runs logged a metric that is no number (NaN); it is kept, and is no quality."
        if seen["unknown status"]:
            yield f"{seen['unknown status']} runs have a status that MLflow does not know."


_NO_NUMBERS = frozenset({"nan", "infinity", "-infinity", "inf", "-inf"})


def _versions(name: str, record: Any) -> list[Any]:
    if name == "model_versions":
        return [record]
    if name == "registered_models" and isinstance(record, dict):
        latest = record.get("latest_versions") or []
        return list(latest) if isinstance(latest, list) else [latest]
    return []
