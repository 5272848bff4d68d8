"""Golden values of Daly's higher order interval: a write of 5 minutes, a restart of 10, three mean up-times."""

from __future__ import annotations

import pytest

from unitcost.training.checkpoints import daly_s, young_s
from unitcost.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE


@pytest.mark.parametrize(
    ("mean_s", "minutes", "tolerance"),
    [
        (24 * SECONDS_PER_HOUR, 117, 0.5),  # printed to the minute
        (6 * SECONDS_PER_HOUR, 57, 0.5),
        (15 * SECONDS_PER_MINUTE, 9.1, 0.05),  # printed to a tenth
    ],
)
def test_daly_of_a_five_minute_write(mean_s: float, minutes: float, tolerance: float) -> None:
    assert daly_s(5 * SECONDS_PER_MINUTE, mean_s) / SECONDS_PER_MINUTE == pytest.approx(minutes, abs=tolerance)


def test_young_of_a_five_minute_write_and_a_day() -> None:
    assert young_s(5 * SECONDS_PER_MINUTE, 24 * SECONDS_PER_HOUR) == pytest.approx(120 * SECONDS_PER_MINUTE)


def test_daly_of_a_write_longer_than_two_means_is_the_mean() -> None:
    assert daly_s(500.0, 240.0) == 240.0
