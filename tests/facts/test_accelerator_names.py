"""One name for each accelerator."""

from __future__ import annotations

from decimal import Decimal

import pytest

from unitcost.errors import UnknownName
from unitcost.facts.accelerators import accelerator_name, accelerators, family_of, meant_by, recognise


@pytest.mark.parametrize(
    ("spelling", "memory", "name"),
    [
        ("A100", "40", "A100-40GB"),
        ("A100", "80", "A100-80GB"),
        ("A100", "79.65", "A100-80GB"),
        ("A100-80GB", None, "A100-80GB"),
        ("A100-80G-PCIe-NVLink", None, "A100-80GB"),
        ("A100-80GB-SXM", None, "A100-80GB"),
        ("NVIDIA A100-SXM4-40GB", None, "A100-40GB"),
        ("H100", "80", "H100-80GB"),
        ("H100-SXM", None, "H100-80GB"),
        ("H100-80G-PCIe", None, "H100-80GB"),
        ("H100_NVLINK", None, "H100-80GB"),
        ("NVIDIA H100 80GB HBM3", None, "H100-80GB"),
        ("H100 NVL", None, "H100-NVL"),
        ("H100", "93.58", "H100-NVL"),
        ("RTX A6000", None, "A6000"),
        ("RTX-A6000", None, "A6000"),
        ("RTXA6000", None, "A6000"),
        ("A6000", None, "A6000"),
        ("RTX6000Ada", None, "RTX6000-Ada"),
        ("RTX6000", None, "RTX6000"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", None, "RTX-PRO-6000"),
        ("Radeon MI25", None, "MI25"),
        ("v5litepod", None, "TPU-v5e"),
        ("Tesla V100-SXM2-16GB", None, "V100-16GB"),
        ("V100", "32", "V100-32GB"),
        ("A10G", "22.35", "A10G"),
    ],
)
def test_a_spelling_is_recognised(spelling: str, memory: str | None, name: str) -> None:
    found = recognise(spelling, Decimal(memory) if memory else None)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(("spelling", "memory"), [("A100", None), ("V100", None), ("A100", "60"), ("H1000", None)])
def test_what_leaves_a_doubt_is_not_guessed(spelling: str, memory: str | None) -> None:
    assert recognise(spelling, Decimal(memory) if memory else None) is None


def test_a_user_may_mean_a_family() -> None:
    assert meant_by("H100") == {"H100-80GB", "H100-NVL"}
    assert meant_by("h100-nvl") == {"H100-NVL"}
    with pytest.raises(UnknownName, match="did you mean `H100`"):
        meant_by("H10")


def test_each_name_leads_to_itself() -> None:
    for accelerator in accelerators():
        assert recognise(accelerator.name, accelerator.memory_gib) == accelerator


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("h100", "H100"),
        ("H100-80GB", "H100-80GB"),
        ("NVIDIA H100 80GB HBM3", "H100-80GB"),
        ("NVIDIA-H100-80GB-HBM3", "H100-80GB"),
        ("NVIDIA_H100_80GB", "H100-80GB"),
        ("nvidia-h100-mega-80gb", "H100-80GB"),
        ("a100", "A100"),
        ("NVIDIA_TESLA_A100", "A100"),
        ("a100_1g.5gb", "A100"),
        ("A100-SXM4-80GB-MIG-3g.40gb", "A100-80GB"),
        ("NVIDIA A100-SXM4-40GB MIG 3g.20gb", "A100-40GB"),
        ("Tesla-T4", "T4"),
        ("tesla_v100-sxm2-16gb", "V100-16GB"),
        ("nvidia-l4", "L4"),
        ("gpu", "gpu"),
        ("cpu", "cpu"),
        ("volta", "volta"),
        ("", ""),
    ],
)
def test_a_source_that_leaves_a_doubt_names_the_family(spelling: str, name: str) -> None:
    assert accelerator_name(spelling) == name
    assert accelerator_name(name) == name


def test_the_family_of_a_name() -> None:
    assert [family_of(name) for name in ("H100-80GB", "H100", "volta")] == ["H100", "H100", "volta"]
