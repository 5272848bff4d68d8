"""What is read about work: who held which capacity, what was measured, and what came out of it.

Each table here is a table of the ledger of the same name. A reader gives one value per column, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unitcost.facts.drivers import DEVELOPMENT, EVALUATION, PLATFORM, PREPROCESSING, SERVING, TRAINING
from unitcost.facts.source import Reject
from unitcost.facts.tokens import COUNTED

#: `epoch`: seconds since 1970-01-01 UTC, as many places as the source has; `time`: a UTC moment; `labels`: a JSON
#: object of texts; `word`: a text that is empty, never null, where there is none.
WorkKind = Literal["text", "word", "time", "epoch", "whole", "decimal", "number", "truth", "labels"]
WorkTable = Literal[
    "workloads", "resources", "holdings", "outputs", "series", "samples", "artifacts", "model_versions", "qualities",
    "calls",
]  # fmt: skip

#: Kinds of workload, and the driver that each is for.
WORKLOAD_DRIVERS: dict[str, str] = {
    "training": TRAINING,
    "sweep": TRAINING,
    "trial": TRAINING,
    "evaluation": EVALUATION,
    "preprocessing": PREPROCESSING,
    "endpoint": SERVING,
    "batch inference": SERVING,
    "notebook": DEVELOPMENT,
    "service": PLATFORM,
}
#: Kinds that are meant to end in a result.
RUN_KINDS = ("training", "sweep", "trial", "evaluation")
#: How a life of a workload ended, whatever the source calls it. One that crashed was ended by its machine, or stopped
#: to answer; one that failed ended itself with an error.
STATUSES = (
    "running", "completed", "failed", "crashed", "cancelled", "preempted", "timeout", "pruned", "never started", "unknown",
)  # fmt: skip
ARTIFACT_KINDS = ("checkpoint", "feature table", "log", "embedding", "data set", "model", "other")
#: Tag of a run of a tracker: `SOURCE:WORKLOAD_ID` of the scheduler's job that it is part of, which has the holdings.
SCHEDULER_JOB = "scheduler_job"
#: Accelerator of a holding that has none: its quantity counts processor cores.
CPU = "cpu"
#: Accelerator of a holding whose model the source does not name.
ANY_GPU = "gpu"

WORK_COLUMNS: dict[WorkTable, tuple[tuple[str, WorkKind], ...]] = {
    # A piece of work. `source` parts the names of one scheduler or tracker from those of another; `config_key` is the
    # same for runs of the same configuration; `started_at` without `ended_at` is work whose end is not known.
    "workloads": (
        ("source", "text"), ("workload_id", "text"), ("kind", "text"), ("name", "text"), ("parent", "text"),
        ("account", "text"), ("team", "text"), ("project", "text"), ("experiment", "text"), ("status", "text"),
        ("accepted", "truth"), ("started_at", "time"), ("ended_at", "time"), ("config_key", "text"),
        ("metrics", "labels"), ("tags", "labels"),
    ),
    # What there is to hold: a card, a node or an instance, how many accelerators it has [accelerators], and into how
    # many time slices each is cut. `accelerator` is our name for it (`facts.accelerators`), `accelerator_native` what
    # the source calls it where that is another.
    "resources": (
        ("source", "text"), ("resource_id", "text"), ("node", "text"), ("instance_id", "text"),
        ("instance_type", "text"), ("accelerator", "text"), ("accelerator_native", "text"), ("quantity", "decimal"),
        ("replicas", "decimal"), ("started_at", "time"), ("ended_at", "time"), ("tags", "labels"),
    ),
    # One life of a workload holds a quantity of accelerators (a fraction of a card counts as such) or of cores. Steps
    # are counted from the start of the run: the life began at `start_step`, reached `end_step`, and what it had saved
    # last was `kept_step`. `startup_s` is the time before the first step. [s]
    "holdings": (
        ("source", "text"), ("workload_id", "text"), ("attempt", "whole"), ("status", "text"), ("resource_id", "text"),
        ("node", "text"), ("accelerator", "text"), ("accelerator_native", "text"), ("quantity", "decimal"),
        ("billing_weight", "decimal"), ("started_at", "time"), ("ended_at", "time"), ("pricing_category", "text"), ("startup_s", "number"),
        ("start_step", "whole"), ("end_step", "whole"), ("kept_step", "whole"),
    ),
    "outputs": (
        ("service", "text"), ("period_start", "time"), ("period_end", "time"), ("unit", "text"),
        ("quantity", "decimal"), ("attempts", "decimal"), ("basis", "text"),
    ),
    # One measured series: `series_key` names it within its file. `metric` is our name for it, `native` the source's.
    # A counter only grows but for restarts, a gauge is a state, a bucket is a counter of a histogram.
    "series": (
        ("series_key", "whole"), ("metric", "text"), ("native", "text"), ("kind", "text"), ("unit", "text"),
        ("resource_id", "text"), ("node", "text"), ("workload_id", "text"), ("labels", "labels"),
    ),
    "samples": (("series_key", "whole"), ("sampled_at", "epoch"), ("value", "number")),
    "artifacts": (
        ("artifact_id", "text"), ("kind", "text"), ("run", "text"), ("owner", "text"), ("resource_id", "text"),
        ("storage_class", "text"), ("size_bytes", "whole"), ("gb_months", "decimal"), ("period_start", "time"),
        ("period_end", "time"), ("created_at", "time"), ("last_access", "time"), ("tags", "labels"),
    ),
    "model_versions": (
        ("model_version", "text"), ("run", "text"), ("endpoint", "text"), ("predecessor", "text"),
    ),
    "qualities": (
        ("subject", "text"), ("metric", "text"), ("value", "number"), ("n", "whole"), ("data_set", "text"),
        ("measured_at", "time"), ("basis", "text"),
    ),
    # Calls of models. A row is one call, or the sum of `requests` calls from `called_at` to `ended_at`. `attempt` is 1 for
    # the first; null is not known, here as everywhere. Tokens are in classes that do not overlap, as in `TokenCounts`,
    # whatever the source counts; how it counts stands in the conventions. `reported_cost` is what the source says the
    # call cost, `avoided_cost` what a cache of the gateway saved. `facts/calls.py` has the words of these columns.
    "calls": (
        ("call_id", "text"), ("parent_id", "text"), ("attempt", "whole"), ("called_at", "time"), ("ended_at", "time"),
        ("requests", "whole"), ("provider", "text"), ("model", "text"), ("variant", "word"), ("region", "text"),
        ("key", "text"), ("caller", "text"), ("status", "text"), *((name, "whole") for name in COUNTED),
        ("reported_cost", "decimal"), ("reported_currency", "text"), ("cost_basis", "text"),
        ("avoided_cost", "decimal"), ("input_convention", "text"), ("output_convention", "text"), ("accepted", "truth"),
        ("notes", "text"), ("tags", "labels"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """Rows of one table: a UTF-8 csv without header, the row number in the source first, then the table's columns."""

    table: WorkTable
    path: Path
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlan:
    """All that is needed to load one file about work.

    Parameters
    ----------
    reader, dialect
        Name of the reader, and what it recognised.
    tables
        Its rows, checked and written anew.
    rows_read
        Records of the file, those set aside included.
    conventions, flags
        As in `Plan`.
    rejects
        Records that could not be understood; nothing of them is in `tables`.
    """

    reader: str
    dialect: str
    tables: tuple[TableFile, ...]
    rows_read: int
    conventions: tuple[str, ...]
    flags: tuple[str, ...] = ()
    rejects: tuple[Reject, ...] = ()
