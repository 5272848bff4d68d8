"""Which accelerators a process holds: its own, never those of the machine."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from unitcost.tracking.devices import Devices, devices_in_use, devices_of
from unitcost.tracking.identity import identity_of, job_of

CARDS = "".join(f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-{n}{n}{n}{n}-aa)\n" for n in range(8))
MIXED = "GPU 0: NVIDIA A100 (UUID: GPU-0000-aa)\nGPU 1: NVIDIA T4 (UUID: GPU-1111-aa)\n"
SLICED = (
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0000-aa)\n  MIG 1g.5gb      Device  0: (UUID: MIG-1234-bb)\n"
    "  MIG 2g.10gb     Device  1: (UUID: MIG-5678-bb)\n"
)


def shown(text: str = ""):
    def ask(command: Sequence[str]) -> str:
        assert command[0] == "nvidia-smi"
        return text

    return ask


def ids(environ: dict[str, str], cards: str = "", *, many_ranks: bool = False) -> tuple[str, ...] | None:
    return devices_of(environ, many_ranks=many_ranks, ask=shown(cards)).ids


@pytest.mark.parametrize(
    ("environ", "cards", "found"),
    [
        ({}, CARDS, None),
        ({"CUDA_VISIBLE_DEVICES": ""}, CARDS, ()),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, CARDS, ()),
        ({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, CARDS, ()),
        ({"CUDA_VISIBLE_DEVICES": "2,3"}, CARDS, ("GPU-2222-aa", "GPU-3333-aa")),
        ({"CUDA_VISIBLE_DEVICES": "2,3"}, "", ("2", "3")),
        ({"CUDA_VISIBLE_DEVICES": "2,-1,3"}, CARDS, ("GPU-2222-aa",)),
        ({"CUDA_VISIBLE_DEVICES": "1,1"}, CARDS, ("GPU-1111-aa",)),
        ({"CUDA_VISIBLE_DEVICES": "9"}, CARDS, ("9",)),
        ({"CUDA_VISIBLE_DEVICES": "GPU-4444"}, CARDS, ("GPU-4444-aa",)),
        ({"CUDA_VISIBLE_DEVICES": "MIG-1234-bb"}, SLICED, ("MIG-1234-bb",)),
        ({"CUDA_VISIBLE_DEVICES": "1"}, MIXED, ("1",)),
        ({"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, MIXED, ("GPU-1111-aa",)),
        ({"NVIDIA_VISIBLE_DEVICES": "all"}, CARDS, None),
        ({"NVIDIA_VISIBLE_DEVICES": "void"}, CARDS, None),
        ({"NVIDIA_VISIBLE_DEVICES": "GPU-1111-aa"}, CARDS, ("GPU-1111-aa",)),
        ({"HIP_VISIBLE_DEVICES": "0,1"}, "", ("0", "1")),
        ({"SLURM_JOB_GPUS": "0,2-4"}, CARDS, ("0", "2", "3", "4")),
        ({"SLURM_JOB_GPUS": "0,1", "SLURM_STEP_GPUS": "1"}, CARDS, ("1",)),
        ({"CUDA_VISIBLE_DEVICES": "0", "SLURM_JOB_GPUS": "4,5"}, CARDS, ("GPU-0000-aa",)),
        ({"CUDA_VISIBLE_DEVICES": "0", "SLURM_JOB_GPUS": "4,5"}, "", ("0",)),
    ],
)
def test_whose_they_are(environ: dict[str, str], cards: str, found: tuple[str, ...] | None) -> None:
    assert ids(environ, cards) == found


def test_ranks_that_each_see_one_device_called_0_hold_those_of_the_step() -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "0", "SLURM_STEP_GPUS": "4,5,6,7"}
    assert ids(environ, "", many_ranks=True) == ("4", "5", "6", "7")
    assert ids(environ, CARDS.splitlines()[0], many_ranks=True) == ("GPU-0000-aa",)


def test_the_model_and_the_slice_are_named() -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "MIG-5678-bb"}
    assert devices_of(environ, many_ranks=False, ask=shown(SLICED)).model == "NVIDIA A100-SXM4-40GB MIG 2g.10gb"
    environ = {"CUDA_VISIBLE_DEVICES": "0"}
    assert devices_of(environ, many_ranks=False, ask=shown(CARDS)).model == "NVIDIA H100 80GB HBM3"


def test_only_what_this_process_has_running_is_in_use() -> None:
    printed = "77, GPU-1111-aa\n78, GPU-2222-aa\n77, GPU-3333-aa\n"
    assert devices_in_use(77, shown(printed)).ids == ("GPU-1111-aa", "GPU-3333-aa")
    assert devices_in_use(79, shown(printed)) == Devices(None)
    assert devices_in_use(79, shown("")) == Devices(None)


@pytest.mark.parametrize(
    ("environ", "rank", "ranks", "attempt"),
    [
        ({}, 0, 1, None),
        ({"RANK": "3", "WORLD_SIZE": "8"}, 3, 8, None),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "16", "SLURM_STEP_ID": "0"}, 5, 16, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "16"}, 0, 1, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "16", "SLURM_STEP_ID": "4294967291"}, 0, 1, None),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2, None),
        ({"SLURM_RESTART_COUNT": "2"}, 0, 1, 3),
        ({"RANK": "0", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "1"}, 0, 2, 2),
    ],
)
def test_where_a_process_stands(environ: dict[str, str], rank: int, ranks: int, attempt: int | None) -> None:
    found = identity_of(environ, host="n1")
    assert (found.rank, found.ranks, found.attempt) == (rank, ranks, attempt)


def test_processes_beside_each_other_in_a_job_are_runs_of_their_own() -> None:
    environ = {"SLURM_JOB_ID": "500", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}
    first, second = identity_of(environ, host="n1"), identity_of(environ, host="n1")
    assert first.run_id != second.run_id
    assert first.job == second.job == "slurm:500"


def test_a_run_id_that_is_given_joins_attempts() -> None:
    first = identity_of({}, host="n1", given="chain")
    second = identity_of({}, host="n2", given="chain")
    assert first.run_id == second.run_id == "chain"
    assert first.launch != second.launch
    assert identity_of({"UNITCOST_RUN_ID": "said"}, host="n1").run_id == "said"


@pytest.mark.parametrize(
    ("environ", "job"),
    [
        ({"SLURM_JOB_ID": "91", "SLURM_ARRAY_JOB_ID": "88", "SLURM_ARRAY_TASK_ID": "3"}, "slurm:88_3"),
        (
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAME": "train-0", "POD_NAMESPACE": "ml"},
            "kubernetes:ml/train-0",
        ),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "train-0"}, "kubernetes:train-0"),
        ({}, ""),
    ],
)
def test_which_job_a_process_is_part_of(environ: dict[str, str], job: str) -> None:
    assert job_of(environ, "n1") == job
