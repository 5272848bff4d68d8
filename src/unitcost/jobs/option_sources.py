"""Options from tables and from files of measurements, with their answers per item, qualities and caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from unitcost import money
from unitcost.economics.quality.cached import behind_cache
from unitcost.economics.quality.metrics import METRICS
from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.options import Limits, Option
from unitcost.facts.qualities import CacheHits
from unitcost.jobs.measured_options import options_of
from unitcost.jobs.measured_qualities import read_qualities, sense_of, with_measured
from unitcost.jobs.workspace import Workspace
from unitcost.measure.cache_file import read_cache
from unitcost.measure.item_table import Items, read_items
from unitcost.measure.option_table import read_options
from unitcost.measure.result_files import check_anchors, is_result_file, items_of, read_result, told_apart
from unitcost.money import ZERO
from unitcost.units import PER_THOUSAND


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where options come from.

    Parameters
    ----------
    files
        Tables, and results of the bench.
    items
        Tables of answers per item, `[NAME=]PATH`.
    at
        Column -> value: only rows of tables that have it.
    usd_per_hour
        Price of a machine where none is told. [USD/h]
    qualities
        `ledger`, or files with measured qualities.
    metric, data_set
        Which of the qualities; a metric may be a column of scores in `items` too. Empty = the only one.
    caches
        `OPTION=PATH` of answers of `unitcost measure cache --json`, one option more for each threshold.
    lookup_usd_per_1k
        What a thousand lookups in a cache cost. [USD]
    """

    files: Sequence[Path]
    items: Sequence[str] = ()
    at: Mapping[str, str] = field(default_factory=dict)
    usd_per_hour: Decimal | None = None
    qualities: Sequence[str] = ()
    metric: str = ""
    data_set: str = ""
    caches: Sequence[str] = ()
    lookup_usd_per_1k: Decimal = ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Options, their answers per item where any are given, and the limits in the sense of the metric."""

    options: tuple[Option, ...]
    items: Items | None
    limits: Limits


def gather(sources: Sources, limits: Limits, workspace: Workspace) -> Gathered:
    """Options of all sources.

    Raises
    ------
    BadSetting
        When answers per item come from a file of the bench and from a table too, or qualities are of several metrics.
    """
    results = told_apart([read_result(file) for file in sources.files if is_result_file(file)])
    if len(results) > 1:
        check_anchors(results)
    tables = [
        read_options(file, at=sources.at, usd_per_hour=sources.usd_per_hour)
        for file in sources.files if not is_result_file(file)
    ]  # fmt: skip
    options = [option for table in tables for option in table.options]
    measured = items_of(results)
    if measured is not None and sources.items:
        raise BadSetting("the files of the bench hold answers already", mend="leave --items out, or give tables only")
    items = read_items(sources.items, score=_score_column(sources.metric)) if sources.items else measured
    metric = _metric([name for table in tables for name in table.quality_columns], sources)
    if sources.qualities:
        options, metric = with_measured(
            options, read_qualities(sources.qualities, workspace), metric=sources.metric, data_set=sources.data_set
        )
    sense = sense_of(metric)
    limits = replace(limits, is_more_better=sense.is_more_better, is_share_right=sense.is_share_right)
    options += [o for result in results for o in options_of(result, limits, lambda _: sources.usd_per_hour)]
    return Gathered(options=(*options, *_behind_caches(options, sources)), items=items, limits=limits)


def _score_column(metric: str) -> str:
    return "" if metric in METRICS or ".py:" in metric else metric


def _metric(columns: Sequence[str], sources: Sources) -> str:
    """Metric that the qualities of tables are of: their column, or the one that is named."""
    names = list(dict.fromkeys(columns))
    if len(names) > 1 and not sources.items and not sources.qualities:
        raise BadSetting(
            f"qualities stand in more than one column: {', '.join(names)}", mend="keep the one that counts"
        )
    told = sources.metric if ".py:" not in sources.metric else ""
    return names[0] if names and names != ["quality"] else told or "quality"


def _behind_caches(options: Sequence[Option], sources: Sources) -> list[Option]:
    found = []
    lookup_usd = money.divide_exactly(sources.lookup_usd_per_1k, PER_THOUSAND)
    names = {option.name: option for option in options}
    for text in sources.caches:
        name, mark, path = text.partition("=")
        if not mark or not Path(path).is_file():
            raise BadSetting(
                f"--cache is {text!r}", mend="write it as OPTION=FILE, the answer of `measure cache --json`"
            )
        fronted = [option for option in options if name in (option.name, option.name.partition("/")[0])]
        if not fronted:
            raise UnknownName("option", name, names)
        caches: list[CacheHits] = read_cache(Path(path))
        found += [behind_cache(option, hits, lookup_usd_per_unit=lookup_usd) for option in fronted for hits in caches]
    return found
