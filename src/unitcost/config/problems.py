"""What is wrong with a settings file, in words: each problem with its path and the nearest key that exists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from unitcost.config import schema
from unitcost.errors import near_names

_TYPES = {
    "string_type": "text in quotes is expected",
    "int_type": "a whole number is expected",
    "bool_type": "true or false is expected",
    "list_type": "a list is expected: [ ... ]",
    "dict_type": "a table is expected",
    "model_type": "a table is expected",
    "date_type": "a day is expected, without quotes: 2026-09-01",
    "decimal_type": "a number is expected",
    "is_instance_of": "a number is expected",
    "finite_number": "a finite number is expected",
    "string_too_short": "it is empty",
}


def describe(error: ValidationError) -> Iterator[str]:
    """Sentences for all problems, each once, in the order of the file's shape."""
    seen = set()
    for issue in error.errors():
        sentence = _sentence(issue)
        if sentence not in seen and not _is_other_branch(issue):
            seen.add(sentence)
            yield sentence


def _is_other_branch(issue: Any) -> bool:
    """Whether this only says that a list is no table, where either may stand and the list is at fault otherwise."""
    return issue["type"] == "dict_type" and isinstance(issue["input"], list) and any(map(_is_branch, issue["loc"]))


def _sentence(issue: Any) -> str:
    steps = [step for step in issue["loc"] if not _is_branch(step)]
    where = _path(steps)
    if issue["type"] == "extra_forbidden":
        known = _keys(steps[:-1])
        near = near_names(str(steps[-1]), known, most=1)
        return f"there is no setting `{where}`; " + (
            f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(known)}"
        )
    if issue["type"] == "missing":
        return f"`{where}` is missing"
    found = _TYPES.get(issue["type"]) or issue["msg"].removeprefix("Value error, ").replace(
        "Input should be", "must be"
    )
    return f"`{where}`: {found}" + _shown(issue)


def _shown(issue: Any) -> str:
    """The value that was found, when it is short and the sentence does not name it already."""
    value = issue["input"]
    if issue["type"] == "value_error" or not isinstance(value, str | int | Decimal):
        return ""
    text = str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)
    return f", found {text}" if len(text) <= 60 else ""


def _is_branch(step: Any) -> bool:
    """Whether a step is pydantic's name for an alternative of a type rather than a place in the file."""
    return isinstance(step, str) and (step == "[key]" or ("[" in step and step.endswith("]")))


def _path(steps: Sequence[Any]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path or "the file"


def _keys(steps: Sequence[Any]) -> list[str]:
    """Keys that the table at a path may have; none when its keys are free."""
    place: Any = schema.File
    for step in steps:
        if isinstance(step, int):
            continue
        model = _model_in(place)
        if model is None:
            return []
        fields = model.model_fields
        found = next((f for name, f in fields.items() if step in (name, f.alias)), None)
        if found is not None:
            place = found.annotation
    model = _model_in(place)
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)
