"""Whatever is split, nothing is lost."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.attribution.ranking import firmness
from unitcost.attribution.splits import Pool, apply_splits, pool_of
from unitcost.facts.answers import OwnerShare
from unitcost.facts.rules import SplitRule
from unitcost.figure import Figure, recompute

NAMES = ("a", "b", "c", "platform", "shared", "untagged", "tax")
amounts = st.decimals(min_value=-(10**9), max_value=10**9, places=13, allow_nan=False, allow_infinity=False)
rules = st.builds(
    SplitRule,
    name=st.just("s"), of=st.sampled_from([{"team": "platform"}, {"team": "shared"}, {"driver": "storage"}]),
    how=st.sampled_from(["even", "proportional", "fixed", "metric"]), by=st.just("team"),
    shares=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 5).map(Decimal), max_size=3), metric=st.just("runs"),
    among=st.lists(st.sampled_from(NAMES), max_size=3).map(tuple), places=st.integers(0, 12),
)  # fmt: skip


def leaf(name: str, value: Decimal) -> Figure:
    """Figure with a value."""
    return Figure(id=name, value=value, unit="USD", basis="billed", op="given", formula="", label=name)


def split(direct: dict[str, Decimal], *pools: tuple[SplitRule, dict[str, Decimal]], metrics=None) -> list[OwnerShare]:
    """Apply splits to plain amounts."""
    made = [Pool(rule=rule, taken={n: leaf(f"pool {n}", v) for n, v in taken.items()}) for rule, taken in pools]
    figures = {name: leaf(name, value) for name, value in direct.items()}
    return list(apply_splits(figures, made, unit="USD", at="all", kind="team", metrics=metrics or {}).shares)


def values(shares: list[OwnerShare]) -> dict[str, Decimal | None]:
    return {share.owner: share.amount.value for share in shares}


@given(
    st.dictionaries(st.sampled_from(NAMES), amounts, min_size=1),
    st.lists(st.tuples(rules, st.dictionaries(st.sampled_from(NAMES), amounts, max_size=3)), max_size=3),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 9).map(Decimal)),
)
def test_any_split_closes_and_is_recomputed(direct, pools, made) -> None:
    shares = split(direct, *pools, metrics={"runs": made})
    assert money.add(s.amount.value for s in shares if s.amount.value is not None) == money.add(direct.values())
    for share in shares:
        assert recompute(share.amount, lambda _: Decimal(0)) == share.amount.value


def rule(how: str, of: dict[str, str], **more) -> SplitRule:
    return SplitRule(name=f"{how} split", of=of, how=how, by="team", **more)


def test_untagged_and_lines_of_the_bill_receive_nothing() -> None:
    direct = {"a": Decimal(10), "untagged": Decimal(50), "tax": Decimal(40), "platform": Decimal(7)}
    shares = split(direct, (rule("proportional", {"team": "platform"}), {"platform": Decimal(7)}))
    assert values(shares) == {"a": 17, "untagged": 50, "tax": 40, "platform": 0}


def test_a_pool_without_receivers_stays_and_says_so() -> None:
    figures = {"platform": leaf("platform", Decimal(7))}
    pool = Pool(rule=rule("even", {"team": "platform"}), taken=figures)
    division = apply_splits(figures, [pool], unit="USD", at="all", kind="team", metrics={})
    assert values(list(division.shares)) == {"platform": 7}
    assert division.notes == (("even split", "nobody receives it; 7.00 USD stays with platform"),)
    assert not division.gave


def test_owners_of_a_pool_by_driver_receive_by_what_is_left_to_them() -> None:
    direct = {"a": Decimal(30), "b": Decimal(10)}
    shares = split(direct, (rule("proportional", {"driver": "shared platform"}), {"a": Decimal(20), "b": Decimal(5)}))
    assert [round(share.amount.value or 0, 2) for share in shares] == [Decimal("26.67"), Decimal("13.33")]


def test_a_later_pool_passes_on_what_an_earlier_one_gave_it() -> None:
    direct = {"a": Decimal(100), "platform": Decimal(100), "shared": Decimal(20)}
    shares = split(
        direct,
        (rule("even", {"team": "shared"}), {"shared": Decimal(20)}),
        (rule("even", {"team": "platform"}), {"platform": Decimal(100)}),
    )
    assert values(shares) == {"a": 220, "platform": 0, "shared": 0}


def test_a_metric_and_fixed_shares_decide() -> None:
    direct = {"a": Decimal(1), "b": Decimal(1), "platform": Decimal(100)}
    pool = {"platform": Decimal(100)}
    by_runs = rule("metric", {"team": "platform"}, metric="runs")
    assert values(split(direct, (by_runs, pool), metrics={"runs": {"a": Decimal(3), "b": Decimal(1)}}))["a"] == 76
    fixed = rule("fixed", {"team": "platform"}, shares={"a": Decimal("0.2"), "z": Decimal("0.8")})
    assert values(split(direct, (fixed, pool))) == {"a": 21, "b": 1, "platform": 0, "z": 80}


def test_the_first_split_that_selects_a_charge_takes_it() -> None:
    both = [rule("even", {"project": "p"}), rule("even", {"driver": "storage"})]
    assert pool_of({"project": "p", "driver": "storage"}, both) == 0
    assert pool_of({"project": None, "driver": "storage"}, both) == 1
    assert pool_of({"project": "q", "driver": "serving"}, both) is None


def test_firmness_names_what_could_change() -> None:
    answer = firmness({"serving": Decimal(940), "training": Decimal(800), "storage": Decimal(100)}, Decimal(150))
    assert (answer.largest, answer.firm, answer.overtaking) == ("serving", False, ("training",))
    assert answer.flips == (("serving", "training"),)
    assert firmness({"a": Decimal(5)}, Decimal(9)).firm is False
    assert firmness({"a": Decimal(5), "b": Decimal(1)}, Decimal(-4)).firm is False
    assert firmness({}, Decimal(0)).firm


@given(st.dictionaries(st.sampled_from(NAMES), amounts, min_size=2), st.decimals(0, 10**9, places=2))
def test_a_firm_answer_holds_wherever_the_unknown_goes(known: dict[str, Decimal], unknown: Decimal) -> None:
    answer = firmness(known, unknown)
    for name in known:
        moved = {**known, name: money.add([known[name], unknown])}
        if answer.firm:
            assert max(moved, key=lambda n: moved[n]) == answer.largest
