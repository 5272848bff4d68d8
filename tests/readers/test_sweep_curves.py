"""Learning curves from csv and from MLflow's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from unitcost.errors import BadFile, UnknownName
from unitcost.readers.sweep_curves import read, read_algoperf, read_lcdb, read_nanogpt

CSV = "run,step,seconds,metric,loss\na,1,10,0.5,2\na,2,20,0.8,1\nb,1,11,0.4,3\nb,2,22,,\n"


def written(folder: Path, text: str = CSV) -> Path:
    path = folder / "curves.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_points_become_runs(tmp_path: Path) -> None:
    sweep = read(written(tmp_path), target=0.75)
    assert [run.run for run in sweep.runs] == ["a", "b"]
    assert [run.accepted for run in sweep.runs] == [True, False]
    assert list(sweep.runs[1].values) == [0.4, None]


def test_a_metric_to_minimise_is_turned_round(tmp_path: Path) -> None:
    sweep = read(written(tmp_path), metric="loss", direction="minimize", target=1.5)
    assert list(sweep.runs[0].values) == [-2, -1]
    assert [run.accepted for run in sweep.runs] == [True, False]


def test_without_a_target_runs_near_the_best_end_are_accepted(tmp_path: Path) -> None:
    sweep = read(written(tmp_path, "run,step,seconds,metric\na,1,1,1.0\nb,1,1,0.995\nc,1,1,0.9\n"))
    assert [run.accepted for run in sweep.runs] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run,step,seconds,metric\na,1,10,nan\n", "not a number"),
        ("run,step,seconds,metric\na,2,10,1\na,1,20,1\n", "do not ascend"),
        ("run,step,seconds,metric\na,1,-10,1\n", "of at least 0"),
        ("run,step,seconds,metric\n,1,10,1\n", "`run` is empty"),
        ("run,step,seconds,metric\n", "no points"),
        ("run,step\na,1\n", "no column `seconds`"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read(written(tmp_path, text))


def test_an_unknown_metric_is_answered_with_near_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="metric"):
        read(written(tmp_path), metric="metrix")


def test_mlflow_runs_are_read_from_their_folder(tmp_path: Path) -> None:
    for run, values in (("r1", [0.1, 0.9]), ("r2", [0.1, 0.2])):
        folder = tmp_path / "0" / run / "metrics"
        folder.mkdir(parents=True)
        (folder / "acc").write_text("".join(f"{1000 + 500 * n} {v} {n + 1}\n" for n, v in enumerate(values)))
        (folder.parent / "params").mkdir()
        (folder.parent / "params" / "lr").write_text("0.1")
    sweep = read(tmp_path, metric="acc", target=0.5)
    assert [run.accepted for run in sweep.runs] == [True, False]
    assert list(sweep.runs[0].seconds) == [0.0, 0.5]
    assert {run.config for run in sweep.runs} == {"lr=0.1"}


def test_public_collections_have_the_sweeps_that_their_index_counts(shared_data: Path) -> None:
    folder = shared_data / "training/sweeps"
    algoperf = read_algoperf(folder)
    assert len(algoperf) == 40
    assert all(len(sweep.runs) >= 20 for sweep in algoperf)
    assert len(read_lcdb(folder)) > 100
    assert len(read_nanogpt(folder)) == 3
