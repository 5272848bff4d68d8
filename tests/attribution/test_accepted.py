"""Which runs are accepted, and when nobody can tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.attribution.accepted import accepted_by, parse_accepted
from unitcost.errors import BadSetting, UnknownName

TAGS = {"accepted": "Yes", "stage": "prod", "two words": "x", "params.model": "bert-base", "epoch": "3"}
METRICS = {"auc": "0.93", "loss": "NaN", "val/acc": "1e-1", "count": "12"}


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("tags.accepted = 'yes'", True),
        ("tags.accepted = 'no'", False),
        ("tags.accepted != 'no'", True),
        ("tags.missing = 'yes'", None),
        ("not tags.missing = 'yes'", None),
        ("tags.'two words' = 'x'", True),
        ("tags.stage in ('staging', 'prod')", True),
        ("params.model ~ 'bert*'", True),
        ("params.model !~ 'bert*'", False),
        ("tags.epoch >= 3", True),
        ("metrics.auc >= 0.93", True),
        ("metrics.auc>0.93", False),
        ("metrics.auc < .95 and metrics.count = 12", True),
        ("metrics.val/acc <= 0.1", True),
        ("metrics.'val/acc' > -1", True),
        ("metrics.missing >= 0", None),
        ("metrics.loss <= 1", None),
        ("not metrics.loss <= 1", None),
        ("metrics.loss <= 1 or tags.accepted = 'yes'", True),
        ("metrics.loss <= 1 and tags.accepted = 'no'", False),
        ("metrics.loss <= 1 and tags.accepted = 'yes'", None),
        ("not (tags.accepted = 'no' or metrics.auc < 0.9)", True),
    ],
)
def test_a_rule_answers(rule: str, answer: bool | None) -> None:
    assert accepted_by(parse_accepted(rule), TAGS, METRICS) is answer


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "missing at the end"),
        ("metrics.auc >= 'high'", "compares numbers"),
        ("metrics.auc ~ 5", "does not compare numbers"),
        ("metrics.auc >=", "missing at the end"),
        ("metrics.auc >= 0.9.1", "cannot read"),
        ("metrics.auc >= 1 tags.a = 'b'", "one word too many"),
        ("(" * 60 + "metrics.a > 1" + ")" * 60, "too many brackets"),
    ],
)
def test_what_is_no_rule_is_refused(rule: str, message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        parse_accepted(rule, where="unitcost.toml")


def test_a_name_without_a_known_prefix_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"metrics\.NAME"):
        parse_accepted("metric.auc > 1")


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_metric_is_compared_exactly(found: float, bar: float) -> None:
    answer = accepted_by(parse_accepted(f"metrics.m >= {bar!r}"), {}, {"m": repr(found)})
    assert answer is (found >= bar)


ATOMS = st.sampled_from(["metrics.yes > 0", "metrics.no > 0", "metrics.unknown > 0"])
RULES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda r: f"not ({r})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
    ),
    max_leaves=8,
)


@given(RULES)
def test_what_becomes_known_never_turns_an_answer(rule: str) -> None:
    known = {"yes": "1", "no": "-1"}
    answer = accepted_by(parse_accepted(rule), {}, known)
    if answer is not None:
        for value in ("1", "-1"):
            assert accepted_by(parse_accepted(rule), {}, {**known, "unknown": value}) is answer
