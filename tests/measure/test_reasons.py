"""One wording of a reason, whoever failed."""

from __future__ import annotations

from unitcost.errors import UnitcostError
from unitcost.measure.reasons import SHOWN, reason


def test_a_reason_is_one_line_with_its_kind():
    assert reason(RuntimeError("out of\n  memory")) == "RuntimeError: out of memory"
    assert reason(MemoryError()) == "MemoryError"
    assert reason(UnitcostError("no output", where="m.onnx", mend="name one")) == "m.onnx: no output. Mend: name one"


def test_pages_are_cut_and_say_so():
    said = reason(ValueError("word " * 1000))
    assert len(said) <= SHOWN
    assert said.endswith("…")
