"""Runtimes that models are run in: one file each, with `open_model`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from unitcost.errors import UnitcostError, UnknownName
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
    mend
        How it is installed.
    """

    name: str
    library: str
    module: str
    suffixes: tuple[str, ...] = (".onnx",)
    mend: str = "pip install 'unitcost[measure]'"

    @property
    def is_installed(self) -> bool:
        """Whether its library is there."""
        return find_spec(self.library) is not None

    def open(self, path: Path, setting: Setting) -> Running:
        """Model that is ready to run.

        Raises
        ------
        UnitcostError
            When the library is not installed, or the file is of another form.
        """
        if not self.is_installed:
            raise UnitcostError(f"the runtime `{self.name}` needs the library {self.library}", mend=self.mend)
        if path.suffix not in self.suffixes:
            raise UnitcostError(
                f"`{self.name}` opens {' and '.join(self.suffixes)}", where=str(path), mend="use another --runtimes"
            )
        opened: Callable[[Path, Setting], Running] = import_module(self.module).open_model
        return opened(path, setting)


RUNTIMES: dict[str, Runtime] = {
    found.name: found
    for found in (
        Runtime(name="ort", library="onnxruntime", module="unitcost.measure.runtimes.ort"),
        Runtime(
            name="openvino", library="openvino", module="unitcost.measure.runtimes.openvino_cpu",
            mend="pip install openvino",
        ),
        Runtime(name="tract", library="tract", module="unitcost.measure.runtimes.tract_cpu", mend="pip install tract"),
        Runtime(
            name="torch", library="torch", module="unitcost.measure.runtimes.torch_cpu",
            suffixes=(".pt2", ".pt", ".ts"), mend="pip install 'unitcost[torch]'",
        ),
    )
}  # fmt: skip


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
