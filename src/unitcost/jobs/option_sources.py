"""Options from tables and from files of measurements, with their answers per item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from unitcost.errors import BadSetting
from unitcost.facts.options import Limits, Option
from unitcost.jobs.measured_options import options_of
from unitcost.measure.item_table import Items, read_items
from unitcost.measure.option_table import read_options
from unitcost.measure.result_files import check_anchors, is_result_file, items_of, read_result, told_apart


def gather(
    files: Sequence[Path], item_sources: Sequence[str], *, at: Mapping[str, str], usd_per_hour: Decimal | None,
    limits: Limits,
) -> tuple[list[Option], Items | None]:  # fmt: skip
    """Options of all files, and their answers per item where any are given.

    Raises
    ------
    BadSetting
        When answers per item come from a file of the bench and from a table too.
    """
    results = told_apart([read_result(file) for file in files if is_result_file(file)])
    if len(results) > 1:
        check_anchors(results)
    tables = [file for file in files if not is_result_file(file)]
    options = [option for file in tables for option in read_options(file, at=at, usd_per_hour=usd_per_hour).options]
    options += [option for result in results for option in options_of(result, limits, lambda _: usd_per_hour)]
    measured = items_of(results)
    if measured is not None and item_sources:
        raise BadSetting("the files of the bench hold answers already", mend="leave --items out, or give tables only")
    return options, read_items(item_sources) if item_sources else measured
