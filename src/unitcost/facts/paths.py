"""What a path leads to, in words."""

from __future__ import annotations

import stat
import unicodedata

_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)  # fmt: skip
#: Control signs, marks of writing direction and the like, breaks of lines.
_STEERING = {"Cc", "Cf", "Zl", "Zp"}


def kind_of(mode: int) -> str:
    """What a path is by its mode: `a file`, `a folder`, `a pipe` ..."""
    return next((words for test, words in _KINDS if test(mode)), "a file")


def printable(path: str) -> str:
    """Path as text that any stream can print: bytes that are no UTF-8, and signs that steer a terminal, are spelt out."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(sign if unicodedata.category(sign) not in _STEERING else f"\\u{ord(sign):04x}" for sign in text)


def is_text(path: str) -> bool:
    """Whether a path is valid UTF-8; where it is not, no settings can name it and the engine cannot open it."""
    return not any(unicodedata.category(sign) == "Cs" for sign in path)
