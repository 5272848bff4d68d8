"""Near duplicates by text and by embedding."""

from __future__ import annotations

import numpy as np
import pytest

from unitcost.errors import BadSetting
from unitcost.serving.near_duplicates import by_embedding, by_text


def made_texts(count: int, seed: int) -> list[str]:
    """Random texts of 30 words, some of them an earlier one with a few words changed."""
    rng = np.random.default_rng(seed)
    texts: list[list[str]] = []
    for i in range(count):
        words = [f"w{n}" for n in rng.integers(0, 5_000, 30)]
        if texts and rng.uniform() < 0.5:
            words = list(texts[rng.integers(len(texts))])
            for place in rng.integers(0, 30, rng.integers(0, 4)):
                words[place] = f"new{i}"
        texts.append(words)
    return [" ".join(words) for words in texts]


def shared(one: str, other: str) -> float:
    runs = [{tuple(t.split()[i : i + 3]) for i in range(len(t.split()) - 2)} for t in (one, other)]
    return len(runs[0] & runs[1]) / len(runs[0] | runs[1])


@pytest.mark.parametrize("similarity", [0.6, 0.8, 1.0])
def test_text_finds_what_comparing_every_pair_finds(similarity: float) -> None:
    texts = made_texts(90, seed=1)
    best = [max((shared(text, texts[j]) for j in range(i)), default=0.0) for i, text in enumerate(texts)]
    found = by_text(texts, similarity=similarity)
    assert found.hits == sum(value >= similarity for value in best)
    for i, j in enumerate(found.nearest):
        assert j < i
        assert j < 0 or shared(texts[i], texts[j]) == pytest.approx(best[i])


def test_letter_case_and_signs_do_not_matter() -> None:
    assert by_text(["Reset my password, please!", "reset MY password please"], similarity=1.0).hits == 1
    assert by_text(["", ""], similarity=1.0).hit_share == 0.5


def test_embeddings_find_what_comparing_every_pair_finds() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(1_500, 16))
    rows[700] = rows[3] * 2.0
    rows[1_400] = rows[1_200] + 0.01 * rng.normal(size=16)
    found = by_embedding(rows, similarity=0.99)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosine = np.tril(unit @ unit.T, -1)
    assert found.hits == int((cosine.max(axis=1) >= 0.99).sum()) >= 2
    assert (found.nearest[700], found.nearest[1_400]) == (3, 1_200)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(BadSetting, match="zero or not a number"):
        by_embedding(np.zeros((2, 3)), similarity=0.9)
    with pytest.raises(BadSetting, match="not between 0 and 1"):
        by_text(["a"], similarity=1.2)
