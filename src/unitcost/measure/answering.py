"""What a model answers to all items, in batches of the size that it is served with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unitcost.errors import UnitcostError
from unitcost.measure.runtimes.running import Array, Running

#: Outputs that hold the answer, in the form that scikit-learn's converters write.
_LABEL_OUTPUTS = ("label", "output_label")


def answer_all(model: Running, feeds: Mapping[str, Array], batch: int, *, output: str = "") -> Array:
    """Raw output for each item; the last batch is filled up with its own first items, and these are dropped again.

    Raises
    ------
    UnitcostError
        When there is no such output, it has another number of items, or holds NaN.
    """
    items = len(next(iter(feeds.values())))
    found = []
    for start in range(0, items, batch):
        taken = np.arange(start, start + batch) % items if items < start + batch else np.arange(start, start + batch)
        outputs = model.run({name: column[taken] for name, column in feeds.items()})
        place = _place(model.output_names, output)  # some files tell their outputs with the first answer only
        out = np.asarray(outputs[place])
        if out.ndim == 0 or len(out) != batch:
            raise UnitcostError(
                f"{model.output_names[place]} has shape {out.shape} for a batch of {batch}",
                mend="export the model with a free first dimension, or name another output with --output",
            )  # fmt: skip
        found.append(out[: min(batch, items - start)])
    whole = np.concatenate(found)
    if whole.dtype.kind == "f" and not np.isfinite(whole).all():
        bad = int((~np.isfinite(whole)).reshape(len(whole), -1).any(axis=1).sum())
        raise UnitcostError(
            f"{bad:,} of {items:,} outputs are NaN or infinite", mend="this form of the model is broken"
        )
    return whole


def answers(raw: Array, labels: Array | None, *, is_score: bool = False) -> Array:
    """Answer to each item from a raw output: a label, the class of the highest value, or the number itself.

    Parameters
    ----------
    is_score
        Whether the metric wants the score of the positive class instead of a label.

    Raises
    ------
    UnitcostError
        When labels are texts and their number is not that of the classes.
    """
    flat = raw.reshape(len(raw), -1)
    if is_score:
        return np.asarray(flat[:, -1], dtype=np.float64)
    is_named = labels is not None and labels.dtype.kind in "USO"
    if flat.shape[1] == 1 or raw.dtype.kind != "f":
        said = np.asarray(flat[:, 0])
        return _names(said, labels) if is_named and said.dtype.kind in "iu" else said
    best = np.asarray(flat.argmax(axis=1))
    return _names(best, labels, flat.shape[1]) if is_named else best


def _names(places: Array, labels: Array | None, classes: int | None = None) -> Array:
    """Names of classes that are told by place: the labels in alphabetical order."""
    names = np.unique(np.asarray(labels).astype(str))
    told = int(places.max()) + 1 if classes is None else classes
    if told > len(names) or (classes is not None and told < len(names)) or int(places.min()) < 0:
        raise UnitcostError(
            f"the model tells {told} classes and the labels name {len(names)}",
            mend="give labels as numbers, or a model that answers with names",
        )
    return np.asarray(names[places])


def _place(names: Sequence[str], output: str) -> int:
    if output and output not in names:
        raise UnitcostError(f"there is no output `{output}`", mend=f"use one of: {', '.join(names)}")
    wanted = [output] if output else [name for name in _LABEL_OUTPUTS if name in names]
    return list(names).index(wanted[0]) if wanted else 0
