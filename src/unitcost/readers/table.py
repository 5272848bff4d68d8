"""The table of readers."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import cast

from unitcost.readers import aws_cur, azure, focus, focus_invoice, gcp, generic_csv, oci, outputs_csv, rate_card
from unitcost.readers.calls import (
    anthropic_costs,
    anthropic_table,
    anthropic_usage,
    calls_csv,
    langfuse,
    litellm,
    openai_activity,
    openai_costs,
    openai_usage,
    otel,
)
from unitcost.readers.head import Head
from unitcost.readers.reading import Reader, unfolds
from unitcost.readers.work import (
    access_log,
    artifacts_csv,
    cloudwatch,
    holdings_csv,
    kubernetes,
    managed_endpoints,
    managed_training,
    mlflow,
    object_listing,
    opencost,
    prometheus,
    qualities_csv,
    resources_csv,
    s3_inventory,
    sagemaker_training,
    slurm,
    track,
    wandb,
    workloads_csv,
)
from unitcost.readers.work.reading import WorkReader, is_work

#: Readers of bills and of useful units: name -> module. Among equally sure readers the earlier one reads the file.
BILL_READERS: dict[str, Reader] = {
    module.NAME: cast(Reader, module)
    for module in (generic_csv, focus_invoice, focus, aws_cur, azure, gcp, oci, outputs_csv, rate_card)
}
#: Readers of schedulers, trackers, monitoring and storage: name -> module.
WORK_READERS: dict[str, WorkReader] = {
    module.NAME: cast(WorkReader, module)
    for module in (
        slurm,
        kubernetes,
        prometheus,
        opencost,
        workloads_csv,
        holdings_csv,
        resources_csv,
        artifacts_csv,
        qualities_csv,
        s3_inventory,
        object_listing,
        mlflow,
        wandb,
        track,
        cloudwatch,
        sagemaker_training,
        managed_training,
        managed_endpoints,
        access_log,
    )
}  # fmt: skip
#: Readers of calls of models, as gateways, tracers and providers tell of them: name -> module.
CALL_READERS: dict[str, Reader] = {
    module.NAME: cast(Reader, module)
    for module in (
        litellm,
        langfuse,
        otel,
        openai_usage,
        openai_activity,
        openai_costs,
        anthropic_usage,
        anthropic_table,
        anthropic_costs,
        calls_csv,
    )
}
READERS: dict[str, Reader | WorkReader] = {**BILL_READERS, **WORK_READERS, **CALL_READERS}


@cache
def all_readers() -> dict[str, Reader | WorkReader]:
    """The readers of this package, then those that other packages offer as entry points `unitcost.readers`."""
    outside = {
        entry.name: cast("Reader | WorkReader", entry.load()) for entry in entry_points(group="unitcost.readers")
    }
    return {**outside, **READERS}


def claimed(head: Head) -> bool:
    """Whether a reader of work knows a text by its first bytes and takes it apart itself."""
    return any((is_work(reader) or unfolds(reader)) and reader.sniff(head) > 0 for reader in all_readers().values())
