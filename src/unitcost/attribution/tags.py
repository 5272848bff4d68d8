"""Tags as people write them: one key has many spellings, and some keys say what a resource is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from unitcost.facts.drivers import (
    DATA_MOVEMENT,
    DEVELOPMENT,
    EVALUATION,
    LLM_API,
    PLATFORM,
    PREPROCESSING,
    SERVING,
    STORAGE,
    TRAINING,
)

#: What providers and their exports put before a user's key.
_PREFIXES = ("resourcetags/", "user:", "user_", "aws:", "aws_", "label:", "labels/", "tag:")
#: Keys that say what a resource is for, folded, in the order they are trusted.
PURPOSE_KEYS = (
    "driver", "mlstage", "mlpurpose", "mlopsstage", "mlworkload", "workloadtype", "workloadkind", "workload",
    "purpose", "stage", "kind",
)  # fmt: skip
#: Keys that first of all name an environment. They decide only where nothing else does.
ENVIRONMENT_KEYS = ("environment", "env")
#: What folded values of those keys mean.
PURPOSES = {
    "train": TRAINING, "training": TRAINING, "trainingjob": TRAINING, "finetune": TRAINING, "finetuning": TRAINING,
    "pretrain": TRAINING, "pretraining": TRAINING, "sweep": TRAINING, "tuning": TRAINING, "hpo": TRAINING,
    "serve": SERVING, "serving": SERVING, "inference": SERVING, "infer": SERVING, "endpoint": SERVING,
    "predict": SERVING, "prediction": SERVING, "batchinference": SERVING,
    "notebook": DEVELOPMENT, "notebooks": DEVELOPMENT, "workbench": DEVELOPMENT, "interactive": DEVELOPMENT,
    "eval": EVALUATION, "evaluate": EVALUATION, "evaluation": EVALUATION, "benchmark": EVALUATION,
    "preprocess": PREPROCESSING, "preprocessing": PREPROCESSING, "etl": PREPROCESSING, "prep": PREPROCESSING,
    "dataprep": PREPROCESSING, "featureengineering": PREPROCESSING,
    "storage": STORAGE, "datamovement": DATA_MOVEMENT, "llmapi": LLM_API,
    "platform": PLATFORM, "sharedplatform": PLATFORM, "monitoring": PLATFORM,
}  # fmt: skip
#: Values that name a phase of deployment as often as a kind of work.
_PHASES = {"dev": DEVELOPMENT, "development": DEVELOPMENT, "sandbox": DEVELOPMENT}
#: Keys whose value may be one of those phases.
_PHASE_KEYS = {"stage", *ENVIRONMENT_KEYS}


@lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """Tag key or value without letter case, separators, and the prefix that a provider puts before a key."""
    lowered = text.strip().casefold()
    for prefix in _PREFIXES:
        lowered = lowered.removeprefix(prefix)
    return "".join(sign for sign in lowered if sign.isalnum())


def values_of(tags: Mapping[str, str], key: str) -> Iterator[tuple[str, str]]:
    """(key, value) of all tags that are spelt like `key`, the exact spelling first, then in sorted order."""
    if key in tags:
        yield key, tags[key]
    wanted = fold(key)
    for found in sorted(tags):
        if found != key and fold(found) == wanted:
            yield found, tags[found]


def purpose_of(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """Driver that the tags state, and the tag that does; None when they state none."""
    return _purpose(tags, PURPOSE_KEYS, PURPOSES | _PHASES, PURPOSES)


def environment_of(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """Driver that the name of the environment suggests, such as `env = dev`; None when it suggests none."""
    known = PURPOSES | _PHASES
    return _purpose(tags, (*ENVIRONMENT_KEYS, "stage"), known, known)


def _purpose(
    tags: Mapping[str, str], keys: tuple[str, ...], sure: Mapping[str, str], of_phase_key: Mapping[str, str]
) -> tuple[str, str] | None:
    folded: dict[str, list[str]] = {}
    for key in sorted(tags):
        folded.setdefault(fold(key), []).append(key)
    for wanted in keys:
        meanings = of_phase_key if wanted in _PHASE_KEYS else sure
        for key in folded.get(wanted, ()):
            driver = meanings.get(fold(tags[key]))
            if driver:
                return driver, f"tag {key} = {tags[key]}"
    return None
