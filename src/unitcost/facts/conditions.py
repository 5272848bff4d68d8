"""The grammar of conditions: comparisons joined by and / or / not, with brackets. What a comparison is, heirs say."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from unitcost.errors import BadSetting

_TOKEN = re.compile(
    r"\s*(?:(\()|(\))|(,)|(!=|!~|>=|<=|=|~|>|<)|'((?:[^']|'')*)'|\"([^\"]*)\"|"
    r"(tags|metrics|params)\.(?:'([^']+)'|\"([^\"]+)\")|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![^\s(),=~!<>]))|"
    r"([A-Za-z_](?:[^\s()=~!,<>'\"])*))"
)
#: Brackets and `not` that may stand inside each other.
_DEEPEST = 50
Test = TypeVar("Test")


def tokens_of(text: str, *, where: str, mend: str) -> list[tuple[str, str]]:
    """Pairs of kind (`sign`, `text`, `number`, `word`) and what is written.

    Raises
    ------
    BadSetting
        When something is none of these.
    """
    tokens, position = [], 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if not match:
            raise BadSetting(f"cannot read {stripped[position:]!r} in the condition {text!r}", where=where, mend=mend)
        tokens.append(_token(match))
        position = match.end()
    return tokens


def _token(match: re.Match[str]) -> tuple[str, str]:
    left, right, comma, operator, single, double, group, quoted, double_quoted, number, word = match.groups()
    if group:
        return "word", f"{group}.{quoted or double_quoted}"
    if single is not None or double is not None:
        return "text", single.replace("''", "'") if single is not None else double
    if number is not None:
        return "number", number
    return ("word", word) if word is not None else ("sign", left or right or comma or operator)


class Parser(ABC, Generic[Test]):
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str, *, where: str, mend: str) -> None:
        self.tokens = tokens_of(text, where=where, mend=mend)
        self.text, self.where, self.mend, self.at, self.depth = text, where, mend, 0, 0

    @abstractmethod
    def comparison(self) -> Test:
        """Test of one comparison, its tokens taken."""

    @abstractmethod
    def any_of(self, tests: list[Test]) -> Test:
        """Test that joins tests by `or`."""

    @abstractmethod
    def all_of(self, tests: list[Test]) -> Test:
        """Test that joins tests by `and`."""

    @abstractmethod
    def inverse(self, test: Test) -> Test:
        """Test that `not` makes of one."""

    def whole(self) -> Test:
        """Test of the whole condition.

        Raises
        ------
        BadSetting
            When it is not of the language.
        """
        test = self.either()
        if self.peek() is not None:
            raise self.error(f"`{self.peek()}` is one word too many")
        return test

    def error(self, what: str) -> BadSetting:
        """What is wrong, with the condition."""
        return BadSetting(f"{what} in the condition {self.text!r}", where=self.where, mend=self.mend)

    def peek(self) -> str | None:
        """What is written next; None at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def is_word(self, word: str) -> bool:
        """Whether this word is next."""
        if self.at >= len(self.tokens):
            return False
        kind, found = self.tokens[self.at]
        return kind == "word" and found.casefold() == word

    def take(self, kind: str, value: str | None = None) -> str:
        """What is written next, which must be of a kind, or just this.

        Raises
        ------
        BadSetting
            When it is not.
        """
        if self.at >= len(self.tokens):
            raise self.error(f"{value or 'a ' + kind} is missing at the end")
        found_kind, found = self.tokens[self.at]
        if found_kind != kind or (value is not None and found != value):
            raise self.error(f"{value or 'a ' + kind} is expected where `{found}` stands")
        self.at += 1
        return found

    def either(self) -> Test:
        """Test of what `or` joins."""
        tests = [self.both()]
        while self.is_word("or"):
            self.at += 1
            tests.append(self.both())
        return tests[0] if len(tests) == 1 else self.any_of(tests)

    def both(self) -> Test:
        """Test of what `and` joins."""
        tests = [self.single()]
        while self.is_word("and"):
            self.at += 1
            tests.append(self.single())
        return tests[0] if len(tests) == 1 else self.all_of(tests)

    def single(self) -> Test:
        """Test of a comparison, of one with `not` before it, or of what stands in brackets."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error("too many brackets stand inside each other")
        try:
            return self._negated() if self.is_word("not") else self._bracketed_or_plain()
        finally:
            self.depth -= 1

    def _negated(self) -> Test:
        self.at += 1
        return self.inverse(self.single())

    def _bracketed_or_plain(self) -> Test:
        if self.tokens[self.at : self.at + 1] != [("sign", "(")]:
            return self.comparison()
        self.at += 1
        inner = self.either()
        self.take("sign", ")")
        return inner

    def texts(self) -> list[str]:
        """Texts of a list such as `('a', 'b')`."""
        self.take("sign", "(")
        found = [self.take("text")]
        while self.peek() == ",":
            self.take("sign", ",")
            found.append(self.take("text"))
        self.take("sign", ")")
        return found
