"""Write a table: `python -m tools.serving_tables constants CSV`, or `python -m tools.serving_tables grids`.

`constants` fits engines on measured runs (columns as in the silicon sample of aiconfigurator-core). `grids` asks
aiconfigurator-core for step times of popular deployments.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tools.serving_tables.deployments import DEPLOYMENTS
from unitcost.errors import DoesNotFit, NotMeasured
from unitcost.machine.steps import StepGrid
from unitcost.measure import serving_defaults, step_grids
from unitcost.measure.aiconfigurator import measured_grid
from unitcost.measure.serving_fit import Bench, fit
from unitcost.measure.serving_grids import grids_of
from unitcost.measure.serving_rows import read_usable

_PROCESSES = 2


def constants(csv: Path, to: Path, *, processes: int = _PROCESSES) -> None:
    """Fit on all rows of a file that can be worked out, say what is left out, and write the table."""
    rows, unread = read_usable(csv)
    grids = grids_of(rows, processes=processes)
    rows, unmeasured = grids.usable(rows)
    for one in (*unread, *unmeasured):
        print(f"left out: {one.row}: {one.reason}", file=sys.stderr)
    bench = Bench(rows, grids)
    plain = serving_defaults.to_json(fit(bench, range(len(bench.rows))))
    plain = {"source": "measured runs of aiconfigurator-core 0.12.0, Apache-2.0", "rows": len(bench.rows)} | plain
    (to / serving_defaults.TABLE).write_text(
        json.dumps(plain, separators=(",", ":")).replace("},", "},\n") + "\n", "utf-8"
    )


def grids(to: Path) -> None:
    """Ask for each deployment, say what is left out, and write the file."""
    found: list[StepGrid] = []
    for served in DEPLOYMENTS:
        try:
            found.append(measured_grid(served))
        except (NotMeasured, DoesNotFit) as refusal:
            print(
                f"left out: {served.gpus} x {served.gpu}, {served.model} {served.precision}: {refusal}", file=sys.stderr
            )
    (to / step_grids.FILE).write_bytes(step_grids.packed(found))
    print(f"{len(found)} grids", file=sys.stderr)


def main() -> None:
    """Write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["constants", "grids"])
    parser.add_argument("csv", type=Path, nargs="?")
    parser.add_argument("--to", type=Path, default=Path("src/unitcost/measure/step_data"))
    said = parser.parse_args()
    if said.what == "grids":
        grids(said.to)
    elif said.csv is None:
        parser.error("constants needs the measured runs")
    else:
        constants(said.csv, said.to)


if __name__ == "__main__":
    main()
