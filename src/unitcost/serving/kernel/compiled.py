"""How the functions of the kernel are compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
from numba.core import event

_F = TypeVar("_F", bound=Callable[..., Any])


def kernel(function: _F) -> _F:
    """`function`, compiled into the machine code of whatever calls it."""
    options: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(_F, numba.njit(**options)(function))


def entry(function: Callable[..., Any]) -> Any:
    """`function` compiled when it is first called; the machine code is kept for later processes where that is possible.

    Notes
    -----
    numba keeps it beside the source, or where that cannot be written in the user's cache folder (`NUMBA_CACHE_DIR` names
    another). Where no folder can be written there is nothing to keep it in, and each process compiles anew.
    """
    try:
        return numba.njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba: no locator available
        return numba.njit(error_model="numpy")(function)


def fingerprint(*modules: ModuleType) -> str:
    """Digest of the byte code, the constants and the layouts of modules.

    numba looks only at the source of the function it keeps, not at what that calls. With this text in the function's
    closure, code that was kept for other callees is not used.
    """
    digest = hashlib.sha256()
    for module in modules:
        for name, value in sorted(vars(module).items()):
            code = getattr(getattr(value, "py_func", None), "__code__", None)
            if code is not None:
                digest.update(repr((name, code.co_code, code.co_consts, code.co_names, code.co_varnames)).encode())
            elif name.isupper():
                digest.update(repr((name, value)).encode())
    return digest.hexdigest()


class _First(event.Listener):
    """Tells once."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event: Any) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


@contextmanager
def announcing(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` when machine code has to be made, before that begins; not when it is there or was kept."""
    with event.install_listener("numba:compile", _First(tell)):
        yield
