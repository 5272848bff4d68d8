"""A session of the bench: one process per runtime, memory of each model, the machine, one result that holds all of it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unitcost.measure.eval_data import EvalData, read_eval
from unitcost.measure.machine_facts import between, machine, weather
from unitcost.measure.one_runtime import Job
from unitcost.measure.runtimes import RUNTIMES

KIND = "unitcost-measure-model"
SCHEMA = 1
#: Patience with one step of one runtime, beyond the time of the turns. [s]
_PATIENCE_S = 900.0
#: How often a process is looked at. [s]
_LOOK_S = 0.05
#: Is given what is known of a session so far.
Kept = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What is measured.

    Parameters
    ----------
    models
        Name -> file.
    runtimes
        Which runtimes; those that are not installed become a row with that reason.
    time_s
        Time for the turns of all runtimes together. [s]
    samples
        Calls after which a subject has enough.
    instance
        Name under which this machine is rented; empty = not told.
    failed
        Forms that could not be made, and why; they become rows.
    notes
        How models were made.
    """

    models: Mapping[str, Path]
    data: Path
    runtimes: Sequence[str]
    batches: tuple[int, ...] = (1,)
    threads: tuple[int, ...] = (1,)
    spin: bool = False
    label: str = ""
    output: str = ""
    is_score: bool = False
    time_s: float = 60.0
    samples: int = 662
    instance: str = ""
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


def run_session(
    session: Session, now: datetime, said: Callable[[str], None], kept: Kept = lambda _: None
) -> dict[str, Any]:
    """Result of a session, as it is written to a file.

    Parameters
    ----------
    kept
        Is given what is known so far, whenever it is more.

    Raises
    ------
    BadFile
        When the data cannot be read; models that fail are rows of the result.
    """
    data = read_eval(session.data, label=session.label)
    before = weather()
    about: dict[str, Any] = {
        "schema_version": SCHEMA, "kind": KIND, "unitcost": version("unitcost"), "measured_at": now.isoformat(timespec="seconds"),
        "machine": machine(session.instance), "data": _data(data, session.data),
        "truth": None if data.labels is None else data.labels.tolist(),
    }  # fmt: skip
    parts: list[dict[str, Any]] = []
    for name in session.runtimes:
        parts.append(_runtime(session, name, said, lambda part: kept(about | _joined([*parts, part], session))))
    found: dict[str, Any] = about | _joined(parts, session)
    _add_memory(found["options"], session)
    for option in found["options"]:
        option["model_sha256"] = _sha256(session.models.get(option["model"], Path()))
    return found | {"machine": machine(session.instance) | {"during": between(before, weather())}}


def _joined(parts: Sequence[Mapping[str, Any]], session: Session) -> dict[str, Any]:
    """Options, answers, anchors and failures of all runtimes."""
    options = [
        {key: value for key, value in option.items() if key != "path"} | {"made": session.notes.get(option["model"], "")}
        for part in parts for option in part["options"]
    ] + [{"name": name, "model": name, "failure": why, "made": ""} for name, why in session.failed.items()]  # fmt: skip
    answers: dict[str, Any] = {}
    for part in parts:
        answers |= part.get("answers", {})
    return {
        "answers": answers, "options": options, "anchors": [anchor for part in parts for anchor in part["anchors"]],
        "failures": [part["failure"] for part in parts if part.get("failure")],
    }  # fmt: skip


def _runtime(session: Session, name: str, said: Callable[[str], None], kept: Kept) -> dict[str, Any]:
    """Everything in one runtime, in a process of its own; what it left when it died is kept."""
    models = _meant_for(name, session)
    if not models:
        why = f"{name}: opens {' and '.join(RUNTIMES[name].suffixes)}, and no model is such a file"
        return {"runtime": name, "options": [], "anchors": [], "answers": {}, "failure": why}
    job = Job(
        runtime=name, models=models, data=str(session.data),
        batches=session.batches, threads=session.threads, spin=session.spin, label=session.label, output=session.output,
        is_score=session.is_score, time_s=session.time_s / len(session.runtimes), samples=session.samples,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        told, result = Path(folder) / "job.json", Path(folder) / "result.json"
        told.write_text(json.dumps(asdict(job)), encoding="utf-8")
        watched = _Watched(path=result, kept=kept)
        command = ["unitcost.measure.one_runtime", str(told), str(result)]
        failure = _child(command, job.time_s + _PATIENCE_S, said, watched.look)
        empty: dict[str, Any] = {"runtime": name, "options": [], "anchors": [], "answers": {}}
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8")) if result.exists() else empty
    if failure:
        found["failure"] = f"{name}: {failure}"
    return found


def _meant_for(name: str, session: Session) -> dict[str, str]:
    """Models that a runtime can open, and those that none of the session can: their reason is told."""
    known = {suffix for each in session.runtimes for suffix in RUNTIMES[each].suffixes}
    return {
        key: str(path) for key, path in session.models.items()
        if path.suffix in RUNTIMES[name].suffixes or path.suffix not in known
    }  # fmt: skip


@dataclass(slots=True, kw_only=True)
class _Watched:
    """A file that a process writes anew after each step."""

    path: Path
    kept: Kept
    seen_ns: int = 0

    def look(self) -> None:
        """Pass on what it holds when that is new."""
        written_ns = self.path.stat().st_mtime_ns if self.path.exists() else 0
        if written_ns > self.seen_ns:
            self.seen_ns = written_ns
            self.kept(json.loads(self.path.read_text(encoding="utf-8")))


def _child(
    module: Sequence[str], patience_s: float, said: Callable[[str], None], look: Callable[[], None] = lambda: None
) -> str:
    """Run a module in a process of its own and pass on what it says; answers why it failed, or nothing.

    It is ended when it has said nothing for so long; it says something before each step.
    """
    with subprocess.Popen([sys.executable, "-m", *module], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        heard = _Heard(said=said)
        with ThreadPoolExecutor(1) as reading:
            reading.submit(heard.listen, process.stderr)
            while process.poll() is None:
                if time.monotonic() - heard.last_s > patience_s:
                    process.kill()
                    return f"said nothing for {patience_s:.0f} s"
                look()
                time.sleep(_LOOK_S)
    if process.returncode == 0:
        return ""
    ended = f"ended by signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
    return f"{ended}: {heard.line}" if heard.line else ended


@dataclass(slots=True, kw_only=True)
class _Heard:
    """What a process said last, and when."""

    said: Callable[[str], None]
    line: str = ""
    last_s: float = field(default_factory=time.monotonic)

    def listen(self, stream: Iterable[str]) -> None:
        """Pass on lines until there are no more; those of a traceback are only kept."""
        for line in stream:
            self.line, self.last_s = line.rstrip(), time.monotonic()
            if not line.startswith((" ", "Traceback")):
                self.said(self.line)


def _add_memory(options: Sequence[dict[str, Any]], session: Session) -> None:
    """Memory of each model at each batch, in processes of their own; threads hardly change it."""
    known: dict[tuple[str, str, int], int | None] = {}
    for option in options:
        if option["failure"] or option.get("timing") is None:
            continue
        path = session.models[option["model"]]
        key = (str(path), str(option["runtime"]), int(option["batch"]))
        if key not in known:
            known[key] = _memory(key, int(option["threads"]), session)
        option["memory_bytes"] = known[key]


def _memory(key: tuple[str, str, int], threads: int, session: Session) -> int | None:
    path, runtime, batch = key
    command = [runtime, path, str(batch), str(threads), str(session.data), session.label]
    done = subprocess.run(
        [sys.executable, "-m", "unitcost.measure.memory_probe", *command], capture_output=True, text=True, check=False
    )
    return int(done.stdout) if done.returncode == 0 else None


def _data(data: EvalData, path: Path) -> dict[str, Any]:
    return {"file": path.name, "sha256": _sha256(path), "items": data.items, "has_labels": data.labels is not None}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def runtimes_for(models: Iterable[Path]) -> list[str]:
    """Runtimes that open some of these files and whose library is there; the first that opens them in any case."""
    suffixes = {path.suffix for path in models} or {".onnx"}
    meant = [name for name, found in RUNTIMES.items() if suffixes & set(found.suffixes)] or ["ort"]
    return [name for name in meant if RUNTIMES[name].is_installed] or meant[:1]
