"""Which results count as accepted: a rule over the tags and the metrics of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import translate

from unitcost.errors import UnknownName
from unitcost.facts.conditions import Parser
from unitcost.money import parse_amount

#: Names after their prefix, and where they are looked up. Readers keep parameters as tags `params.NAME`.
_GROUPS = ("tags.", "metrics.", "params.")
_MEND = (
    "write tags.accepted = 'yes', metrics.auc >= 0.9, params.model ~ 'bert*' or tags.stage in ('a', 'b'), joined by "
    "and / or / not"
)
_Labels = Mapping[str, str]
#: Answers over tags and metrics; None where they do not tell.
_Test = Callable[[_Labels, _Labels], bool | None]
_ORDERS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    ">=": lambda found, given: found >= given,
    "<=": lambda found, given: found <= given,
    ">": lambda found, given: found > given,
    "<": lambda found, given: found < given,
    "=": lambda found, given: found == given,
    "!=": lambda found, given: found != given,
}


@dataclass(frozen=True, slots=True)
class AcceptedRule:
    """A rule: its text, and what it tests."""

    text: str
    test: _Test


def parse_accepted(text: str, *, where: str = "") -> AcceptedRule:
    """Rule written in `text`, in the language of conditions with `tags.NAME`, `metrics.NAME` and `params.NAME`.

    A metric is compared with a number, a tag or a parameter with a number or a text; texts ignore letter case.

    Raises
    ------
    BadSetting
        When it is not of the language.
    UnknownName
        When a word begins with another prefix.
    """
    return AcceptedRule(text, _Parser(text, where=where, mend=_MEND).whole())


def accepted_by(rule: AcceptedRule, tags: Mapping[str, str], metrics: Mapping[str, str]) -> bool | None:
    """Whether a run is accepted; None when what the rule asks for was not logged, or is no number.

    `not` of what is unknown is unknown, so that a run without a metric, or with NaN, is never accepted by it.
    """
    return rule.test(tags, metrics)


class _Parser(Parser[_Test]):
    """Conditions on tags and metrics, in logic of three values (Kleene's)."""

    def any_of(self, tests: list[_Test]) -> _Test:
        def test(tags: _Labels, metrics: _Labels) -> bool | None:
            answers = [inner(tags, metrics) for inner in tests]
            return True if True in answers else None if None in answers else False

        return test

    def all_of(self, tests: list[_Test]) -> _Test:
        def test(tags: _Labels, metrics: _Labels) -> bool | None:
            answers = [inner(tags, metrics) for inner in tests]
            return False if False in answers else None if None in answers else True

        return test

    def inverse(self, test: _Test) -> _Test:
        def opposite(tags: _Labels, metrics: _Labels) -> bool | None:
            answer = test(tags, metrics)
            return None if answer is None else not answer

        return opposite

    def comparison(self) -> _Test:
        value_of = self._place(self.take("word"))
        if self.is_word("in"):
            self.at += 1
            wanted = {text.casefold() for text in self.texts()}
            return _tested(value_of, lambda found: found.casefold() in wanted)
        operator = self.take("sign")
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "number":
            return self._with_number(value_of, operator)
        text = self.take("text").casefold()
        if operator in ("=", "!="):
            return _tested(value_of, lambda found: (found.casefold() == text) is (operator == "="))
        if operator in ("~", "!~"):
            pattern = re.compile(translate(text))
            return _tested(value_of, lambda found: bool(pattern.match(found.casefold())) is (operator == "~"))
        raise self.error(f"`{operator}` compares numbers; {text!r} is a text")

    def _with_number(self, value_of: Callable[[_Labels, _Labels], str | None], operator: str) -> _Test:
        given = Decimal(self.take("number"))
        if operator not in _ORDERS:
            raise self.error(f"`{operator}` does not compare numbers")
        compare = _ORDERS[operator]

        def decide(found: str) -> bool | None:
            number = _number(found)
            return None if number is None else compare(number, given)

        return _tested(value_of, decide)

    def _place(self, word: str) -> Callable[[_Labels, _Labels], str | None]:
        group = next((group for group in _GROUPS if word.startswith(group) and word != group), None)
        if group is None:
            raise UnknownName("place", word, [f"{group}NAME" for group in _GROUPS], where=self.where)
        name = word if group == "params." else word.removeprefix(group)
        if group == "metrics.":
            return lambda tags, metrics: metrics.get(name)
        return lambda tags, metrics: tags.get(name)


def _tested(value_of: Callable[[_Labels, _Labels], str | None], decide: Callable[[str], bool | None]) -> _Test:
    def test(tags: _Labels, metrics: _Labels) -> bool | None:
        found = value_of(tags, metrics)
        return None if found is None else decide(found)

    return test


def _number(text: str) -> Decimal | None:
    try:
        return parse_amount(text)
    except ValueError:
        return None
