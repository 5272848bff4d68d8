"""Largest memory of a process that serves a model.

    python -m unitcost.measure.memory_probe RUNTIME MODEL BATCH THREADS DATA LABEL

Prints bytes. A process of its own, as memory of a process never shrinks back to what one model needed.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np

from unitcost.measure.eval_data import read_eval
from unitcost.measure.runtimes import runtime
from unitcost.measure.runtimes.running import Setting
from unitcost.units import KIB

_CALLS = 5
_STATUS = Path("/proc/self/status")


def main(arguments: list[str]) -> None:
    """Open a model, call it a few times, print the largest resident memory."""
    name, model, batch, threads, data, label = arguments
    opened = runtime(name).open(Path(model), Setting(threads=int(threads), batch=int(batch)))
    feeds = read_eval(Path(data), label=label).feeds(opened.inputs)
    items = len(next(iter(feeds.values())))
    taken = {key: np.ascontiguousarray(column[np.arange(int(batch)) % items]) for key, column in feeds.items()}
    for _ in range(_CALLS):
        opened.run(taken)
    print(peak_bytes())


def peak_bytes() -> int:
    """Largest resident memory of this process so far. [bytes].

    Linux hands down what `getrusage` says from the process that started this one; its own is the high-water mark.
    """
    if _STATUS.exists():
        marks = [line for line in _STATUS.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM:")]
        return int(marks[0].split()[1]) * KIB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * KIB


if __name__ == "__main__":
    main(sys.argv[1:])
