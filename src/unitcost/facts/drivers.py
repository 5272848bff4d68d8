"""Names of the drivers that ship; a user's rule may name any other."""

from __future__ import annotations

TRAINING = "training"
SERVING = "serving"
DEVELOPMENT = "development"
EVALUATION = "evaluation"
PREPROCESSING = "preprocessing"
STORAGE = "storage"
DATA_MOVEMENT = "data movement"
LLM_API = "LLM API"
PLATFORM = "shared platform"
SHIPPED_NAMES = (
    TRAINING, SERVING, DEVELOPMENT, EVALUATION, PREPROCESSING, STORAGE, DATA_MOVEMENT, LLM_API, PLATFORM,
)  # fmt: skip
