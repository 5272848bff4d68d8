"""Rows of closed-loop benchmarks with the labels of aiconfigurator's silicon sample, as csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from unitcost.errors import BadFile, DoesNotFit, NotMeasured
from unitcost.machine.corrections import LEVELS, level_keys
from unitcost.machine.steps import Served, StepGrid
from unitcost.measure.aiconfigurator import measured_grid
from unitcost.measure.labels import BACKENDS, GPU_OF_SYSTEM, Modes, known_model
from unitcost.units import MILLISECONDS_PER_SECOND

_PRECISIONS = {"": "bf16", "bf16": "bf16", "fp8": "fp8", "fp4": "nvfp4", "int4": "int4"}
#: Models whose labels do not say what was computed; what the checkpoint holds does.
_LABELS_MISLEAD = {("fp4", "openai/gpt-oss-120b"), ("fp4", "openai/gpt-oss-20b"), ("int4", "moonshotai/Kimi-K2.5")}
#: Tokens that a cache is taken to hold where the estimate finds no room and yet the run was measured.
_MEASURED_ANYWAY = 200_000
#: GPUs that may stand in for one without measured kernels.
_STAND_INS = ("B200", "H200", "H100-80GB")
_NEEDED = (
    "backend", "model_path", "system", "precision", "isl", "osl", "concurrency", "tp_size", "silicon_ttft_ms", "silicon_tpot_ms",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRow:
    """One measured run: so many requests in flight on one replica.

    Parameters
    ----------
    modes
        Modes that the labels name, to be tried first.
    ttft_s, tpot_s
        Measured means. [s]
    static_ttft_s, static_tpot_s
        The closed-form estimate that the row carries, where it does. [s]
    """

    id: str
    served: Served
    modes: tuple[Modes, ...]
    concurrency: int
    input_tokens: int
    output_tokens: int
    ttft_s: float
    tpot_s: float
    static_ttft_s: float | None
    static_tpot_s: float | None

    @property
    def group(self) -> str:
        """Backend, GPU, model and precision."""
        return level_keys(self.served)[LEVELS.index("measured group")]

    @property
    def configuration(self) -> str:
        """All that was set but the number of requests in flight; the engine's version is left out too."""
        one = self.served
        layout = f"{one.tensor_parallel} {one.attention_data_parallel} {one.expert_parallel}"
        return f"{self.group} {layout} {self.input_tokens} {self.output_tokens}"


def read_rows(path: Path) -> list[ServingRow]:
    """All rows of a file.

    Raises
    ------
    BadFile
        When a needed column or a number is missing; the message names the row.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise BadFile(f"columns are missing: {', '.join(missing)}", where=str(path), mend="see the reference")
        return [_row(cells, f"{path}:{number}") for number, cells in enumerate(reader, start=2)]


def _row(cells: dict[str, str], where: str) -> ServingRow:
    try:
        return ServingRow(
            id=cells.get("id", ""), served=_served(cells), modes=_modes(cells),
            concurrency=int(float(cells["concurrency"])), input_tokens=int(float(cells["isl"])),
            output_tokens=int(float(cells["osl"])), ttft_s=_s(cells["silicon_ttft_ms"]), tpot_s=_s(cells["silicon_tpot_ms"]),
            static_ttft_s=_maybe_s(cells.get("static_ttft_ms")), static_tpot_s=_maybe_s(cells.get("static_tpot_ms")),
        )  # fmt: skip
    except (ValueError, KeyError) as error:
        raise BadFile(
            f"a number or a label cannot be read: {error}", where=where, mend="correct or remove the row"
        ) from error


def _served(cells: dict[str, str]) -> Served:
    model = cells["model_path"]
    precision = "mxfp4" if "gpt-oss" in model.casefold() else _PRECISIONS[cells["precision"]]
    return Served(
        model=known_model(model), gpu=GPU_OF_SYSTEM[cells["system"]], precision=precision, backend=cells["backend"],
        tensor_parallel=_size(cells, "tp_size"), attention_data_parallel=_size(cells, "attention_dp_size"),
        expert_parallel=_size(cells, "moe_ep_size"),
    )  # fmt: skip


def _modes(cells: dict[str, str]) -> tuple[Modes, ...]:
    if (cells["precision"], cells["model_path"]) in _LABELS_MISLEAD:
        return ()
    labels = (cells.get("gemm_quant_mode") or None, cells.get("moe_quant_mode") or None)
    return (labels,) if any(labels) else ()


def _size(cells: dict[str, str], name: str) -> int:
    return int(float(cells.get(name) or 1))


def _s(milliseconds: str) -> float:
    return float(milliseconds) / MILLISECONDS_PER_SECOND


def _maybe_s(milliseconds: str | None) -> float | None:
    return _s(milliseconds) if milliseconds else None


def grid_of(row: ServingRow) -> StepGrid:
    """Step times for a measured row; from the nearest measured kernels where its own are missing.

    Notes
    -----
    Nearest: the same GPU under another engine, then another GPU. A run that was measured fitted, whatever an estimate
    of its memory says.
    """
    refused: NotMeasured | None = None
    for served in _near(row.served):
        try:
            grid = _roomy_grid(served, row.modes)
        except NotMeasured as refusal:
            refused = refused or refusal
            continue
        if served == row.served:
            return grid
        flag = f"kernels of {served.gpu} with {served.backend} stand in for {row.served.gpu} with {row.served.backend}"
        return replace(grid, served=row.served, flags=(*grid.flags, flag))
    raise refused or NotMeasured(f"nothing like {row.served.model} is measured", where=row.id)


def _roomy_grid(served: Served, modes: tuple[Modes, ...]) -> StepGrid:
    try:
        return measured_grid(served, modes)
    except DoesNotFit:
        return measured_grid(served, modes, kv_tokens=_MEASURED_ANYWAY)


def _near(served: Served) -> list[Served]:
    engines = [served, *(replace(served, backend=backend) for backend in BACKENDS if backend != served.backend)]
    return [*engines, *(replace(served, gpu=gpu) for gpu in _STAND_INS if gpu != served.gpu)]
