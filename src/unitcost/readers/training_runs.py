"""Measured training speeds: the layout of a public collection of them, or a short table of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unitcost.errors import BadFile
from unitcost.facts.training_runs import BatchRun, MeasuredRate, MeasuredRun
from unitcost.readers.planning_table import Line, read_lines
from unitcost.units import GIGA

_NEEDS = ("model", "params_b", "gpu", "gpus", "seq_len", "tokens_s_gpu")
_YES = frozenset({"true", "1", "yes", "full", "selective", "per-op selective"})


def read(path: Path, *, source: str = "") -> list[MeasuredRun]:
    """Rows of language models with their speed in tokens; rows without one are left out.

    Columns: `model, params_b, gpu, gpus, seq_len, tokens_s_gpu`, and perhaps `micro_batch, precision, act_ckpt, technique,
    source, row_id`.

    Parameters
    ----------
    source
        Name of the code base for rows that have none.

    Raises
    ------
    BadFile
        When a column is missing or a number is none.
    """
    runs = list(_runs(path, source or path.stem))
    if not runs:
        raise BadFile(
            "no row has a size, a sequence and a speed in tokens", where=path.name,
            mend=f"fill the columns {', '.join(_NEEDS)}",
        )  # fmt: skip
    return runs


def _runs(path: Path, source: str) -> Iterator[MeasuredRun]:
    for line in read_lines(path, needs=_NEEDS):
        if all(line.text(column) for column in _NEEDS):
            yield _run(line, source)


def _run(line: Line, source: str) -> MeasuredRun:
    return MeasuredRun(
        source=line.text("source") or source,
        row=line.text("row_id") or line.where,
        model=line.text("model"),
        params=line.needed("params_b", least=0) * GIGA,
        accelerator=line.text("gpu"),
        accelerators=int(line.needed("gpus", least=1)),
        seq_len=int(line.needed("seq_len", least=1)),
        micro_batch=line.number("micro_batch", least=0) or 1.0,
        precision=line.text("precision") or "bf16",
        recompute=line.text("act_ckpt").casefold() in _YES,
        compiled="compile" in line.text("technique").casefold(),
        tokens_per_s=line.needed("tokens_s_gpu", least=0),
    )


def read_rates(path: Path) -> list[MeasuredRate]:
    """Speeds by accelerator: `accelerator, units_per_s[, accelerators]`; the speed is that of all of them together.

    Raises
    ------
    BadFile
        When a column is missing, or a speed is not above zero.
    """
    rates = []
    for line in read_lines(path, needs=("accelerator", "units_per_s")):
        count = int(line.number("accelerators", least=1) or 1)
        rates.append(
            MeasuredRate(
                row=line.where, chip=line.text("accelerator"), accelerators=count,
                units_per_s=line.needed("units_per_s", least=0) / count,
            )
        )  # fmt: skip
    return rates


def read_batches(path: Path) -> list[BatchRun]:
    """Runs of one model to one target with several batches: `batch`, and `samples` or `hours`, and perhaps `accelerators`.

    Raises
    ------
    BadFile
        When a column is missing, or a value is not above zero.
    """
    return [
        BatchRun(
            row=line.where, batch=line.needed("batch", least=0), samples=line.number("samples", least=0),
            hours=line.number("hours", least=0), accelerators=int(line.number("accelerators", least=1) or 1),
        )
        for line in read_lines(path, needs=("batch",))
    ]  # fmt: skip
