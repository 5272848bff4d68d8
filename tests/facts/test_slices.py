"""Instances of a card as parts of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from unitcost.facts.slices import profile_in, slice_share


@pytest.mark.parametrize(
    ("profile", "card", "share"),
    [
        ("nvidia.com/mig-1g.5gb", "", Fraction(1, 7)),  # seven fit
        ("1g.5gb+me", "", Fraction(1, 7)),
        ("3g.20gb", "", Fraction(1, 2)),  # three of seven compute slices, but half of the memory: two fit
        ("4g.20gb", "", Fraction(4, 7)),
        ("7g.40gb", "", Fraction(1)),
        ("1g.10gb", "NVIDIA-A100-SXM4-40GB", Fraction(1, 4)),  # two of eight memory slices: four fit
        ("1g.10gb", "NVIDIA-A100-SXM4-80GB", Fraction(1, 7)),
        ("1g.10gb", "NVIDIA-H100-80GB-HBM3", Fraction(1, 7)),
        ("1g.10gb", "", Fraction(1, 7)),
        ("a100_3g.39gb", "", Fraction(1, 2)),  # Slurm writes the usable memory
        ("2g.12gb", "A30", Fraction(1, 2)),
        ("1g.35gb", "NVIDIA-H200", Fraction(1, 4)),
        ("5g.10gb", "", None),
        ("1g.999gb", "", None),
        ("nvidia.com/gpu", "", None),
    ],
)
def test_shares(profile: str, card: str, share: Fraction | None) -> None:
    assert slice_share(profile, card) == share


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("nvidia.com/mig-2g.10gb.me", "2g.10gb"),
        ("nvidia_a100_1g.5gb", "1g.5gb"),
        ("h100", ""),
        ("11g.5gb", ""),
        ("", ""),
    ],
)
def test_profiles_in_names(name: str, profile: str) -> None:
    assert profile_in(name) == profile
