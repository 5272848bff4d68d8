"""Bills, schedulers and monitoring call the same machine by different names."""

from __future__ import annotations

from decimal import Decimal

import pytest

from unitcost.attribution.places import Places, short_name
from unitcost.facts.capacity import KnownResource


def known(resource_id: str = "", node: str = "", instance_id: str = "", quantity: int | None = None) -> KnownResource:
    return KnownResource(
        resource_id=resource_id or None, node=node or None, instance_id=instance_id or None,
        quantity=None if quantity is None else Decimal(quantity),
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "i-0abc", "I-0ABC", "arn:aws:ec2:us-east-1:123456789012:instance/i-0abc", "aws:///us-east-1a/i-0abc",
        "https://example.test/projects/p/zones/z/instances/i-0abc/",
    ],
)  # fmt: skip
def test_an_instance_is_known_by_the_last_part_of_its_name(name: str) -> None:
    assert short_name(name) == "i-0abc"


def test_a_node_belongs_to_the_instance_that_is_billed() -> None:
    places = Places.over(
        [
            known("GPU-1", "n1", quantity=1),
            known("GPU-2", "n1", quantity=1),
            known(node="n1", instance_id="aws:///z/i-1"),
        ],
        [("i-1", None), ("i-2", None), ("vol-1", None)],
    )
    assert places.charged == ("i-1",)
    assert places.find("GPU-1", "n1") == places.find(None, "N1") == places.find("i-1") == "i-1"
    assert places.find("GPU-9", "n2") is None
    assert places.capacities() == {"i-1": Decimal(2)}


def test_a_card_that_is_billed_is_a_place_of_its_own() -> None:
    places = Places.over(
        [known("GPU-1", "n1", quantity=1), known(node="n1", quantity=8)], [("GPU-1", None), ("n1", None)]
    )
    assert places.find("GPU-1", "n1") == "GPU-1"
    assert places.find("GPU-2", "n1") == "n1"
    assert places.capacities() == {"GPU-1": Decimal(1), "n1": Decimal(8)}


def test_a_node_that_says_what_it_has_is_believed_before_the_sum_of_its_cards() -> None:
    places = Places.over([known("GPU-1", "n1", quantity=1), known(node="n1", quantity=8)], [("n1", None)])
    assert places.capacities() == {"n1": Decimal(8)}


def test_a_charge_may_carry_the_node_in_its_resource_name() -> None:
    places = Places.over([known(node="gpu-7")], [("0af3", "gpu-7")])
    assert places.find("gpu-7") == "0af3"
