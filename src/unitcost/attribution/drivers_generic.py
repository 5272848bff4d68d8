"""Driver rules for any bill: token lines, FOCUS service categories, and the words that most bills use."""

from __future__ import annotations

from unitcost.facts.drivers import DATA_MOVEMENT, LLM_API, PLATFORM, STORAGE, TRAINING

_LLM_SELLER = (
    "(provider ~ 'OpenAI*' or provider ~ 'Anthropic*' or provider ~ 'Mistral*' or provider ~ 'Cohere*' or "
    "publisher ~ 'OpenAI*' or publisher ~ 'Anthropic*' or publisher ~ 'Mistral*' or publisher ~ 'Cohere*')"
)

#: (name, driver, condition), in the order they are tried.
RULES: tuple[tuple[str, str, str], ...] = (
    (
        "generic/fine-tuning",
        TRAINING,
        f"{_LLM_SELLER} and (charge_description ~ '*fine*tun*' or sku_meter ~ '*fine*tun*' or "
        "charge_description ~ '*training*' or sku_meter ~ '*training*')",
    ),
    (
        "generic/tokens",
        LLM_API,
        "sku_meter ~ '*tokens*' or sku_meter ~ '*token count*' or charge_description ~ '*input token*' or "
        "charge_description ~ '*output token*' or charge_description ~ '*cache*token*' or "
        "charge_description ~ '*token usage*' or charge_description ~ '* tokens*'",
    ),
    ("generic/llm-seller", LLM_API, _LLM_SELLER),
    ("generic/generative-ai", LLM_API, "service_subcategory = 'Generative AI'"),
    ("oci/monitoring", PLATFORM, "service in ('TELEMETRY', 'LOGGING', 'MONITORING', 'KMS', 'OKE')"),
    ("oci/registry", PLATFORM, "provider ~ '*Oracle*' and charge_description = 'Container Image Storage'"),
    (
        "oci/storage",
        STORAGE,
        "service in ('BLOCK_STORAGE', 'OBJECTSTORE', 'OBJECT_STORAGE', 'FILE_STORAGE', 'ARCHIVE_STORAGE')",
    ),
    ("oci/network", DATA_MOVEMENT, "provider ~ '*Oracle*' and service ~ 'NETWORK*'"),
    (
        "generic/data-movement",
        DATA_MOVEMENT,
        "sku_meter ~ '*egress*' or charge_description ~ '*egress*' or sku_meter ~ '*data transfer*' or "
        "charge_description ~ '*data transfer*'",
    ),
    ("generic/storage", STORAGE, "service_category = 'Storage'"),
    ("generic/networking", DATA_MOVEMENT, "service_category = 'Networking'"),
    (
        "generic/platform",
        PLATFORM,
        "service_category in ('Management and Governance', 'Security', 'Identity') or service ~ '*Kubernetes*' or "
        "charge_description ~ '*support plan*'",
    ),
)
