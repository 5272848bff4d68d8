"""Which accelerators this process may use, as its surroundings say; never those of the whole machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

#: Variables that name the devices of a process; the first that is set counts.
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
#: Variables of Slurm that name the devices of a step or job on this machine.
_SLURM = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS")
#: Values of NVIDIA_VISIBLE_DEVICES that name no device.
_NO_LIST = frozenset({"all", "void", "none", ""})
_CARD = re.compile(r"GPU (\d+): (.+?) \(UUID: (GPU-[0-9a-f-]+)\)")
_SLICE = re.compile(r"\s+MIG (\S+)\s.*\(UUID: (MIG-[^)]+)\)")
_RANGE = re.compile(r"(\d+)-(\d+)")
_PATIENCE_S = 10
#: Runs a program and returns what it prints; nothing when there is none.
Ask = Callable[[Sequence[str]], str]


class Devices(NamedTuple):  # a dataclass would double the time that importing this takes
    """Accelerators of a process.

    `ids` are UUIDs where they can be told, else numbers; None = nobody says. `said_by` is where they are from,
    `model` what they are, with the profile of a slice.
    """

    ids: tuple[str, ...] | None
    said_by: str = ""
    model: str = ""


def ask(command: Sequence[str]) -> str:
    """What a program prints; nothing when it is not there, fails, or takes too long."""
    import subprocess  # only where a machine has accelerators

    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def devices_of(environ: Mapping[str, str], *, many_ranks: bool, ask: Ask = ask) -> Devices:
    """Accelerators that the variables of a process name.

    Parameters
    ----------
    many_ranks
        Whether the process is one of several that Slurm started: then numbers may mean another device in each, and
        without UUIDs those of the step are taken, which all ranks together hold.
    """
    name = next((name for name in _VISIBLE if name in environ and not _is_open(name, environ[name])), "")
    if name:
        found = _listed(environ[name])
        cards = _cards(ask(["nvidia-smi", "-L"])) if found else {}
        named = _named(found, cards, environ)
        if named is not None:
            return Devices(tuple(named), name, _model(named, cards))
        step = next((key for key in _SLURM if environ.get(key)), "")
        if not (many_ranks and step):
            return Devices(tuple(found), name, _model((), cards))
    name = next((name for name in _SLURM if environ.get(name)), "")
    return Devices(tuple(_listed(environ[name])), name) if name else Devices(None)


def devices_in_use(pid: int, ask: Ask = ask) -> Devices:
    """Accelerators on which a process has something running now."""
    printed = ask(["nvidia-smi", "--query-compute-apps=pid,gpu_uuid", "--format=csv,noheader"])
    pairs = [line.split(",") for line in printed.splitlines() if line.count(",") == 1]
    found = sorted({uuid.strip() for number, uuid in pairs if number.strip() == str(pid)})
    return (
        Devices(tuple(found), "nvidia-smi", _model(found, _cards(ask(["nvidia-smi", "-L"]))))
        if found
        else Devices(None)
    )


def _is_open(name: str, value: str) -> bool:
    return name == "NVIDIA_VISIBLE_DEVICES" and value.strip().casefold() in _NO_LIST


def _listed(text: str) -> list[str]:
    """Names in a list such as `0,2-3`; as for CUDA, an entry that is no device ends it."""
    found: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        span = _RANGE.fullmatch(part)
        if span:
            found += [str(number) for number in range(int(span[1]), int(span[2]) + 1)]
        elif not part or part.startswith("-") or part == "NoDevFiles":
            break
        else:
            found.append(part)
    return list(dict.fromkeys(found))


def _cards(printed: str) -> dict[str, tuple[str, str]]:
    """What `nvidia-smi -L` prints: number or UUID -> (UUID, model); a slice has the profile in its model."""
    cards: dict[str, tuple[str, str]] = {}
    model = ""
    for line in printed.splitlines():
        if card := _CARD.match(line):
            model = card[2]
            cards[card[1]] = cards[card[3]] = (card[3], model)
        elif part := _SLICE.match(line):
            cards[part[2]] = (part[2], f"{model} MIG {part[1]}")
    return cards


def _named(found: Sequence[str], cards: Mapping[str, tuple[str, str]], environ: Mapping[str, str]) -> list[str] | None:
    """UUIDs of devices, None where a number cannot be told to mean one of them."""
    numbers = [name for name in found if name.isdigit()]
    models = {model for name, (_, model) in cards.items() if name.isdigit()}
    # CUDA numbers the fastest first; among equal cards, and by this variable, its order is that of nvidia-smi.
    in_order = len(models) == 1 or environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if numbers and not (in_order and all(number in cards for number in numbers)):
        return None
    return [cards[name][0] if name in cards else _whole(name, cards) for name in found]


def _whole(name: str, cards: Mapping[str, tuple[str, str]]) -> str:
    """UUID that a beginning of one means; the name itself when it is not clear."""
    fitting = {uuid for uuid, _ in cards.values() if uuid.startswith(name)}
    return fitting.pop() if len(fitting) == 1 else name


def _model(named: Sequence[str], cards: Mapping[str, tuple[str, str]]) -> str:
    models = {cards[name][1] for name in named if name in cards} or {model for _, model in cards.values()}
    return models.pop() if len(models) == 1 else ""


def machine() -> str:
    """Name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
