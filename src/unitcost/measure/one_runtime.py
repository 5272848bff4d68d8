"""All models in one runtime: what really runs, what is answered, how fast, in turns with the anchors.

    python -m unitcost.measure.one_runtime JOB.json RESULT.json

A process of its own, as runtimes fight over threads, and a crash of one must not take the others' results with it. The
result is written anew after each step, so that what was measured before a crash is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.measure.anchors import SUITE, write_anchors
from unitcost.measure.answering import answer_all, answers
from unitcost.measure.eval_data import EvalData, read_eval
from unitcost.measure.reasons import reason
from unitcost.measure.rounds import Timed, take_turns
from unitcost.measure.runtimes import Runtime, runtime
from unitcost.measure.runtimes.running import Array, Running, Setting
from unitcost.measure.timing_summary import timing

#: Batches that a subject goes through, one after the other.
_FEEDS = 32
#: How often timings are kept while turns are taken. [s]
_KEPT_EACH_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one runtime has to measure; paths of models by name."""

    runtime: str
    models: Mapping[str, str]
    data: str
    batches: tuple[int, ...] = (1,)
    threads: tuple[int, ...] = (1,)
    spin: bool = False
    label: str = ""
    output: str = ""
    is_score: bool = False
    time_s: float = 30.0
    samples: int = 662


def measure(job: Job, keep: Callable[[dict[str, Any]], None], said: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything that one runtime is asked for.

    Parameters
    ----------
    keep
        Is given the result so far, after each step.
    said
        Is told what goes on.
    """
    found: dict[str, Any] = {"runtime": job.runtime, "options": [], "anchors": [], "answers": {}}
    data = read_eval(Path(job.data), label=job.label)
    subjects: dict[str, Callable[[], object]] = {}
    for option in _options(job):
        said(f"{job.runtime}: {option['name']}")
        try:
            subjects[str(option["name"])] = _prepare(option, job, data, found)
        except Exception as error:  # a runtime may raise anything; it fails this option, not the others
            option["failure"] = reason(error)
        found["options"].append(option)
        keep(found)
    with tempfile.TemporaryDirectory() as folder:
        subjects |= _anchors(job, Path(folder), found)
        return _time(job, subjects, found, keep, said)


def _options(job: Job) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{name}/{job.runtime}/b{batch}/t{threads}", "model": name, "path": path, "runtime": job.runtime,
            "batch": batch, "threads": threads, "spin": job.spin, "failure": "",
        }
        for name, path in job.models.items() for batch in job.batches for threads in job.threads
    ]  # fmt: skip


def _prepare(option: dict[str, Any], job: Job, data: EvalData, found: dict[str, Any]) -> Callable[[], object]:
    """Open a model, ask it all items at its batch size, and return a call that is timed."""
    opened = _open(runtime(job.runtime), Path(option["path"]), option)
    feeds = data.feeds(opened.inputs)
    batches = _batches(feeds, int(option["batch"]))
    about = opened.about(batches[0])
    option |= {
        "version": about.version, "precision": about.precision, "ran_on": dict(about.ran_on),
        "model_bytes": Path(option["path"]).stat().st_size, "items": data.items,
    }  # fmt: skip
    raw = answer_all(opened, feeds, int(option["batch"]), output=job.output)
    said = answers(raw, data.labels, is_score=job.is_score)
    option["answers"] = _stored(said, found["answers"])
    return _caller(opened, batches)


def _open(used: Runtime, path: Path, option: Mapping[str, Any]) -> Running:
    return used.open(
        path, Setting(threads=int(option["threads"]), batch=int(option["batch"]), spin=bool(option["spin"]))
    )


def _batches(feeds: Mapping[str, Array], batch: int) -> list[dict[str, Array]]:
    items = len(next(iter(feeds.values())))
    starts = range(0, items, batch) if items >= batch else range(1)
    taken = [np.arange(start, start + batch) % items for start in list(starts)[:_FEEDS]]
    return [{name: np.ascontiguousarray(column[places]) for name, column in feeds.items()} for places in taken]


def _caller(opened: Running, batches: list[dict[str, Array]]) -> Callable[[], object]:
    calls = 0

    def call() -> object:
        nonlocal calls
        calls += 1
        return opened.run(batches[calls % len(batches)])

    return call


def _stored(said: Array, kept: dict[str, Any]) -> str:
    """Key of the answers; equal answers are kept once."""
    listed = said.tolist()
    key = hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:12]
    kept.setdefault(key, listed)
    return key


def _anchors(job: Job, folder: Path, found: dict[str, Any]) -> dict[str, Callable[[], object]]:
    subjects: dict[str, Callable[[], object]] = {}
    used = runtime(job.runtime)
    if not used.is_installed:
        return subjects
    for anchor in write_anchors(folder, used.suffixes):
        row: dict[str, Any] = {"name": anchor.name, "suite": SUITE, "runtime": job.runtime, "failure": ""}
        found["anchors"].append(row)
        try:
            opened = used.open(anchor.path, Setting(threads=1, batch=anchor.shape[0], spin=job.spin))
            x = np.random.default_rng(1).standard_normal(anchor.shape).astype(np.float32)
            feeds = {opened.inputs[0].name: x}
            row["precision"] = opened.about(feeds).precision
            subjects[anchor.name] = _caller(opened, [feeds])
        except Exception as error:  # a runtime may raise anything; it fails this anchor, not the others
            row["failure"] = reason(error)
    return subjects


def _time(
    job: Job, subjects: Mapping[str, Callable[[], object]], found: dict[str, Any],
    keep: Callable[[dict[str, Any]], None], said: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """Take turns, and put what was timed beside each option."""
    said(f"{job.runtime}: {len(subjects)} subjects in turns, at most {job.time_s:.0f} s")
    last_s = time.monotonic()

    def between_rounds(timed: Mapping[str, Timed]) -> None:
        nonlocal last_s
        if time.monotonic() - last_s > _KEPT_EACH_S:
            _put_timings(timed, found)
            keep(found)
            last_s = time.monotonic()

    _put_timings(take_turns(subjects, time_s=job.time_s, samples=job.samples, done=between_rounds), found)
    keep(found)
    return found


def _put_timings(timed: Mapping[str, Timed], found: dict[str, Any]) -> None:
    reference = next(((timed[o["name"]], int(o["batch"])) for o in found["options"] if o["name"] in timed), None)
    for row in [*found["options"], *found["anchors"]]:
        if row["name"] in timed:
            mine = timed[row["name"]]
            row["failure"] = row["failure"] or mine.failure
            row["timing"] = timing(mine, reference if "batch" in row else None, int(row.get("batch", 1)))


def main(arguments: list[str]) -> None:
    """Read a job, write its result."""
    told = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    job = Job(**{**told, "batches": tuple(told["batches"]), "threads": tuple(told["threads"])})
    result = Path(arguments[1])

    def keep(found: dict[str, Any]) -> None:
        part = result.with_suffix(".part")
        part.write_text(json.dumps(found), encoding="utf-8")
        os.replace(part, result)

    measure(job, keep, lambda text: print(text, file=sys.stderr, flush=True))


if __name__ == "__main__":
    main(sys.argv[1:])
