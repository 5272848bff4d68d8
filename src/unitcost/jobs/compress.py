"""Bring a model into smaller forms, measure each beside the original, and choose at fixed quality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

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
    looked_at = _inputs(recipe.model, data, recipe.calibration)
    made = make_forms(Given(model=recipe.model, calibration=looked_at), recipe.forms, recipe.folder, said)
    if recipe.is_distilled:
        made = _with_students(recipe, data, looked_at, session, made, said)
    models = {ORIGINAL: recipe.model, **made.files, **dict(recipe.students)}
    terms = replace(terms, limits=replace(terms.limits, reference=terms.limits.reference or ORIGINAL))
    session = replace(session, models=models, failed=made.failed)
    return measure_model(workspace, session, terms, out=out, said=said)


def _inputs(model: Path, data: EvalData, file: Path | None) -> dict[str, Array]:
    """Inputs that may be looked at: those of a file, else the calibration array beside the data, else none."""
    inputs = runtime("ort").open(model, Setting()).inputs
    if file is not None:
        return read_eval(file).feeds(inputs)
    if data.calibration is None or len(inputs) != 1:
        return {}
    return replace(data, columns={inputs[0].name: data.calibration}).feeds(inputs)


def _with_students(
    recipe: Recipe,
    data: EvalData,
    looked_at: dict[str, Array],
    session: Session,
    made: Made,
    said: Callable[[str], None],
) -> Made:
    """Students of what the original answers to inputs without labels."""
    taught = _inputs(recipe.model, data, recipe.unlabelled) if recipe.unlabelled else looked_at
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
    return Made(files=made.files | trained.files, failed=made.failed | trained.failed)


def forms_of(text: str) -> tuple[str, ...]:
    """Names of forms of a text like `dynamic-s8,static-qdq`."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
