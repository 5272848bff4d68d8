"""What ships of the fit on measured runs: constants of engines, factors on top of them, bands of error."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from unitcost.machine.corrections import Correction
from unitcost.machine.steps import Constants
from unitcost.measure.serving_fit import Fitted

TABLE = "serving_constants.json"
#: Digits that are kept: errors are in per cent, not in per mille.
_DIGITS = 4


@cache
def shipped() -> Fitted:
    """Constants and factors that ship, fitted by `python -m tools.serving_tables constants CSV`."""
    table = files("unitcost.measure") / "step_data" / TABLE
    return from_json(json.loads(table.read_text(encoding="utf-8")))


def to_json(fitted: Fitted) -> dict[str, Any]:
    """The fit as plain values, rounded."""
    return {
        "by_backend": {name: _rounded(asdict(one)) for name, one in fitted.by_backend.items()},
        "by_group": {name: _rounded(asdict(one)) for name, one in fitted.by_group.items()},
        "ttft": _correction_out(fitted.ttft),
        "tpot": _correction_out(fitted.tpot),
    }


def from_json(plain: dict[str, Any]) -> Fitted:
    """The fit from plain values."""
    return Fitted(
        by_backend={name: Constants(**values) for name, values in plain["by_backend"].items()},
        by_group={name: Constants(**values) for name, values in plain["by_group"].items()},
        ttft=_correction_in(plain["ttft"]),
        tpot=_correction_in(plain["tpot"]),
    )


def _correction_out(one: Correction) -> dict[str, Any]:
    return {
        "low": _short(one.low),
        "high": _short(one.high),
        "bands": {name: _short(np.array(values)) for name, values in one.bands.items()},
        "coefficients": {
            level: {name: _short(values) for name, values in sorted(names.items())}
            for level, names in one.coefficients.items()
        },
    }


def _correction_in(plain: dict[str, Any]) -> Correction:
    return Correction(
        low=np.array(plain["low"]), high=np.array(plain["high"]),
        bands={name: tuple(values) for name, values in plain["bands"].items()},
        coefficients={
            level: {name: _padded(values, len(plain["low"])) for name, values in names.items()}
            for level, names in plain["coefficients"].items()
        },
    )  # fmt: skip


def _padded(values: list[float], size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([*values, *[0.0] * (size - len(values))], dtype=np.float64)


def _short(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Values to four digits, without the zeros at the end."""
    kept = [float(f"{value:.{_DIGITS}g}") for value in values]
    while kept and kept[-1] == 0.0:
        kept.pop()
    return kept


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value for name, value in values.items()
    }
