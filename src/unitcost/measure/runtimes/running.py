"""What every runtime gives: a model that runs, and what it says about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

Array = NDArray[Any]
#: Type of an input of which a file says nothing: that of the data.
AS_GIVEN = "as given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a model is run.

    Parameters
    ----------
    threads
        Threads of one call.
    batch
        Items of one call.
    spin
        Whether threads wait busily; faster for one model alone, unfair to others on the machine.
    """

    threads: int = 1
    batch: int = 1
    spin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An input of a model; a free dimension is None."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a runtime says of itself and of the model.

    Parameters
    ----------
    precision
        Number formats that the heavy operations really compute in, such as `int8+fp32`.
    ran_on
        Provider or device -> operations that it ran.
    """

    runtime: str
    version: str
    precision: str
    ran_on: tuple[tuple[str, int], ...]


class Running(Protocol):
    """A model that is ready."""

    @property
    def inputs(self) -> Sequence[Input]:
        """Its inputs, in order."""
        ...

    @property
    def output_names(self) -> Sequence[str]:
        """Its outputs, in order."""
        ...

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Outputs of one call."""
        ...

    def about(self, feeds: Mapping[str, Array]) -> About:
        """What really runs, found out with one call."""
        ...


def joined(precisions: set[str]) -> str:
    """Number formats as one word, the narrowest first."""
    order = ["int4", "int8", "fp8", "fp16", "bf16", "fp32", "fp64"]
    known = [name for name in order if name in precisions]
    return "+".join([*known, *sorted(precisions - set(order))]) or "unknown"
