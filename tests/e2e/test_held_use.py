"""What monitoring measured counts for the work that held the card at that time, and for no other time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

from tests.e2e.conftest import Desk
from tests.e2e.test_capacity import HEADER, hours

FIRST_S = int(datetime(2031, 6, 3, tzinfo=UTC).timestamp())
SLURM = """JobID|Account|State|Start|End|AllocTRES|NodeList
1|lab|COMPLETED|2031-06-03T06:00:00|2031-06-03T12:00:00|cpu=8,gres/gpu=2|n1
2|lab|COMPLETED|2031-06-03T12:00:00|2031-06-03T18:00:00|cpu=8,gres/gpu={second}|n1
"""


def busy(first: int, second: int, cards: int = 2) -> str:
    """Utilisation each minute of a day: idle, then that of the first job, of the second, idle."""
    values = [
        [FIRST_S + 60 * m, str(first if 360 <= m < 720 else second if 720 <= m < 1080 else 0)]
        for m in range(24 * 60 + 1)
    ]
    series = [
        {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": f"GPU-{card}", "Hostname": "n1"}, "values": values}
        for card in range(cards)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}})


def states(desk: Desk, metrics: str, second: int = 2) -> dict[str, dict[str, str]]:
    desk.load(str(desk.write("bill.csv", HEADER + hours("n1", "", "20"))), str(desk.write("dcgm.json", metrics)))
    desk.load(str(desk.write("sacct.psv", SLURM.format(second=second))), "--source-timezone", "UTC")
    return dict(desk.report()["capacity"]["USD"]["workload"])


def test_jobs_that_follow_each_other_have_their_own_use(desk: Desk) -> None:
    found = states(desk, busy(90, 20))
    assert found["slurm:1"] == {"allocated idle": "12", "used": "108"}
    assert found["slurm:2"] == {"allocated idle": "96", "used": "24"}
    assert found[""] == {"unallocated": "240"}


def test_cards_that_nobody_held_do_not_make_a_job_idle(desk: Desk) -> None:
    """The second job holds one card of two; both together show 50 % because one does nothing."""
    found = states(desk, busy(90, 50), second=1)
    assert sum(map(Decimal, found["slurm:2"].values())) == 60
    assert Decimal(found["slurm:2"]["used"]) == 60


def test_a_value_that_is_none_is_unknown_and_a_wild_one_is_bounded(desk: Desk) -> None:
    found = states(desk, busy(90, 20).replace('"90"', '"NaN"').replace('"20"', '"250"'))
    assert found["slurm:1"] == {"use unknown": "120"}
    assert found["slurm:2"] == {"used": "120"}
    assert "used" not in found[""]
