"""Runtimes that models are run in: one file each, with `open_model`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from unitcost.errors import MissingLibrary, UnknownName
from unitcost.measure.runtimes.running import Running, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A runtime.

    Parameters
    ----------
    library
        Module that must be installed.
    module
        Module of this room that opens models with it.
    suffixes
        Files it can open.
    """

    name: str
    library: str
    module: str
    suffixes: tuple[str, ...] = (".onnx",)

    @property
    def is_installed(self) -> bool:
        """Whether its library is there."""
        return find_spec(self.library) is not None

    def open(self, path: Path, setting: Setting) -> Running:
        """Model that is ready to run.

        Raises
        ------
        MissingLibrary
            When the library is not installed.
        """
        if not self.is_installed:
            raise MissingLibrary(self.library, "measure", f"the runtime `{self.name}`")
        opened: Callable[[Path, Setting], Running] = import_module(self.module).open_model
        return opened(path, setting)


RUNTIMES: dict[str, Runtime] = {
    found.name: found
    for found in (
        Runtime(name="ort", library="onnxruntime", module="unitcost.measure.runtimes.ort"),
        Runtime(name="openvino", library="openvino", module="unitcost.measure.runtimes.openvino_cpu"),
        Runtime(name="tract", library="tract", module="unitcost.measure.runtimes.tract_cpu"),
        Runtime(
            name="torch", library="torch", module="unitcost.measure.runtimes.torch_script", suffixes=(".pt", ".ts")
        ),
    )
}


def runtime(name: str) -> Runtime:
    """Runtime by name.

    Raises
    ------
    UnknownName
        When there is none by that name.
    """
    if name not in RUNTIMES:
        raise UnknownName("runtime", name, RUNTIMES)
    return RUNTIMES[name]
