"""A model of a price list: its names, and what it charged in which interval and variant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from unitcost.facts.tokens import ModelPrice

#: A snapshot of a model: its name and a day, or `latest`.
_SNAPSHOT = re.compile(r"(?P<name>.+)[-@](?P<day>20\d{2}-?\d{2}-?\d{2}|latest)")


#: Spellings of providers in gateways and traces -> provider as price lists name it; a gateway names none.
PROVIDERS = {
    "amazon-bedrock": "aws", "aws.bedrock": "aws", "bedrock": "aws", "bedrock_converse": "aws",
    "az.ai.openai": "azure", "azure.ai.openai": "azure", "azure_openai": "azure", "azure-openai": "azure",
    "azure_ai": "azure", "gcp.gemini": "google", "gcp.vertex_ai": "google", "gemini": "google", "vertex": "google",
    "vertex_ai": "google", "google_genai": "google", "google_vertexai": "google", "xai": "x-ai", "x_ai": "x-ai",
    "together_ai": "together", "together-ai": "together", "fireworks_ai": "fireworks", "mistral_ai": "mistral",
    "mistralai": "mistral", "moonshot": "moonshotai", "cohere_chat": "cohere", "text-completion-openai": "openai",
    "github_copilot": "github-copilot", "voyage": "voyageai", "z-ai": "zai", "litellm": "", "litellm_proxy": "",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model as one list knows it.

    Parameters
    ----------
    provider, model
        As the list names them; an empty provider holds for any.
    variants
        Variant -> prices, one per interval; `""` is the usual way.
    reason
        Why there are no prices, when there are none.
    """

    provider: str
    model: str
    variants: Mapping[str, Callable[[], tuple[ModelPrice, ...]]] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model that a name led to, and the rule by which it did."""

    entry: ModelEntry
    rule: str


class PriceList(Protocol):
    """A list of model prices."""

    name: str

    def find(self, provider: str, model: str) -> Found | str:
        """The model of a name; else why there is none."""
        ...

    def names(self, provider: str) -> Iterable[str]:
        """Names that the list knows of a provider, or of all when it is empty."""
        ...

    def entries(self) -> Iterable[ModelEntry]:
        """All models of the list."""
        ...


def provider_id(spelling: str) -> str:
    """Provider that a spelling means; empty for a gateway, which sells nothing itself."""
    folded = spelling.strip().casefold()
    return PROVIDERS.get(folded, folded)


def snapshot_of(name: str) -> str | None:
    """The model that a dated name is a snapshot of: `gpt-4o` of `gpt-4o-2024-08-06`; None for other names."""
    match = _SNAPSHOT.fullmatch(name)
    if match is None:
        return None
    day = match["day"].replace("-", "")
    if day != "latest":
        try:
            date(int(day[:4]), int(day[4:6]), int(day[6:]))
        except ValueError:
            return None
    return match["name"]
