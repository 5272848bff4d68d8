"""Bring a model into smaller forms, measure each beside the original, and choose at fixed quality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unitcost.jobs.compare import Terms
from unitcost.jobs.measure_model import Measured, measure_model
from unitcost.jobs.workspace import Workspace
from unitcost.measure.answering import answer_all, answers
from unitcost.measure.bench_run import Session
from unitcost.measure.compression.distilling import students
from unitcost.measure.compression.forms import Given
from unitcost.measure.compression.making import Made, make_each, make_forms
from unitcost.measure.eval_data import EvalData, read_eval
from unitcost.measure.reasons import reason
from unitcost.measure.runtimes import runtime
from unitcost.measure.runtimes.running import Array, Setting

ORIGINAL = "original"
#: Batch in which a teacher is asked.
_TEACHER_BATCH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is made.

    Parameters
    ----------
    model
        The original.
    forms
        Names of forms; empty = all.
    calibration
        File with inputs that may be looked at, or None: those beside the data.
    unlabelled
        File with inputs that students learn from, or None: the calibration inputs.
    is_distilled
        Whether students are trained.
    students
        Models that the user has made: name -> file.
    folder
        Where forms are written.
    """

    model: Path
    folder: Path
    forms: tuple[str, ...] = ()
    calibration: Path | None = None
    unlabelled: Path | None = None
    is_distilled: bool = False
    students: tuple[tuple[str, Path], ...] = ()


def compress(
    workspace: Workspace, recipe: Recipe, session: Session, terms: Terms, *, out: Path | None = None,
    said: Callable[[str], None] = lambda _: None,
) -> Measured:  # fmt: skip
    """Make forms, measure all in turns, choose.

    Notes
    -----
    Items that quality is judged on are never used to make a form.
    """
    recipe.folder.mkdir(parents=True, exist_ok=True)
    data = read_eval(session.data, label=session.label)
    looked_at, labels = _looked_at(recipe.model, data, recipe.calibration)
    given = Given(model=recipe.model, calibration=looked_at, labels=labels, output=session.output)
    made = make_forms(given, recipe.forms, recipe.folder, said)
    if recipe.is_distilled:
        made = _with_students(recipe, data, looked_at, session, made, said)
    models = {ORIGINAL: recipe.model, **made.files, **dict(recipe.students)}
    terms = replace(terms, limits=replace(terms.limits, reference=terms.limits.reference or ORIGINAL))
    session = replace(session, models=models, failed=made.failed, notes=made.notes)
    return measure_model(workspace, session, terms, out=out, said=said)


def _looked_at(model: Path, data: EvalData, file: Path | None) -> tuple[dict[str, Array], Array | None]:
    """Inputs that may be looked at and their classes: those of a file, else the arrays beside the data, else none."""
    inputs = runtime("ort").open(model, Setting()).inputs
    if file is not None:
        given = read_eval(file)
        return given.feeds(inputs), _places(given.labels, data.labels, given.items)
    if data.calibration is None or len(inputs) != 1:
        return {}, None
    beside = replace(data, columns={inputs[0].name: data.calibration})
    return beside.feeds(inputs), _places(data.calibration_labels, data.labels, beside.items)


def _places(labels: Array | None, known: Array | None, items: int) -> Array | None:
    """Classes by place: names in the alphabetical order of those in the data; None where they are no classes."""
    if labels is None or known is None or len(labels) != items:
        return None
    if labels.dtype.kind in "USO":
        names = np.unique(known.astype(str))
        texts = labels.astype(str)
        return np.searchsorted(names, texts) if np.isin(texts, names).all() else None
    return labels.astype(np.int64) if np.array_equal(labels, np.round(labels)) else None


def _with_students(
    recipe: Recipe,
    data: EvalData,
    looked_at: dict[str, Array],
    session: Session,
    made: Made,
    said: Callable[[str], None],
) -> Made:
    """Students of what the original answers to inputs without labels."""
    taught = _looked_at(recipe.model, data, recipe.unlabelled)[0] if recipe.unlabelled else looked_at
    if not taught:
        return replace(
            made, failed={**made.failed, "student": "there are no inputs without labels: give --unlabelled FILE"}
        )
    try:
        teacher = runtime("ort").open(recipe.model, Setting(batch=_TEACHER_BATCH))
        answered = answers(answer_all(teacher, taught, _TEACHER_BATCH, output=session.output), data.labels)
        trained = make_each(students(taught, answered), recipe.model.stem, recipe.folder, said)
    except Exception as error:  # a converter may raise anything; its reason is a row of the answer
        return replace(made, failed={**made.failed, "student": reason(error)})
    return Made(
        files=made.files | trained.files, failed=made.failed | trained.failed, notes=made.notes | trained.notes
    )  # fmt: skip


def forms_of(text: str) -> tuple[str, ...]:
    """Names of forms of a text like `dynamic-s8,static-qdq`."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
