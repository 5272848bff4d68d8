"""Requests of a rate curve, with lengths of one of several sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from unitcost.errors import BadSetting
from unitcost.jobs.serve_curve import requests_of_curve

#: Two sets whose clients have one name and nothing else in common.
LENGTHS = """set,client,field,mean,q50,q100
chat,0,input_tokens,100,100,100
chat,0,output_tokens,10,10,10
reason,0,input_tokens,50,50,50
reason,0,output_tokens,5000,5000,5000
"""


def asked(folder: Path, name: str, group: str = ""):
    curve, lengths = folder / name, folder / "lengths.csv"
    curve.write_text("t,rate\n0,2\n600,2\n")
    lengths.write_text(LENGTHS)
    return requests_of_curve(curve, lengths, group=group, per_day=0.0, duration_s=0.0)


def test_clients_of_one_name_in_two_sets_are_not_mixed(tmp_path: Path) -> None:
    trace, findings = asked(tmp_path, "rate.csv", group="chat")
    assert findings == []
    assert trace.output_tokens.max() == 10
    # A draw below the first quantile given lies between 1 token and that quantile.
    assert trace.input_tokens.max() == 100


def test_the_name_of_the_curve_says_which_set_is_meant(tmp_path: Path) -> None:
    trace, findings = asked(tmp_path, "day_reason_10min.csv")
    assert trace.output_tokens.max() == 5000
    assert findings == ["lengths are those of reason, which the name of day_reason_10min.csv has in it"]


@pytest.mark.parametrize("name", ["rate.csv", "chat_and_reason.csv"])
def test_several_sets_and_none_that_is_meant_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSetting, match="2 sets") as caught:
        asked(tmp_path, name)
    assert "--lengths-group: chat, reason" in str(caught.value)


def test_as_much_of_the_curve_as_is_asked_for_is_scaled_to_a_mean_day(tmp_path: Path) -> None:
    curve, lengths = tmp_path / "c.csv", tmp_path / "lengths.csv"
    curve.write_text("t,rate\n0,1\n600,3\n1200,100\n")
    lengths.write_text(LENGTHS)
    trace, _ = requests_of_curve(curve, lengths, group="chat", per_day=86_400.0, duration_s=1200.0)
    assert trace.duration_s == 1200.0
    assert len(trace) == pytest.approx(1200, abs=5 * 1200**0.5)  # one a second in the mean, five standard deviations
