"""What names a service, and which requests gave nobody anything."""

from __future__ import annotations

import pytest

from unitcost.facts.metered import is_useless, service_of

OWNERS = {"ml/chat-1": "ml/chat"}


@pytest.mark.parametrize(
    ("labels", "pod", "name", "how"),
    [
        ({"inferenceservice": "scorer", "model_name": "m"}, "ml/chat-1", "scorer", "label inferenceservice"),
        ({"model_name": "m"}, "ml/chat-1", "ml/chat", "owner of the pod"),
        ({"model_name": "m", "job": "j"}, "ml/other", "m", "label model_name"),
        ({"job": "j"}, "ml/other", "ml/other", "pod"),
        ({"job": "j", "instance": "10.0.0.1:8000"}, "", "j", "label job"),
        ({}, "", "unknown", "nothing"),
    ],
)
def test_what_names_a_service(labels: dict[str, str], pod: str, name: str, how: str) -> None:
    assert service_of(labels, pod, OWNERS) == (name, how)


def test_requests_that_gave_nobody_anything() -> None:
    assert is_useless({"finished_reason": "abort"})
    assert is_useless({"status": "INVALID_ARGUMENT"})
    assert not is_useless({"status": "OK"})
    assert not is_useless({"finished_reason": "length"})
    assert not is_useless({})
