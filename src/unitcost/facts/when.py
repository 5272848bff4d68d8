"""The small language of rules: `column ~ 'glob'`, `column = 'value'`, `column in (...)`, and / or / not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate

from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.charges import FACET_COLUMNS, Facet

#: Shorter names for some facet columns.
ALIASES = {
    "account": "sub_account_id",
    "account_name": "sub_account_name",
    "provider": "service_provider_name",
    "service": "service_name",
    "region": "region_id",
    "publisher": "publisher_name",
}
_TOKEN = re.compile(
    r"\s*(?:(\()|(\))|(,)|(!=|=|!~|~)|'((?:[^']|'')*)'|\"([^\"]*)\"|tags\.'([^']+)'|tags\.\"([^\"]+)\"|"
    r"([A-Za-z_](?:[^\s()=~!,'\"])*))"
)
_Test = Callable[[Facet], bool]
#: Brackets and `not` that may stand inside each other.
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class When:
    """A condition on a facet: its text, what it tests, and the columns (`tags.KEY` for a tag) it looks at."""

    text: str
    test: _Test
    columns: frozenset[str] = frozenset()

    def __call__(self, facet: Facet) -> bool:
        """Whether the facet matches."""
        return self.test(facet)


def parse(text: str, *, where: str = "") -> When:
    """Condition written in `text`. Comparison ignores letter case; a null matches nothing, `!=` and `!~` included.

    A tag key with spaces is quoted: `tags.'Cost Center' = 'risk'`.

    Raises
    ------
    BadSetting
        When it is not of the language.
    UnknownName
        When a column is not a facet column nor `tags.KEY`.
    """
    parser = _Parser(_tokens(text, where), text, where)
    test = parser.either()
    if parser.peek() is not None:
        raise parser.error(f"`{parser.peek()}` is one word too many")
    return When(text, test, frozenset(parser.columns))


def _tokens(text: str, where: str) -> list[tuple[str, str]]:
    tokens, position = [], 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if not match:
            raise BadSetting(f"cannot read {stripped[position:]!r} in the condition {text!r}", where=where, mend=_MEND)
        left, right, comma, operator, single, double, key, quoted_key, word = match.groups()
        if key or quoted_key:
            tokens.append(("word", f"tags.{key or quoted_key}"))
        elif single is not None or double is not None:
            tokens.append(("text", single.replace("''", "'") if single is not None else double))
        elif word is not None:
            tokens.append(("word", word))
        else:
            tokens.append(("sign", left or right or comma or operator))
        position = match.end()
    return tokens


_MEND = "write column ~ 'glob', column = 'value' or column in ('a', 'b'), joined by and / or / not"


class _Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, tokens: list[tuple[str, str]], text: str, where: str) -> None:
        self.tokens, self.text, self.where, self.at, self.depth = tokens, text, where, 0, 0
        self.columns: set[str] = set()

    def error(self, what: str) -> BadSetting:
        return BadSetting(f"{what} in the condition {self.text!r}", where=self.where, mend=_MEND)

    def peek(self) -> str | None:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def is_word(self, word: str) -> bool:
        if self.at >= len(self.tokens):
            return False
        kind, found = self.tokens[self.at]
        return kind == "word" and found.casefold() == word

    def take(self, kind: str, value: str | None = None) -> str:
        if self.at >= len(self.tokens):
            raise self.error(f"{value or 'a ' + kind} is missing at the end")
        found_kind, found = self.tokens[self.at]
        if found_kind != kind or (value is not None and found != value):
            raise self.error(f"{value or 'a ' + kind} is expected where `{found}` stands")
        self.at += 1
        return found

    def either(self) -> _Test:
        tests = [self.both()]
        while self.is_word("or"):
            self.at += 1
            tests.append(self.both())
        return tests[0] if len(tests) == 1 else lambda facet: any(test(facet) for test in tests)

    def both(self) -> _Test:
        tests = [self.single()]
        while self.is_word("and"):
            self.at += 1
            tests.append(self.single())
        return tests[0] if len(tests) == 1 else lambda facet: all(test(facet) for test in tests)

    def single(self) -> _Test:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error("too many brackets stand inside each other")
        try:
            return self.negated() if self.is_word("not") else self.bracketed_or_plain()
        finally:
            self.depth -= 1

    def negated(self) -> _Test:
        self.at += 1
        inner = self.single()
        return lambda facet: not inner(facet)

    def bracketed_or_plain(self) -> _Test:
        if self.tokens[self.at : self.at + 1] != [("sign", "(")]:
            return self.comparison()
        self.at += 1
        inner = self.either()
        self.take("sign", ")")
        return inner

    def comparison(self) -> _Test:
        column = facet_column(self.take("word"), where=self.where)
        self.columns.add(column)
        if self.is_word("in"):
            self.at += 1
            return _is_one_of(column, self.texts())
        operator = self.take("sign")
        value = self.take("text")
        if operator in ("=", "!="):
            test = _is_one_of(column, [value])
        elif operator in ("~", "!~"):
            test = _is_like(column, value)
        else:
            raise self.error(f"`{operator}` is no comparison")
        if not operator.startswith("!"):
            return test
        return lambda facet: facet.get(column) is not None and not test(facet)

    def texts(self) -> list[str]:
        self.take("sign", "(")
        found = [self.take("text")]
        while self.peek() == ",":
            self.take("sign", ",")
            found.append(self.take("text"))
        self.take("sign", ")")
        return found


def facet_column(name: str, *, where: str = "") -> str:
    """Facet column, or `tags.KEY`, that a rule's word means.

    Raises
    ------
    UnknownName
        When there is none.
    """
    column = ALIASES.get(name, name)
    if column.startswith("tags.") or (column in FACET_COLUMNS and column != "tags"):
        return column
    raise UnknownName("column", name, [*ALIASES, *FACET_COLUMNS, "tags.KEY"], where=where)


def _is_one_of(column: str, values: list[str]) -> _Test:
    wanted = {value.casefold() for value in values}

    def test(facet: Facet) -> bool:
        found = facet.get(column)
        return found is not None and found.casefold() in wanted

    return test


def _is_like(column: str, glob: str) -> _Test:
    pattern = re.compile(translate(glob.casefold()))

    def test(facet: Facet) -> bool:
        found = facet.get(column)
        return found is not None and pattern.match(found.casefold()) is not None

    return test
