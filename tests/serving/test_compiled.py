"""How machine code is made, kept and announced."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba
import pytest

from unitcost.serving.kernel.compiled import announcing, entry, fingerprint, kernel


def test_a_place_that_cannot_be_written_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = numba.njit

    def refusing(*given: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_(*given, **options)

    monkeypatch.setattr(numba, "njit", refusing)

    def double(x: int) -> int:
        return 2 * x

    assert entry(double)(21) == 42


def test_making_machine_code_is_announced_once() -> None:
    told: list[str] = []

    @numba.njit
    def inner(x: int) -> int:
        return x + 1

    @numba.njit
    def outer(x: int) -> int:
        return inner(x) * 2

    with announcing(lambda: told.append("making")):
        assert outer(1) == 4
    assert told == ["making"]
    with announcing(lambda: told.append("again")):
        assert outer(2) == 6
    assert told == ["making"]


def test_the_fingerprint_changes_with_a_callee_a_constant_and_nothing_else() -> None:
    def module(value: int, limit: int) -> ModuleType:
        made = ModuleType("made")
        space: dict[str, Any] = {}
        exec(f"def add(x):\n    return x + {value}\n", space)
        made.add, made.LIMIT, made.other = kernel(space["add"]), limit, object()  # type: ignore[attr-defined]
        return made

    assert fingerprint(module(1, 5)) == fingerprint(module(1, 5))
    assert len({fingerprint(module(1, 5)), fingerprint(module(2, 5)), fingerprint(module(1, 6))}) == 3
