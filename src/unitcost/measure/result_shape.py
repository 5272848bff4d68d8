"""What a session that was read from a file must hold, so that a file changed by hand is refused and not computed with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_OPTION = ("name", "model", "runtime", "precision", "version")
_WHOLE = ("batch", "threads")
_TIMES = ("per_s", "min_s")


def check_shape(found: Mapping[str, Any]) -> None:
    """Refuse parts that a session would not have written.

    Raises
    ------
    KeyError, TypeError, ValueError
        When a part is missing, of another type, or cannot be.
    """
    for option in _list(found["options"], "options"):
        if not option["failure"] and option.get("timing"):
            _check_option(option)
    for anchor in _list(found["anchors"], "anchors"):
        if anchor.get("timing"):
            _ = anchor["name"], anchor["runtime"]
            _above_zero(anchor["timing"]["percentiles"]["p50"]["latency_s"], f"p50 of {anchor['name']}")
    _ = found["machine"]["cpu"], found["data"]["sha256"]
    _check_answers(found)


def _check_option(option: Mapping[str, Any]) -> None:
    for name in _OPTION:
        if not isinstance(option[name], str):
            raise TypeError(f"{name} of an option is {option[name]!r}")
    for name in _WHOLE:
        if not isinstance(option[name], int) or option[name] < 1:
            raise ValueError(f"{name} of {option['name']} is {option[name]!r}")
    timing = option["timing"]
    for name in _TIMES:
        _above_zero(timing[name], f"{name} of {option['name']}")
    _number(timing["cpu_s_per_item"], f"cpu_s_per_item of {option['name']}")
    if option.get("memory_bytes") is not None:
        _above_zero(option["memory_bytes"], f"memory_bytes of {option['name']}")
    for quantile in _list(timing["quantiles_s"], f"quantiles_s of {option['name']}"):
        _above_zero(quantile, f"quantiles_s of {option['name']}")
    for name, late in timing["percentiles"].items():
        _above_zero(late["latency_s"], f"{name} of {option['name']}")
        _ = late["bound_s"], late["missing"]


def _check_answers(found: Mapping[str, Any]) -> None:
    """Answers of all options, and the labels, are to the same items."""
    answers, truth = found.get("answers") or {}, found.get("truth")
    lengths = {len(_list(said, "answers")) for said in answers.values()}
    if truth is not None and answers:
        lengths.add(len(_list(truth, "truth")))
    if len(lengths) > 1:
        raise ValueError(f"answers and labels are to {' and '.join(map(str, sorted(lengths)))} items")


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{what} is no list")
    return value


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{what} is {value!r}")
    return float(value)


def _above_zero(value: object, what: str) -> None:
    if _number(value, what) <= 0:
        raise ValueError(f"{what} is {value!r}")
