"""Training jobs of SageMaker: answers of `describe-training-job`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.json_rows import BrokenObject, entries, values, written
from unitcost.readers.opening import Source, text_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import add_record
from unitcost.readers.work.sagemaker_job import Job
from unitcost.readers.work.sink import Sink

NAME = "sagemaker-training"
CONVENTIONS = (
    "An answer is one job; several stand one after the other, in an array, or in a list TrainingJobs.",
    "A job holds its instances from Downloading to Uploading; starting and waiting for capacity hold nothing. Between "
    "these, each stretch after Interrupted or Restarting is a life of its own, told by SecondaryStatusTransitions.",
    "It holds InstanceCount times the accelerators of the instance type; of a type without any, its virtual cores. Of a "
    "type that is not known the count is unknown.",
    "BillableTimeInSeconds is what is paid at the on-demand price, for each instance. Managed spot makes it shorter than "
    "TrainingTimeInSeconds: the billing weight is the quantity times billable over training time.",
    "The start-up is the time before the status Training.",
    "A job of a tuning job is a trial, and the tuning job its parent. Its hyperparameters are kept as tags `params.NAME`.",
    "Stopped by a limit of time is a timeout, stopped by somebody is cancelled. A job that got no instance never started.",
    "Metrics are the last values that SageMaker found. Times are UTC.",
)
DEFINING = ("TrainingJobName", "TrainingJobStatus", "SecondaryStatus", "ResourceConfig", "TrainingJobArn")
_LIST = "TrainingJobs"
_IS_LIST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:TrainingJobs|NextToken)"\s*:')
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_ENOUGH = 3


def sniff(head: Head) -> int:
    """How many members of such an answer the file shows."""
    if head.format != "document" or not _BEGIN.match(head.data):
        return 0
    found = sum(f'"{name}"'.encode() in head.data for name in DEFINING)
    return found if found >= _ENOUGH and b'"TrainingJobName"' in head.data else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the whole file into the sink; see `WorkReader`."""
    seen: Counter[str] = Counter()
    names: set[str] = set()
    for found in _jobs(source, progress):
        row = sink.read()
        if isinstance(found, BrokenObject):
            sink.reject(row, found.reason, found.raw)
        else:
            add_record(sink, row, partial(_rows, found, names, seen), partial(written, found))
    flags = tuple(sentence.format(seen[what]) for what, sentence in _SENTENCES.items() if seen[what])
    return Told(dialect="describe-training-job", conventions=CONVENTIONS, flags=flags)


_SENTENCES = {
    "unknown type": "{} jobs ran on instance types that are not known here; how many accelerators they held is unknown.",
    "lengths": "{} jobs have lives that do not add up to TrainingTimeInSeconds within a minute.",
    "running": "{} jobs have no end (still running?).",
}


def _jobs(source: Source, progress: Progress | None) -> Iterator[object]:
    with text_of(source) as (text, raw):
        found: Iterator[object] = values(text)
        if _IS_LIST.match(source.data):
            found = (job for name, job in entries(text, (_LIST,)) if name == _LIST or isinstance(job, BrokenObject))
        for job in found:
            if progress:
                progress(raw.tell(), source.size_bytes)
            yield job


def _rows(found: object, names: set[str], seen: Counter[str]) -> list[Any]:
    job = Job.of(found)
    if job.name in names:
        raise ValueError(f"the job {job.name} stands in the file already")
    rows = job.rows()
    names.add(job.name)
    seen["unknown type"] += job.has_unknown_type
    seen["lengths"] += not job.adds_up
    seen["running"] += job.status == "running"
    return rows
