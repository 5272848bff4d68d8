"""CPU time until the command line answers, and until the package is imported.

    python benchmarks/startup.py [--json] [--runs N]

Each figure is the best of several fresh interpreters, in milliseconds of user and system time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

CASES = {
    "help_cpu_ms": (["-c", "from unitcost.cli import main; main()", "--help"], 150),
    "import_cpu_ms": (["-c", "import unitcost"], 100),
    "bare_python_cpu_ms": (["-c", "pass"], None),
}


def cpu_ms(arguments: list[str]) -> float:
    """CPU time [ms] of one fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return round(spent_s * 1000, 1)


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--runs", type=int, default=7, help="interpreters per figure")
    options = parser.parse_args()
    found = {name: min(cpu_ms(arguments) for _ in range(options.runs)) for name, (arguments, _) in CASES.items()}
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            target = CASES[name][1]
            print(f"{name:20} {value:7.1f}" + (f"   target < {target}" if target else ""))
    return int(any(target is not None and found[name] >= target for name, (_, target) in CASES.items()))


if __name__ == "__main__":
    sys.exit(main())
