"""Runs that recorded themselves: the files of `unitcost.track`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from unitcost.facts.source import ReadOptions
from unitcost.readers import json_rows
from unitcost.readers.head import Head
from unitcost.readers.json_rows import BrokenObject, written
from unitcost.readers.opening import Source, text_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.track_lines import Lines, lives_of, rows_of

NAME = "track"
CONVENTIONS = (
    "A file is written by one machine. Ranks that were started together are one life of a run, which holds the "
    "accelerators of all of them, each once.",
    "The accelerators are those that the process was given (CUDA_VISIBLE_DEVICES, Slurm, or what nvidia-smi shows for "
    "it), never all of the machine. Where nobody says, the count is unknown, not zero.",
    "A run without an end is still running or was killed: its end is unknown. One that was started again is not running.",
    "In a scheduler's job the job holds the accelerators; the run tells of its steps, and its holding has no quantity.",
    "The lives of a run are those of its id, in the order in which they began, numbered by the launcher where it counts.",
    "Steps are counted from the start of the run; rank 0 speaks for all.",
    "Times are UTC.",
)
DEFINING = ("unitcost_track", "event", "run_id", "launch", "process")
_KNOWN_VERSIONS = frozenset({"1"})


def sniff(head: Head) -> int:
    """How many of its members the lines have."""
    return head.count(*DEFINING, "at") if head.has(*DEFINING) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the whole file into the sink; see `WorkReader`."""
    lines = Lines()
    with text_of(source) as (text, raw):
        for said in json_rows.objects(text, lines=source.format == "jsonl"):
            row = sink.read()
            if isinstance(said, BrokenObject):
                sink.reject(row, said.reason, said.raw)
                continue
            try:
                if said.get("unitcost_track") not in _KNOWN_VERSIONS:
                    raise ValueError(f"version {said.get('unitcost_track')!r} of the lines is not known here")
                lines.take(row, said)
            except ValueError as error:
                sink.reject(row, str(error), written(said))
            if progress:
                progress(raw.tell(), source.size_bytes)
    return Told(dialect="jsonl", conventions=CONVENTIONS, flags=tuple(_write(lines, sink)))


def _write(lines: Lines, sink: Sink) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for run_id, lives in lives_of(lines.launches).items():
        row = lives[0].first.row
        try:
            sink.add_all(row, list(rows_of(run_id, lives)))
        except ValueError as error:
            sink.reject(row, str(error), run_id)
            continue
        seen["running"] += lives[-1].status == "running"
        seen["elsewhere"] += lives[-1].ranks_missing > 0
        seen["unknown"] += lives[-1].devices is None
    if seen["running"]:
        yield f"{seen['running']} runs have no end (still running?)."
    if seen["unknown"]:
        yield f"{seen['unknown']} runs do not say which accelerators they held."
    if seen["elsewhere"]:
        yield f"{seen['elsewhere']} runs have ranks that are not in this file; those of other machines have files of their own."
