"""What this machine is, and what else it was doing."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from unitcost.errors import MissingLibrary

#: Abilities of a processor that decide how fast a network runs.
_TELLING = ("avx", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8",
            "amx_bf16", "asimd", "asimddp", "sve", "i8mm", "bf16")  # fmt: skip
_CPUINFO = Path("/proc/cpuinfo")


def machine(instance: str = "") -> dict[str, Any]:
    """What this machine is.

    Parameters
    ----------
    instance
        Name under which it is rented, as the price book knows it; empty = not told.
    """
    psutil = _psutil()
    told = _cpuinfo()
    flags = set((told.get("flags") or told.get("Features") or "").split())
    return {
        "instance": instance, "cpu": told.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(), "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": int(psutil.virtual_memory().total), "cpu_flags": [flag for flag in _TELLING if flag in flags],
        "system": platform.system(), "python": platform.python_version(),
    }  # fmt: skip


def weather() -> dict[str, float]:
    """Load of the machine, and processor time that others took from it so far. [s]."""
    times = _psutil().cpu_times()
    return {"load_1m": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, "steal_s": float(getattr(times, "steal", 0.0)),
            "cpu_s": float(sum(times))}  # fmt: skip


def between(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Load before and after, and the share of processor time that was stolen between."""
    spent_s = after["cpu_s"] - before["cpu_s"]
    return {
        "load_before": before["load_1m"], "load_after": after["load_1m"],
        "steal_share": (after["steal_s"] - before["steal_s"]) / spent_s if spent_s > 0 else 0.0,
    }  # fmt: skip


def resident_bytes() -> int:
    """Memory that this process holds. [bytes]."""
    return int(_psutil().Process().memory_info().rss)


def _cpuinfo() -> dict[str, str]:
    if not _CPUINFO.exists():
        return {}
    first = _CPUINFO.read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _psutil() -> Any:
    try:
        import psutil
    except ImportError:
        raise MissingLibrary("psutil", "measure", "measuring models") from None
    return psutil
