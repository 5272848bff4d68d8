"""Three kinds of model through the product's own jobs: a convolutional network and its int8 forms, a text pipeline, trees.

    python benchmarks/three_models.py [--models DIR] [--time S] [--samples N] [--runtimes ort,openvino,tract] [--json]

Prints how many times as fast per item each form is as the first of its session, in turns, with the range of most turns,
beside the ratios that were measured before on quiet machines; the quality of each; and the seconds of the whole. DIR holds
the models, `mnist.npz`, `digits.npz` and `banking77/test.csv`. Only ratios of one session are set side by side:
absolute speed drifts with what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost.facts.options import Demand, Limits
from unitcost.jobs.compare import Judging, Terms
from unitcost.jobs.compress import Recipe, compress
from unitcost.jobs.measure_model import Measured, measure_model, runtimes_of
from unitcost.jobs.workspace import Workspace, open_workspace
from unitcost.measure.bench_run import Session

FORMS = ("static-qdq", "dynamic-u8", "dynamic-s8-all")
#: Form of the network -> how many times as fast it was on quiet machines; quality of models.
RATIOS = {"static-qdq": (2.1, 2.8), "dynamic-u8": (1 / 2.2, 1 / 1.4), "dynamic-s8-all": (1 / 8, 1 / 5.5)}
QUALITIES = {"original": 0.953, "tfidf_lr": 0.890}
#: What must hold on any machine: at least so many times as fast, or at most.
AT_LEAST, AT_MOST = {"static-qdq": 1.5}, {"dynamic-u8": 1.0, "dynamic-s8-all": 1 / 1.4}
MILLI = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of one option."""

    option: str
    model: str
    precision: str
    p50_s: float
    ratio: dict[str, float]
    quality: float | None

    @property
    def is_as_expected(self) -> bool | None:
        """Whether the ordering is that of quiet machines; None where none is known."""
        if self.model in AT_LEAST:
            return self.ratio["median"] >= AT_LEAST[self.model]
        return self.ratio["median"] <= AT_MOST[self.model] if self.model in AT_MOST else None


def sessions(asked: argparse.Namespace, workspace: Workspace, folder: Path) -> Iterator[Measured]:
    """The three sessions, one after the other."""
    models = asked.models
    yield compress(
        workspace, Recipe(model=models / "mnist_cnn32.onnx", folder=folder, forms=FORMS),
        session(asked, models / "mnist.npz", {}), terms(), said=say,
    )  # fmt: skip
    texts = {"tfidf_lr": models / "tfidf_lr.onnx"}
    yield measure_model(workspace, session(asked, models / "banking77" / "test.csv", texts), terms(), said=say)
    trees = {name: models / f"{name}.onnx" for name in ("digits_lr", "digits_rf20")}
    yield measure_model(workspace, session(asked, models / "digits.npz", trees), terms(), said=say)


def session(asked: argparse.Namespace, data: Path, models: dict[str, Path]) -> Session:
    """A session of one thread and one item a call."""
    return Session(
        models=models, data=data, runtimes=runtimes_of(asked.runtimes), time_s=asked.time, samples=asked.samples
    )


def terms() -> Terms:
    """A dollar an hour; a point of accuracy may be lost."""
    return Terms(demand=Demand(), limits=Limits(), judging=Judging(margin=0.01), price=lambda _: Decimal(1))


def say(text: str) -> None:
    """Words go to stderr."""
    print(text, file=sys.stderr)


def rows(measured: Measured) -> Iterator[Row]:
    """Rows of a session, in the order of its file."""
    qualities = {ranked.option.name: ranked.option.quality for ranked in measured.choice.ranked}
    for option in measured.result.options:
        name = f"{option['name']} ({option['precision']})"
        timing = option["timing"]
        yield Row(
            option=name, model=option["model"], precision=option["precision"],
            p50_s=timing["percentiles"]["p50"]["latency_s"], ratio=timing["ratio"], quality=qualities[name],
        )  # fmt: skip


def table(found: list[Row], took_s: float) -> str:
    """The rows for people."""
    lines = [f"{'option':<32} {'p50 ms':>8} {'times as fast':>20} {'before':>12} {'quality':>8}"]
    for row in found:
        ratio, before = row.ratio, RATIOS.get(row.model)
        fast = f"{ratio['median']:.2f} ({ratio['low']:.2f}-{ratio['high']:.2f})"
        known = f"{before[0]:.2f}-{before[1]:.2f}" if before else ""
        mark = {True: "", False: "  other than before", None: ""}[row.is_as_expected]
        right = "–" if row.quality is None else f"{row.quality:.3f}"
        lines.append(f"{row.option:<32} {row.p50_s * MILLI:>8.3f} {fast:>20} {known:>12} {right:>8}{mark}")
    return "\n".join([*lines, "", f"{took_s:.0f} s in all"])


def as_data(found: list[Row], failures: list[tuple[str, str]], took_s: float) -> dict[str, Any]:
    """The rows for machines."""
    return {
        "schema_version": 1, "took_s": took_s, "failures": [{"option": name, "why": why} for name, why in failures],
        "options": [
            {
                "option": row.option, "model": row.model, "precision": row.precision, "p50_s": row.p50_s,
                "times_as_fast": row.ratio, "before": RATIOS.get(row.model), "is_as_expected": row.is_as_expected,
                "quality": row.quality, "quality_before": QUALITIES.get(row.model),
            }
            for row in found
        ],
    }  # fmt: skip


def main() -> None:
    """Run the three sessions and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("UNITCOST_SHARED", "../shared")
    parser.add_argument("--models", type=Path, default=Path(shared) / "data" / "models")
    parser.add_argument("--time", type=float, default=30.0, help="longest time for the turns of a session [s]")
    parser.add_argument("--samples", type=int, default=662, help="calls after which an option has enough")
    parser.add_argument("--runtimes", default="ort")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    begun_s = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = list(sessions(asked, open_workspace(Path(folder)), Path(folder)))
    took_s = time.perf_counter() - begun_s
    options = [row for measured in found for row in rows(measured)]
    failures = [failure for measured in found for failure in measured.result.failures]
    print(json.dumps(as_data(options, failures, took_s), indent=2) if asked.json else table(options, took_s))
    for name, why in failures:
        say(f"{name}: {why}")


if __name__ == "__main__":
    main()
