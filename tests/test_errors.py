"""A message says what, where and mend."""

from __future__ import annotations

import pytest

from unitcost.errors import BadBill, BadSetting, DoesNotClose, UnitcostError, UnknownName, near_names


def test_a_message_has_place_cause_and_mend() -> None:
    error = BadBill("'BilledCost' is '12,50', not a number", where="bills.csv:412", mend="pass --decimal-comma")
    assert str(error) == "bills.csv:412: 'BilledCost' is '12,50', not a number. Mend: pass --decimal-comma"


def test_parts_that_are_missing_leave_no_trace() -> None:
    assert str(UnitcostError("it is so")) == "it is so"
    assert str(UnitcostError("part or restatement?", mend="say which")) == "part or restatement? Mend: say which"


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    text = str(UnknownName("driver", "trainig", ["training", "serving"]))
    assert "did you mean `training`?" in text
    assert "serving, training" in text


def test_a_name_unlike_all_lists_what_there_is() -> None:
    error = UnknownName("driver", "xyz", ["training", "serving"])
    assert "did you mean" not in str(error)
    assert "serving, training" in error.mend


def test_letter_case_does_not_hide_a_near_name() -> None:
    assert near_names("H100_sxm", ["H100-SXM", "A100"]) == ["H100-SXM"]


@pytest.mark.parametrize(("error", "code"), [(UnitcostError, 1), (BadSetting, 2), (UnknownName, 2), (DoesNotClose, 3)])
def test_each_kind_has_its_exit_code(error: type[UnitcostError], code: int) -> None:
    assert error.exit_code == code
