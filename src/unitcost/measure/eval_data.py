"""The user's own labelled data: npz, csv or JSON lines, as inputs of a model."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import BadFile, UnitcostError
from unitcost.measure.item_table import TRUTH
from unitcost.measure.runtimes.running import AS_GIVEN, Array, Input
from unitcost.measure.tables import read_rows

_LABELS = ("y", "yte", "y_test", "labels", *TRUTH, "category", "class")
_INPUTS = ("X", "Xte", "X_test", "x", "inputs", "data", "text")
_CALIBRATION_LABELS = ("ytr", "y_train", "calibration_labels")
_CALIBRATION = ("Xtr", "X_train", "x_train", "calibration")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalData:
    """Columns of labelled data.

    Parameters
    ----------
    columns
        Name -> one entry per item.
    labels
        What is right, or None.
    calibration, calibration_labels
        Inputs that may be looked at while a model is made smaller, and what is right for them, or None.
    source
        Where they come from.
    """

    columns: dict[str, Array]
    labels: Array | None
    calibration: Array | None
    source: str
    calibration_labels: Array | None = None

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(next(iter(self.columns.values())))

    def feeds(self, inputs: Sequence[Input]) -> dict[str, Array]:
        """All items as inputs of a model, in its types and shapes.

        Raises
        ------
        UnitcostError
            When an input has no column, or the shapes do not fit.
        """
        return {given.name: fitted(self._column(given, len(inputs)), given, self.source) for given in inputs}

    def _column(self, given: Input, inputs: int) -> Array:
        if given.name in self.columns:
            return self.columns[given.name]
        known = [name for name in _INPUTS if name in self.columns]
        if inputs == 1 and known:
            return self.columns[known[0]]
        if inputs == 1 and len(self.columns) == 1:
            return next(iter(self.columns.values()))
        if (
            inputs == 1
            and given.dtype != "str"
            and all(c.ndim == 1 and c.dtype.kind in "iuf" for c in self.columns.values())
        ):
            return np.stack(list(self.columns.values()), axis=1)
        raise UnitcostError(
            f"no column is meant for the input `{given.name}` (there are {', '.join(self.columns)})", where=self.source,
            mend="call a column after each input of the model",
        )  # fmt: skip


def read_eval(path: Path, *, label: str = "") -> EvalData:
    """Labelled data of a file.

    Parameters
    ----------
    label
        Column with the labels; empty = found by its name.

    Raises
    ------
    BadFile
        When the file holds no items, or columns of unlike length.
    """
    if path.suffix == ".npy":
        raise BadFile("is a single array without a name", where=str(path), mend="save it with numpy.savez(FILE, x=...)")
    columns = _npz(path) if path.suffix == ".npz" else _table(path)
    if label and label not in columns:
        raise BadFile(f"there is no column `{label}`", where=str(path), mend=f"use one of: {', '.join(columns)}")
    name = label or next((name for name in _LABELS if name in columns), "")
    labels = columns.pop(name, None)
    calibration = columns.pop(next((n for n in _CALIBRATION if n in columns), ""), None)
    calibration_labels = columns.pop(next((n for n in _CALIBRATION_LABELS if n in columns), ""), None)
    if labels is not None:
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise BadFile(
                f"{int((~np.isfinite(labels)).sum()):,} labels in `{name}` are NaN or infinite", where=str(path),
                mend="leave out what has no label",
            )  # fmt: skip
        columns = _as_many(columns, name, labels, path)
    if not columns or not len(next(iter(columns.values()))):
        raise BadFile("holds no items", where=str(path), mend="give inputs, and labels of the same number")
    if len({len(column) for column in columns.values()}) > 1:
        raise BadFile("columns are of unlike length", where=str(path), mend="name the labels with --label")
    return EvalData(
        columns=columns, labels=labels, calibration=calibration, source=str(path), calibration_labels=calibration_labels
    )


def _as_many(columns: dict[str, Any], name: str, labels: Array, path: Path) -> dict[str, Any]:
    """Columns that have an entry per label."""
    kept = {key: column for key, column in columns.items() if len(column) == len(labels)}
    if columns and not kept:
        told = ", ".join(f"{key} has {len(column):,}" for key, column in columns.items())
        raise BadFile(
            f"there are {len(labels):,} labels in `{name}` and no column of so many items ({told})", where=str(path),
            mend="give a label for each item, or name the labels with --label",
        )  # fmt: skip
    return kept


def fitted(column: Array, given: Input, where: str) -> Array:
    """Items in the type and shape of an input."""
    made = _typed(column, given)
    if given.shape and made.ndim < len(given.shape):
        made = made.reshape(made.shape + (1,) * (len(given.shape) - made.ndim))
    if len(given.shape) == 2 and made.ndim > 2:
        made = made.reshape(len(made), -1)
    wanted = given.shape[1:]
    fits = not given.shape or (
        made.ndim == len(given.shape) and all(w in (None, h) for w, h in zip(wanted, made.shape[1:], strict=True))
    )
    if not fits:
        shown = "x".join("?" if size is None else str(size) for size in wanted)
        raise UnitcostError(
            f"items of shape {made.shape[1:]} do not fit the input `{given.name}` of shape {shown}", where=where,
            mend="give items in the shape that the model was exported with",
        )  # fmt: skip
    if made.dtype.kind == "f" and not np.isfinite(made).all():
        raise BadFile(
            f"the input `{given.name}` holds NaN or infinity", where=where, mend="clean the items, or leave them out"
        )
    return made


def _typed(column: Array, given: Input) -> Array:
    if given.dtype == AS_GIVEN:
        return column.astype(np.float32) if column.dtype.kind == "f" else column
    return column.astype(object if given.dtype == "str" else given.dtype)


def _npz(path: Path) -> dict[str, Any]:
    if not zipfile.is_zipfile(path):
        raise BadFile("cannot be read as npz: it is no archive", where=str(path), mend="save it with numpy.savez")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if "Object arrays" in str(error):
            raise BadFile(
                "holds Python objects, which could run code while they are read", where=str(path),
                mend="save texts with dtype=str, and numbers with theirs",
            ) from error  # fmt: skip
        raise BadFile(f"cannot be read as npz: {error}", where=str(path), mend="save it with numpy.savez") from error
    return {name: column for name, column in found.items() if column.ndim}  # a single number belongs to no item


def _table(path: Path) -> dict[str, Any]:
    rows = read_rows(path)
    return {name: _cells([row.get(name) for row in rows], f"{path}, column {name}") for name in rows[0]}


def _cells(cells: Sequence[Any], where: str) -> Array:
    if any(cell is None for cell in cells):
        raise BadFile("a cell is missing", where=where, mend="give each row all columns")
    try:
        if isinstance(cells[0], list):
            return np.array(cells)
    except ValueError as error:
        raise BadFile("lists are of unlike length", where=where, mend="give each item a list of one length") from error
    try:
        return np.array(cells, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([str(cell) for cell in cells])
