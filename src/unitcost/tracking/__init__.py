"""Record a run from inside: when it began and ended, how, and on which accelerators. Standard library only.

Nothing is sent anywhere: one line at the start and one at the end go to a file, which `unitcost load` reads.
"""

from __future__ import annotations

from unitcost.tracking.run import Run, track

__all__ = ["Run", "track"]
