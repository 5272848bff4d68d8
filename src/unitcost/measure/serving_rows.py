"""Rows of closed-loop benchmarks with the labels of aiconfigurator's silicon sample, as csv."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from pathlib import Path

from unitcost.errors import BadFile, DoesNotFit, NotMeasured, UnitcostError, UnknownName
from unitcost.machine.corrections import LEVELS, level_keys
from unitcost.machine.steps import Served, StepGrid
from unitcost.measure.aiconfigurator import measured_grid
from unitcost.measure.labels import BACKENDS, GPU_OF_SYSTEM, PRECISIONS, Modes, known_model, system_of
from unitcost.units import MILLISECONDS_PER_SECOND

_PRECISIONS = {"": "bf16", "fp16": "bf16", "fp4": "nvfp4"} | {name: name for name in PRECISIONS}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """A row that cannot take part: its id, or where it stands, and why."""

    row: str
    reason: str


def read_rows(path: Path) -> list[ServingRow]:
    """All rows of a file.

    Raises
    ------
    BadFile
        When a needed column is missing, or a row cannot be used; the message names the row.
    """
    rows, unused = read_usable(path)
    if unused:
        raise BadFile(unused[0].reason, where=unused[0].row, mend="correct or remove the row")
    return rows


def read_usable(path: Path) -> tuple[list[ServingRow], list[Unused]]:
    """Rows of a file that can be worked out, and the others with the reason.

    Raises
    ------
    BadFile
        When a needed column is missing.
    """
    rows: list[ServingRow] = []
    unused: list[Unused] = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise BadFile(
                f"columns are missing: {', '.join(missing)}",
                where=str(path),
                mend="name them as the silicon sample does",
            )
        for number, cells in enumerate(reader, start=2):
            try:
                rows.append(_row(cells))
            except (ValueError, OverflowError, UnitcostError) as error:
                reason = error.what if isinstance(error, UnitcostError) else f"a number cannot be read: {error}"
                unused.append(Unused(row=f"{path}:{number}", reason=reason))
    return rows, unused


def _row(cells: dict[str, str]) -> ServingRow:
    if any(cells[name] is None for name in _NEEDED):
        raise ValueError("the row is shorter than the header")
    row = ServingRow(
            id=cells.get("id", ""), served=_served(cells), modes=_modes(cells),
            concurrency=int(float(cells["concurrency"])), input_tokens=int(float(cells["isl"])),
            output_tokens=int(float(cells["osl"])), ttft_s=_s(cells["silicon_ttft_ms"]), tpot_s=_s(cells["silicon_tpot_ms"]),
            static_ttft_s=_maybe_s(cells.get("static_ttft_ms")), static_tpot_s=_maybe_s(cells.get("static_tpot_ms")),
        )  # fmt: skip
    if min(row.concurrency, row.input_tokens, row.output_tokens) < 1 or not _above_zero(row.ttft_s, row.tpot_s):
        raise ValueError("a size is below one, or a measured time is not above zero")
    return row


def _above_zero(*times_s: float) -> bool:
    return all(math.isfinite(time_s) and time_s > 0 for time_s in times_s)


def _served(cells: dict[str, str]) -> Served:
    model, backend = cells["model_path"], cells["backend"]
    if backend not in BACKENDS:
        raise UnknownName("backend", backend, BACKENDS)
    if _size(cells, "pp_size") > 1:
        raise NotMeasured("pipeline parallelism is not modelled")
    return Served(
        model=known_model(model), gpu=GPU_OF_SYSTEM[system_of(cells["system"])], precision=_precision(cells), backend=backend,
        tensor_parallel=_size(cells, "tp_size"), attention_data_parallel=_size(cells, "attention_dp_size"),
        expert_parallel=_size(cells, "moe_ep_size"),
    )  # fmt: skip


def _precision(cells: dict[str, str]) -> str:
    if "gpt-oss" in cells["model_path"].casefold():
        return "mxfp4"
    named = cells["precision"].strip().casefold()
    if named not in _PRECISIONS:
        raise UnknownName("precision", named, _PRECISIONS)
    return _PRECISIONS[named]


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
