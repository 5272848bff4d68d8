"""Driver rules for Microsoft's bills: meter category (service), subcategory, meter and resource say what is paid for."""

from __future__ import annotations

from unitcost.facts.drivers import (
    DATA_MOVEMENT,
    LLM_API,
    PLATFORM,
    PREPROCESSING,
    SERVING,
    STORAGE,
    TRAINING,
)

_AZURE = "(provider ~ '*Microsoft*' or provider ~ '*Azure*')"
_OPENAI = (
    "(service ~ '*OpenAI*' or service_subcategory ~ '*OpenAI*' or sku_meter ~ '*OpenAI*' or "
    "charge_description ~ '*OpenAI*' or service ~ '*Foundry Models*')"
)
_COGNITIVE = "(service ~ '*Cognitive Services*' or service ~ 'Azure AI *' or service ~ 'AI Services')"

#: (name, driver, condition), in the order they are tried.
RULES: tuple[tuple[str, str, str], ...] = (
    (
        "azure/openai-fine-tuning",
        TRAINING,
        f"{_AZURE} and {_OPENAI} and (sku_meter ~ '*Training*' or charge_description ~ '*Training*')",
    ),
    ("azure/openai", LLM_API, f"{_AZURE} and {_OPENAI}"),
    (
        "azure/ml-serving",
        SERVING,
        "resource_type ~ '*/onlineEndpoints*' or resource_type ~ '*/batchEndpoints*' or "
        "resource_id ~ '*/onlineEndpoints/*' or resource_id ~ '*/batchEndpoints/*'",
    ),
    (
        "azure/ml-training",
        TRAINING,
        f"{_AZURE} and (service ~ '*Machine Learning*' or {_COGNITIVE}) and sku_meter ~ '*Training*'",
    ),
    ("azure/prediction-apis", SERVING, f"{_AZURE} and {_COGNITIVE} and not sku_meter ~ '*Token*'"),
    (
        "azure/data-movement",
        DATA_MOVEMENT,
        f"{_AZURE} and (service ~ 'Bandwidth*' or service ~ '*NAT Gateway*' or service ~ 'Virtual Network*' or "
        "service ~ '*ExpressRoute*' or service ~ '*VPN Gateway*' or service ~ '*Content Delivery*' or "
        "sku_meter ~ '*Data Transfer*' or charge_description ~ '*Data Transfer*')",
    ),
    (
        "azure/monitoring",
        PLATFORM,
        f"{_AZURE} and (service ~ '*Monitor*' or service ~ '*Log Analytics*' or service ~ '*Application Insights*' or "
        "service ~ '*Grafana*')",
    ),
    (
        "azure/security",
        PLATFORM,
        f"{_AZURE} and (service ~ '*Key Vault*' or service ~ '*Defender*' or charge_description ~ '*Defender*' or "
        "service ~ '*Sentinel*' or service ~ '*Advanced*Security*' or service ~ '*Threat Protection*')",
    ),
    (
        "azure/kubernetes-registry-dns",
        PLATFORM,
        f"{_AZURE} and (service ~ '*Kubernetes*' or service ~ '*Container Registry*' or service ~ '*DNS*' or "
        "service ~ '*Support*')",
    ),
    ("azure/data-factory", PREPROCESSING, f"{_AZURE} and service ~ '*Data Factory*'"),
    (
        "azure/storage",
        STORAGE,
        f"{_AZURE} and (service = 'Storage' or service ~ 'Storage Accounts' or service ~ '*NetApp*' or "
        "service = 'Backup' or service_subcategory ~ '*Managed Disks*' or sku_meter ~ '* Disk' or "
        "sku_meter ~ '* Disks' or sku_meter ~ '*Snapshot*')",
    ),
)
