"""Encodings of text as they are named in settings and on the command line."""

from __future__ import annotations

import codecs
from encodings.aliases import aliases

from unitcost.errors import UnknownName

_MEND = "use utf-8, latin-1, cp1252, utf-16 ..."
_PLAIN = "a,b;\n1"


def codec_of(name: str, *, where: str = "") -> str:
    """Python's name of a codec that turns bytes into text.

    Raises
    ------
    UnknownName
        When there is none of the name, or when it is no encoding of text, such as base64.
    """
    if not _is_text(name):
        known = {*aliases, *aliases.values(), "latin-1", "utf-8"}
        raise UnknownName("encoding", name, filter(_is_text, known), where=where, mend=_MEND)
    return codecs.lookup(name).name


def _is_text(name: str) -> bool:
    try:
        return codecs.getincrementaldecoder(name)("strict").decode(_PLAIN.encode(name), True) == _PLAIN
    except (LookupError, ValueError, TypeError):
        return False
