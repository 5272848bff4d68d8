"""Write the tables: `python -m tools.price_tables FACTS`.

FACTS holds `instances.csv`, `committed.csv`, `data_movement.csv` and raw snapshots in `files/`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.price_tables import make


def main() -> None:
    """Write the tables and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--to", type=Path, default=Path("src/unitcost/prices/tables"))
    said = parser.parse_args()
    texts, made = make(said.facts)
    for name, text in texts.items():
        (said.to / name).write_text(text, encoding="utf-8")
    for item in made.findings:
        where = f"{item.provider} {item.region} {item.instance_type}"
        print(f"{item.done}: {where}: {item.what} [{item.check}]", file=sys.stderr)
    print(texts["manifest.json"], end="")


if __name__ == "__main__":
    main()
