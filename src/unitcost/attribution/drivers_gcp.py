"""Driver rules for Google's bills: the description of the SKU says most."""

from __future__ import annotations

from unitcost.facts.drivers import (
    DATA_MOVEMENT,
    DEVELOPMENT,
    LLM_API,
    PLATFORM,
    PREPROCESSING,
    SERVING,
    STORAGE,
    TRAINING,
)

_GCP = "provider ~ '*Google*'"
_VERTEX = "(service ~ '*Vertex*' or service ~ '*AI Platform*' or service ~ '*Cloud Machine Learning*')"

#: (name, driver, condition), in the order they are tried. "Gemini ... Input - Predictions" is a token line.
RULES: tuple[tuple[str, str, str], ...] = (
    (
        "gcp/model-tuning",
        TRAINING,
        f"({_VERTEX} or service ~ '*Gemini*') and (charge_description ~ '*Tuning*' or charge_description ~ '*Fine-tun*')",
    ),
    (
        "gcp/model-tokens",
        LLM_API,
        f"service ~ '*Gemini API*' or service ~ '*Generative Language*' or {_VERTEX} and "
        "(charge_description ~ '*Token*' or charge_description ~ '*Gemini*' or charge_description ~ '*Claude*' or "
        "charge_description ~ '*Mistral*' or charge_description ~ '*Llama*')",
    ),
    (
        "gcp/notebooks",
        DEVELOPMENT,
        f"service ~ '*Notebooks*' or {_VERTEX} and (charge_description ~ '*Workbench*' or "
        "charge_description ~ '*Notebook*' or charge_description ~ '*Colab*')",
    ),
    ("gcp/vertex-training", TRAINING, f"{_VERTEX} and charge_description ~ '*Training*'"),
    (
        "gcp/vertex-serving",
        SERVING,
        f"{_VERTEX} and (charge_description ~ '*Prediction*' or charge_description ~ '*Online Serving*')",
    ),
    (
        "gcp/data-movement",
        DATA_MOVEMENT,
        f"{_GCP} and (charge_description ~ '*Egress*' or charge_description ~ '*Ingress*' or "
        "charge_description ~ '*Data Transfer*' or charge_description ~ '*Inter Zone*' or "
        "charge_description ~ '*Inter Region*' or charge_description ~ '*NAT Gateway*' or "
        "charge_description ~ '*Cloud NAT*' or service in ('Networking', 'Cloud CDN'))",
    ),
    (
        "gcp/prediction-apis",
        SERVING,
        f"{_GCP} and (service ~ '*Vision API*' or service ~ '*Speech API*' or service ~ '*Text-to-Speech*' or "
        "service ~ '*Natural Language*' or service ~ '*Translate*' or service ~ '*Document AI*')",
    ),
    (
        "gcp/platform",
        PLATFORM,
        f"{_GCP} and (service ~ '*Logging*' or service ~ '*Monitoring*' or service ~ '*Kubernetes Engine*' or "
        "service ~ '*Artifact Registry*' or service ~ '*Container Registry*' or service ~ '*Key Management*' or "
        "service ~ '*Secret Manager*' or service ~ '*Security*' or service ~ '*Support*' or service = 'Cloud DNS')",
    ),
    ("gcp/dataflow", PREPROCESSING, f"{_GCP} and (service ~ '*Dataflow*' or service ~ '*Dataproc*')"),
    (
        "gcp/storage",
        STORAGE,
        f"{_GCP} and (service in ('Cloud Storage', 'Filestore', 'Cloud Filestore', 'Backup and DR') or "
        "charge_description ~ '*Storage PD*' or charge_description ~ '*PD Capacity*' or "
        "charge_description ~ '*Hyperdisk*' or charge_description ~ '*Snapshot*' or "
        "charge_description ~ '*Image Storage*')",
    ),
)
