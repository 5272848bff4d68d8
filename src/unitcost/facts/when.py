"""The small language of rules: `column ~ 'glob'`, `column = 'value'`, `column in (...)`, and / or / not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate

from unitcost.errors import UnknownName
from unitcost.facts.charges import FACET_COLUMNS, Facet
from unitcost.facts.conditions import Parser

#: Shorter names for some facet columns.
ALIASES = {
    "account": "sub_account_id",
    "account_name": "sub_account_name",
    "provider": "service_provider_name",
    "service": "service_name",
    "region": "region_id",
    "publisher": "publisher_name",
}
_Test = Callable[[Facet], bool]
_MEND = "write column ~ 'glob', column = 'value' or column in ('a', 'b'), joined by and / or / not"


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
    parser = _Parser(text, where)
    test = parser.whole()
    return When(text, test, frozenset(parser.columns))


class _Parser(Parser[_Test]):
    """Conditions on facets."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text, where=where, mend=_MEND)
        self.columns: set[str] = set()

    def any_of(self, tests: list[_Test]) -> _Test:
        return lambda facet: any(test(facet) for test in tests)

    def all_of(self, tests: list[_Test]) -> _Test:
        return lambda facet: all(test(facet) for test in tests)

    def inverse(self, test: _Test) -> _Test:
        return lambda facet: not test(facet)

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
