"""Why something failed, on one line: runtimes and converters raise anything, and some write pages."""

from __future__ import annotations

from unitcost.errors import UnitcostError

#: Signs that a reason is shown with, at most.
SHOWN = 400


def reason(error: BaseException) -> str:
    """What went wrong, in one line; an error that is not one of ours with its kind."""
    said = " ".join(str(error).split())
    if not isinstance(error, UnitcostError):
        kind = type(error).__name__
        said = f"{kind}: {said.rstrip('.')}" if said else kind
    return cut(said)


def cut(text: str, most: int = SHOWN) -> str:
    """Text of at most so many signs; one that was longer ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
