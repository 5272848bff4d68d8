"""PyTorch: models saved with TorchScript, whose inputs are taken in the order of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from unitcost.measure.runtimes.running import About, Array, Input, Setting, joined

_PRECISIONS = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64",
               torch.qint8: "int8", torch.quint8: "int8"}  # fmt: skip


def open_model(path: Path, setting: Setting) -> TorchModel:
    """Model in PyTorch."""
    return TorchModel(path, setting)


class TorchModel:
    """A module of TorchScript."""

    def __init__(self, path: Path, setting: Setting) -> None:
        torch.set_num_threads(setting.threads)
        self._threads = setting.threads
        self._module = torch.jit.load(str(path), map_location="cpu").eval()

    @property
    def inputs(self) -> Sequence[Input]:
        """Its inputs: TorchScript keeps names but no shapes."""
        names = [argument.name for argument in self._module.forward.schema.arguments if argument.name != "self"]
        return [Input(name=name, dtype="float32", shape=()) for name in names]

    @property
    def output_names(self) -> Sequence[str]:
        """One output; a tuple counts on."""
        return ["output"]

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Outputs of one call."""
        torch.set_num_threads(self._threads)
        with torch.inference_mode():
            found = self._module(*(torch.from_numpy(feeds[given.name]) for given in self.inputs))
        parts = found if isinstance(found, tuple | list) else [found]
        return [part.float().numpy() for part in parts]

    def about(self, feeds: Mapping[str, Array]) -> About:
        """Formats of the weights; operations compute in them."""
        self.run(feeds)
        found = {_PRECISIONS.get(weight.dtype, str(weight.dtype)) for weight in self._module.parameters()}
        return About(runtime="torch", version=str(torch.__version__), precision=joined(found), ran_on=(("cpu", 1),))
