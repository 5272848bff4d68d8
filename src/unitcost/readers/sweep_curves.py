"""Learning curves of a sweep: a csv of points, MLflow's folder of metrics, or the collections of public curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from unitcost.errors import BadFile, BadSetting, UnknownName
from unitcost.facts.sweeps import CurveRun, Sweep
from unitcost.readers.planning_table import Line, read_lines
from unitcost.units import MILLISECONDS_PER_SECOND

Direction = Literal["maximize", "minimize"]
#: Where no target is given, a result counts as accepted when it ends within this share of the best.
NEAR_BEST = 0.01
_Points = list[tuple[float, float, float | None]]


def read(path: Path, *, metric: str = "", direction: Direction = "maximize", target: float | None = None) -> Sweep:
    """Sweep of a csv with `run, step, seconds` and a metric, or of a folder that MLflow wrote.

    Columns `accepted` (yes or no) and `config` are taken when they are there. Without a target and that column, a run is accepted
    when it ends within 1 % of the best.

    Parameters
    ----------
    metric
        Column, or metric of MLflow; by default `metric`.
    direction
        Whether a high value is good.
    target
        Value from which a result is accepted.

    Raises
    ------
    BadFile
        When points are not in order, or a metric is no number.
    UnknownName
        When there is no such metric; the message names the near ones.
    """
    points, about = _of_folder(path, metric) if path.is_dir() else _of_csv(path, metric or "metric")
    sign = 1.0 if direction == "maximize" else -1.0
    runs = [
        _run(name, found, sign=sign, target=target, config=about[name][1], said=about[name][0])
        for name, found in points.items()
    ]
    known = target is not None or any(said is not None for said, _ in about.values())
    return Sweep(name=path.stem, runs=tuple(runs if known else near_best(runs)))


def near_best(runs: list[CurveRun]) -> list[CurveRun]:
    """Runs, those accepted that end within 1 % of the best end."""
    ends = [next((v for v in reversed(run.values) if v is not None), -math.inf) for run in runs]
    best = max(ends)
    return [
        replace(run, accepted=end >= best - NEAR_BEST * abs(best) and math.isfinite(end))
        for run, end in zip(runs, ends, strict=True)
    ]


def _run(name: str, points: _Points, *, sign: float, target: float | None, config: str, said: bool | None) -> CurveRun:
    values = [None if value is None else sign * value for _, _, value in points]
    goal = None if target is None else sign * target
    best = max((value for value in values if value is not None), default=-math.inf)
    return CurveRun(
        run=name, steps=[step for step, _, _ in points], seconds=[seconds for _, seconds, _ in points], values=values,
        accepted=bool(said) if said is not None else goal is not None and best >= goal, target=goal, config=config,
    )  # fmt: skip


def _of_csv(path: Path, metric: str) -> tuple[dict[str, _Points], dict[str, tuple[bool | None, str]]]:
    points: dict[str, _Points] = {}
    about: dict[str, tuple[bool | None, str]] = {}
    for line in read_lines(path, needs=("run", "step", "seconds")):
        if metric.casefold() not in line.cells:
            raise UnknownName("column with a metric", metric, line.cells, where=path.name)
        run = line.text("run")
        if not run:
            raise BadFile("`run` is empty", where=line.where, mend="name the run of each point")
        point = (line.needed("step"), line.needed("seconds", least=0), line.number(metric.casefold()))
        points.setdefault(run, []).append(point)
        about.setdefault(run, (_yes(line), line.text("config")))
    if not points:
        raise BadFile("the table has no points", where=path.name, mend="give run, step, seconds and a metric")
    return points, about


def _yes(line: Line) -> bool | None:
    said = line.text("accepted").casefold()
    return said in {"yes", "true", "1"} if said else None


def _of_folder(path: Path, metric: str) -> tuple[dict[str, _Points], dict[str, tuple[bool | None, str]]]:
    """MLflow's file store: `<experiment>/<run>/metrics/<name>`, a line `milliseconds value step` for each point."""
    folders = sorted(found for found in path.rglob("metrics") if found.is_dir())
    names = {file.name for folder in folders for file in folder.iterdir() if file.is_file()}
    if names and not metric:
        raise BadSetting(
            f"{path.name} holds several metrics", mend=f"name one with --metric: {', '.join(sorted(names)[:8])}"
        )
    if metric not in names:
        raise UnknownName(
            "metric", metric, names, where=path.name, mend="" if names else "give a folder of MLflow runs"
        )
    points: dict[str, _Points] = {}
    about: dict[str, tuple[bool | None, str]] = {}
    for folder in folders:
        if (folder / metric).is_file():
            run = folder.parent.name
            points[run] = list(_mlflow_points(folder / metric))
            about[run] = (None, _parameters(folder.parent / "params"))
    return points, about


def _mlflow_points(file: Path) -> Iterator[tuple[float, float, float | None]]:
    begun: float | None = None
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            stamp, value, step = (float(part) for part in line.split())
        except ValueError as error:
            raise BadFile(
                f"{line!r} is no point", where=f"{file.name}:{number}", mend="export the run again"
            ) from error
        begun = stamp if begun is None else begun
        yield step, (stamp - begun) / MILLISECONDS_PER_SECOND, value if math.isfinite(value) else None


def _parameters(folder: Path) -> str:
    if not folder.is_dir():
        return ""
    return ";".join(f"{file.name}={file.read_text(encoding='utf-8').strip()}" for file in sorted(folder.iterdir()))


# Collections of public curves, as laid out in folders of three tables.

_HIGHER = frozenset({"accuracy", "ssim", "mean_average_precision", "bleu"})
_LEAST_POINTS, _LEAST_RUNS = 3, 20


def read_algoperf(folder: Path) -> list[Sweep]:
    """Sweeps of AlgoPerf logs: runs of one workload and study under external tuning, where there are at least 20."""
    runs = {line.text("run"): line.cells for line in read_lines(_one(folder, "algoperf_runs"), needs=("run", "target"))}
    points: dict[str, _Points] = {}
    for line in read_lines(_one(folder, "algoperf_curves"), needs=("run", "step", "train_s", "value")):
        point = (line.needed("step"), line.needed("train_s"), line.number("value"))
        points.setdefault(line.text("run"), []).append(point)
    groups: dict[tuple[str, str], list[CurveRun]] = {}
    for name, cells in runs.items():
        if cells["version"] != "algoperf_v05" or cells["rules"] != "external_tuning":
            continue
        if len(points.get(name, ())) >= _LEAST_POINTS:
            groups.setdefault((cells["workload"], cells["study"]), []).append(_algoperf(name, cells, points[name]))
    return [
        Sweep(name=" ".join(key), runs=tuple(found))
        for key, found in sorted(groups.items())
        if len(found) >= _LEAST_RUNS
    ]


def _algoperf(name: str, cells: Mapping[str, str], points: _Points) -> CurveRun:
    sign = 1.0 if cells["metric"] in _HIGHER else -1.0
    return _run(name, _ascending(points), sign=sign, target=float(cells["target"]), config="", said=None)


def read_lcdb(folder: Path) -> list[Sweep]:
    """Sweeps of LCDB: learners of one data set; a step is a size of the training set, time adds up over sizes."""
    groups: dict[str, dict[str, _Points]] = {}
    for line in read_lines(_one(folder, "lcdb_curves"), needs=("openmlid", "learner", "size_train", "score_valid")):
        found = groups.setdefault(line.text("openmlid"), {}).setdefault(line.text("learner"), [])
        if line.text("score_valid"):
            found.append(
                (line.needed("size_train"), line.number("traintime_s", least=0) or 0.0, line.number("score_valid"))
            )
    sweeps = []
    for name, learners in sorted(groups.items()):
        kept = {learner: _summed(points) for learner, points in learners.items() if len(points) >= _LEAST_POINTS}
        runs = [_run(learner, points, sign=1.0, target=None, config="", said=None) for learner, points in kept.items()]
        if runs:
            sweeps.append(Sweep(name=f"lcdb {name}", runs=tuple(near_best(runs))))
    return sweeps


def read_nanogpt(folder: Path) -> list[Sweep]:
    """Sweeps of GPT-2 speed runs: the runs of one track."""
    tracks = {
        line.text("run"): line.text("track") for line in read_lines(_one(folder, "nanogpt_runs"), needs=("track",))
    }
    points: dict[str, _Points] = {}
    for line in read_lines(_one(folder, "nanogpt_curves"), needs=("run", "step", "val_loss", "train_s")):
        if line.text("train_s") and line.text("val_loss"):
            point = (line.needed("step"), line.needed("train_s", least=0), line.number("val_loss"))
            points.setdefault(line.text("run"), []).append(point)
    groups: dict[str, list[CurveRun]] = {}
    for name, found in points.items():
        curve = _ascending(found)
        if len(curve) >= _LEAST_POINTS and name in tracks and curve[-1][0] > 0:
            run = _run(name, curve, sign=-1.0, target=None, config="", said=None)
            groups.setdefault(tracks[name], []).append(run)
    return [Sweep(name=f"nanogpt {track}", runs=tuple(near_best(runs))) for track, runs in sorted(groups.items())]


def _one(folder: Path, stem: str) -> Path:
    found = sorted(folder.rglob(f"{stem}.csv*"))
    if not found:
        raise BadFile(f"there is no {stem}.csv", where=str(folder), mend="give the folder that holds it")
    return found[0]


def _ascending(points: _Points) -> _Points:
    """Points by step, each step once, time never running backwards: logs restart and repeat."""
    kept: _Points = []
    for step, seconds, value in sorted(points, key=lambda point: point[0]):
        if not kept or step > kept[-1][0]:
            kept.append((step, max(seconds, kept[-1][1]) if kept else seconds, value))
    return kept


def _summed(points: _Points) -> _Points:
    total, kept = 0.0, []
    for step, seconds, value in _ascending([(step, 0.0, value) for step, _, value in points]):
        total += next(s for at, s, _ in points if at == step)
        kept.append((step, total + seconds, value))
    return kept
