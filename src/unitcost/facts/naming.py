"""Names as a report spells them: none has a word of its own, and a text that reads like such a word is quoted."""

from __future__ import annotations

from unitcost.facts.rules import OWNER_KINDS, UNTAGGED
from unitcost.facts.spend import BESIDE_LINES

#: What stands where there is no name, owners apart.
NONE = "(none)"
#: Words that a table uses itself, besides names.
_TOTAL, _REST = "total", "other ("
#: Names in a table of owners that are nobody: they have cost and receive none.
NOBODY = frozenset({UNTAGGED, *BESIDE_LINES})
#: Texts that would be taken for nobody; "unknown" looks like a word for it.
_LIKE_NOBODY = NOBODY | {"unknown"}


def word_for_none(dimension: str) -> str:
    """What a report prints where charges have no value in a dimension."""
    return UNTAGGED if dimension in OWNER_KINDS else NONE


def spelt(value: str | None, dimension: str = "") -> str:
    """Name under which a value stands in a report; two values never have the same.

    A text that is a word of the report itself, such as an owner who is called "untagged", is put in double
    quotes, and so is one that stands in quotes already.
    """
    if value is None:
        return word_for_none(dimension)
    own_word = value in (NONE, _TOTAL) or value.startswith(_REST)
    if own_word or (dimension in OWNER_KINDS and value in _LIKE_NOBODY) or _is_quoted(value):
        return f'"{value}"'
    return value


def meant(name: str) -> str | None:
    """Owner that a name in the settings means: `untagged` is nobody, quotes make any word a name; None = nobody."""
    if name == UNTAGGED:
        return None
    return name[1:-1] if _is_quoted(name) else name


def spelt_owner(owner: str | None) -> str:
    """Name under which an owner of any kind stands in a report."""
    return spelt(owner, OWNER_KINDS[0])


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] == '"'
