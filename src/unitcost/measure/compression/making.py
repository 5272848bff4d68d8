"""Making forms of a model: what can be made is a file, what cannot be is a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unitcost.errors import UnknownName
from unitcost.measure.compression import forms
from unitcost.measure.compression.forms import Form, Given
from unitcost.measure.compression.layers import fewer_layers
from unitcost.measure.reasons import reason

FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form(name="dynamic-s8", make=forms.dynamic_s8, what="int8 weights per channel, products of matrices only"),
        Form(name="dynamic-u8", make=forms.dynamic_u8, what="int8 weights per tensor, everything the tool knows"),
        Form(
            name="dynamic-s8-all", make=forms.dynamic_s8_all, what="int8 weights per channel, everything the tool knows"
        ),
        Form(name="static-qdq", make=forms.static_qdq, what="int8 weights and activations, calibrated"),
        Form(name="fp16", make=forms.float16, what="16-bit floats"),
        Form(name="slim", make=forms.slim, what="the same numbers with fewer operations"),
        Form(name="pruned", make=forms.pruned, what="half of each weight matrix set to zero, to compare"),
        Form(name="fewer-layers", make=fewer_layers, what="half of the layers, the last linear layer fitted again"),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Forms that were made, by name, why others were not, and what is to be said of those that were."""

    files: dict[str, Path]
    failed: dict[str, str]
    notes: dict[str, str] = field(default_factory=dict)


def make_forms(given: Given, names: Sequence[str], folder: Path, said: Callable[[str], None] = lambda _: None) -> Made:
    """Write forms of a model into a folder.

    Parameters
    ----------
    names
        Which forms; empty = all.

    Raises
    ------
    UnknownName
        When there is no form by a name.
    """
    for name in names:
        if name not in FORMS:
            raise UnknownName("form", name, FORMS)
    makers = {name: FORMS[name].make for name in names or FORMS}
    calls: dict[str, Callable[[Path], str | None]] = {name: _bound(make, given) for name, make in makers.items()}
    return make_each(calls, given.model.stem, folder, said)


def make_each(
    makers: Mapping[str, Callable[[Path], str | None]], stem: str, folder: Path, said: Callable[[str], None]
) -> Made:
    """Call each maker with its file; whatever one raises is the reason of that one."""
    files: dict[str, Path] = {}
    failed: dict[str, str] = {}
    notes: dict[str, str] = {}
    for name, make in makers.items():
        said(f"making {name}")
        to = folder / f"{stem}.{name}.onnx"
        try:
            notes[name] = make(to) or (FORMS[name].what if name in FORMS else "")
            files[name] = to
        except Exception as error:  # a converter may raise anything; its reason is a row of the answer
            failed[name] = reason(error)
    return Made(files=files, failed=failed, notes=notes)


def _bound(make: forms.Make, given: Given) -> Callable[[Path], str | None]:
    return lambda to: make(given, to)
