"""A load that is killed at any point leaves the ledger as before, or as after."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost.facts.spend import Selection
from unitcost.ledger import Ledger

HEADER = "BilledCost,EffectiveCost,BillingCurrency,ResourceId,ServiceName,Tags,BillingPeriodStart,BillingPeriodEnd\n"
PERIOD = "2031-06-01T00:00:00Z,2031-07-01T00:00:00Z"
ROWS = 3000
LOAD = "import sys; from unitcost.cli import main; sys.argv = ['unitcost', 'load', *sys.argv[1:]]; main()"


def bill(path: Path, name: str) -> Path:
    lines = [f'0.01,0.01,USD,{name}-{i},Compute,"{{""team"":""{name}""}}",{PERIOD}\n' for i in range(ROWS)]
    path.write_text(HEADER + "".join(lines), encoding="utf-8")
    return path


def total(folder: Path) -> Decimal:
    with Ledger.open(folder / ".unitcost" / "ledger.duckdb") as ledger:
        rows = ledger.spend(Selection(), ())
        loads = ledger.loads()
    whole = sum((row.amount for row in rows), Decimal(0))
    assert whole == sum(Decimal(load.totals["USD"]["billed_cost"]) for load in loads)
    return whole


def load(folder: Path, path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", LOAD, str(path), "--folder", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("part", range(3))
def test_a_killed_load_leaves_before_or_after(tmp_path: Path, part: int) -> None:
    first, second = bill(tmp_path / "a.csv", "a"), bill(tmp_path / "b.csv", "b")
    begun = time.monotonic()
    assert load(tmp_path, first).wait(60) == 0
    took = time.monotonic() - begun
    before, after = Decimal("0.01") * ROWS, Decimal("0.01") * 2 * ROWS
    chosen = random.Random(part)
    seen = set()
    for _ in range(10):
        running = load(tmp_path, second)
        time.sleep(chosen.uniform(0.3, 1.05) * took)
        running.send_signal(signal.SIGKILL)
        running.wait(60)
        found = total(tmp_path)
        assert found in (before, after)
        seen.add(found)
    assert load(tmp_path, second).wait(60) == 0
    assert total(tmp_path) == after


def test_a_second_process_waits_or_says_who_is_in_the_way(tmp_path: Path) -> None:
    first, second = bill(tmp_path / "a.csv", "a"), bill(tmp_path / "b.csv", "b")
    together = [load(tmp_path, first), load(tmp_path, second)]
    codes = [process.wait(60) for process in together]
    assert set(codes) <= {0, 1}
    assert 0 in codes
    assert total(tmp_path) == Decimal("0.01") * ROWS * codes.count(0)
