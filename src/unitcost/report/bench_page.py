"""What the bench has found, as one HTML file."""

from __future__ import annotations

from unitcost.report.html import page, plain_tile
from unitcost.report.plan_page import PlanPage

_FOOTER = (
    "Measured on one machine at one time, on the data that was given. What is ruled out says why; an estimate is never chosen. "
    "The same numbers are printed by <code>--json</code>."
)


def as_html(found: PlanPage) -> str:
    """One-file page; the same answer gives the same bytes."""
    return page(
        found.title, found.subtitle, messages=found.messages,
        tiles=[plain_tile(tile.name, tile.value, tile.beside) for tile in found.tiles], sections=found.sections,
        bar=[(section.key, section.title) for section in found.sections], footer=_FOOTER,
    )  # fmt: skip
