"""What the money is for: the user's rules, then tags, then the shipped rules; the first match wins.

A rule only ever states what the bill itself says. An accelerator machine without a tag is not guessed to be
training or serving: it stays unknown, and the report says what that could change.
"""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.charges import Facet
from unitcost.facts.rules import UNKNOWN_DRIVER, DriverRule
from unitcost.facts.when import parse

TRAINING, SERVING, DEVELOPMENT = "training", "serving", "development"
EVALUATION, PREPROCESSING, STORAGE = "evaluation", "preprocessing", "storage"
DATA_MOVEMENT, LLM_API, PLATFORM = "data movement", "LLM API", "shared platform"

#: Tag keys that say what a resource is for, compared without case, `-`, `_`, `:` and spaces.
STAGE_KEYS = (
    "driver", "mlstage", "mlpurpose", "stage", "mlopsstage", "workloadtype", "workloadkind", "workload", "purpose", "kind",
)  # fmt: skip
#: What their values mean.
STAGE_VALUES = {
    "train": TRAINING, "training": TRAINING, "finetune": TRAINING, "finetuning": TRAINING, "pretraining": TRAINING,
    "sweep": TRAINING, "tuning": TRAINING, "hpo": TRAINING,
    "serve": SERVING, "serving": SERVING, "inference": SERVING, "endpoint": SERVING, "deployment": SERVING,
    "batchinference": SERVING, "prediction": SERVING,
    "notebook": DEVELOPMENT, "notebooks": DEVELOPMENT, "dev": DEVELOPMENT, "development": DEVELOPMENT,
    "workbench": DEVELOPMENT, "research": DEVELOPMENT,
    "eval": EVALUATION, "evaluation": EVALUATION, "benchmark": EVALUATION,
    "preprocess": PREPROCESSING, "preprocessing": PREPROCESSING, "etl": PREPROCESSING, "dataprep": PREPROCESSING,
    "featureengineering": PREPROCESSING, "processing": PREPROCESSING,
    "storage": STORAGE, "datamovement": DATA_MOVEMENT, "llmapi": LLM_API, "sharedplatform": PLATFORM,
    "platform": PLATFORM, "monitoring": PLATFORM,
}  # fmt: skip

_AWS = (
    ("aws/sagemaker-training", "usage_type ~ '*Train:ml.*' or usage_type ~ '*SpotTrain:ml.*'", TRAINING),
    ("aws/sagemaker-training-cluster", "usage_type ~ '*Cluster:ml.*' or usage_type ~ '*TrainingPlan*'", TRAINING),
    ("aws/sagemaker-serving", "usage_type ~ '*Host:ml.*' or usage_type ~ '*AsyncInf:ml.*' or usage_type ~ '*Serverless*Inf*'", SERVING),
    ("aws/sagemaker-batch-transform", "usage_type ~ '*Tsform:ml.*'", SERVING),
    ("aws/sagemaker-notebook", "usage_type ~ '*Notebk:*' or usage_type ~ '*Studio:*' or usage_type ~ '*Studio*JupyterLab*'", DEVELOPMENT),
    ("aws/sagemaker-processing", "usage_type ~ '*Processing:ml.*' or usage_type ~ '*DataWrangler*'", PREPROCESSING),
    ("aws/sagemaker-storage", "usage_type ~ '*VolumeUsage.gp*' and service ~ '*SageMaker*'", STORAGE),
    ("aws/bedrock", "service ~ '*Bedrock*'", LLM_API),
    ("aws/nat-gateway", "usage_type ~ '*NatGateway*'", DATA_MOVEMENT),
    (
        "aws/data-transfer",
        "usage_type ~ '*DataTransfer*' or usage_type ~ '*-AWS-Out-Bytes*' or usage_type ~ '*-AWS-In-Bytes*' or "
        "usage_type ~ '*Out-Bytes*' or usage_type ~ '*In-Bytes*' or usage_type ~ '*VpcEndpoint*'",
        DATA_MOVEMENT,
    ),
    (
        "aws/storage",
        "usage_type ~ '*TimedStorage*' or usage_type ~ '*EBS:*' or usage_type ~ '*StorageUsage*' or "
        "service ~ '*Simple Storage Service*' or service = 'AmazonS3' or service ~ '*Elastic File System*' or service ~ '*FSx*'",
        STORAGE,
    ),
    ("aws/glue-emr", "service ~ '*Glue*' or service ~ '*MapReduce*' or service ~ '*Athena*'", PREPROCESSING),
    (
        "aws/platform",
        "service ~ '*CloudWatch*' or service ~ '*CloudTrail*' or service ~ '*GuardDuty*' or service ~ '*Key Management*' or "
        "service ~ '*Support*' or service ~ '*Config*' or service ~ '*Route 53*' or service ~ '*Container Registry*' or "
        "service ~ '*Elastic Kubernetes*' or service ~ '*Load Balancing*' or usage_type ~ '*LoadBalancer*' or "
        "usage_type ~ '*LCUUsage*' or service ~ '*Secrets Manager*'",
        PLATFORM,
    ),
)  # fmt: skip
_GCP = (
    ("gcp/vertex-tokens", "service ~ '*Vertex*' and charge_description ~ '*Token*'", LLM_API),
    ("gcp/gemini", "service ~ '*Gemini*' or service ~ '*Generative Language*'", LLM_API),
    ("gcp/vertex-training", "service ~ '*Vertex*' and charge_description ~ '*Training*'", TRAINING),
    ("gcp/vertex-serving", "service ~ '*Vertex*' and (charge_description ~ '*Prediction*' or charge_description ~ '*Online*')", SERVING),
    ("gcp/workbench", "charge_description ~ '*Workbench*' or charge_description ~ '*Notebook*' or charge_description ~ '*Colab*'", DEVELOPMENT),
    ("gcp/vertex-pipelines", "service ~ '*Vertex*' and charge_description ~ '*Pipeline*'", PREPROCESSING),
    ("gcp/dataflow", "service ~ '*Dataflow*' or service ~ '*Dataproc*' or service = 'BigQuery'", PREPROCESSING),
    (
        "gcp/data-movement",
        "charge_description ~ '*Egress*' or charge_description ~ '*Data Transfer*' or charge_description ~ '*Cloud NAT*' or service ~ '*Networking*'",
        DATA_MOVEMENT,
    ),
    (
        "gcp/storage",
        "service = 'Cloud Storage' or charge_description ~ '*Storage PD*' or charge_description ~ '*PD Capacity*' or "
        "charge_description ~ '*Snapshot*' or service ~ '*Filestore*'",
        STORAGE,
    ),
    ("gcp/platform", "service ~ '*Logging*' or service ~ '*Monitoring*' or service ~ '*Kubernetes Engine*' or service ~ '*Artifact Registry*'", PLATFORM),
)  # fmt: skip
_AZURE = (
    ("azure/openai", "service ~ '*OpenAI*' or sku_meter ~ '*OpenAI*' or charge_description ~ '*OpenAI*' or service ~ '*Foundry Models*'", LLM_API),
    ("azure/ml-training", "resource_type ~ '*machinelearning*' and sku_meter ~ '*Training*'", TRAINING),
    ("azure/ml-serving", "resource_id ~ '*/onlineEndpoints/*' or resource_id ~ '*/batchEndpoints/*'", SERVING),
    ("azure/data-movement", "service ~ 'Bandwidth*' or service ~ '*NAT Gateway*' or service ~ '*Virtual Network*' or sku_meter ~ '*Data Transfer*'", DATA_MOVEMENT),
    ("azure/storage", "service = 'Storage' or service ~ '*Storage*' or sku_meter ~ '*Disk*' or sku_meter ~ '*Snapshot*'", STORAGE),
    ("azure/data-factory", "service ~ '*Data Factory*' or service ~ '*Databricks*' or service ~ '*Synapse*'", PREPROCESSING),
    ("azure/platform", "service ~ '*Monitor*' or service ~ '*Log Analytics*' or service ~ '*Key Vault*' or service ~ '*Load Balancer*' or service ~ '*Container Registry*' or service ~ '*Advanced Threat*' or service ~ '*Defender*' or service ~ '*DNS*'", PLATFORM),
)  # fmt: skip
_GENERIC = (
    ("generic/tokens", "sku_meter ~ '*token*' or charge_description ~ '* tokens*' or charge_description ~ '*token usage*'", LLM_API),
    ("generic/storage", "service_category = 'Storage'", STORAGE),
    ("generic/network", "service_category = 'Networking'", DATA_MOVEMENT),
    ("generic/egress", "sku_meter ~ '*egress*' or charge_description ~ '*egress*' or charge_description ~ '*data transfer*'", DATA_MOVEMENT),
    ("generic/management", "service_category = 'Management and Governance' or service_category = 'Security' or service_category = 'Identity'", PLATFORM),
    ("generic/generative-ai", "service_subcategory = 'Generative AI'", LLM_API),
)  # fmt: skip

#: Rules that ship with unitcost, in the order they are tried.
SHIPPED: tuple[DriverRule, ...] = tuple(
    DriverRule(when=parse(when, where=name), driver=driver, name=name)
    for name, when, driver in (*_AWS, *_GCP, *_AZURE, *_GENERIC)
)


def fold(text: str) -> str:
    """Tag key or value without case, prefix of a provider, and separators."""
    lowered = text.strip().casefold()
    for prefix in ("user:", "aws:", "label:"):
        lowered = lowered.removeprefix(prefix)
    return "".join(sign for sign in lowered if sign.isalnum())


def driver_of(facet: Facet, rules: Sequence[DriverRule]) -> tuple[str, str]:
    """Driver of a facet and the name of the rule that said so.

    Parameters
    ----------
    facet
        What the charges have in common.
    rules
        The user's rules; they come before everything shipped.
    """
    for rule in rules:
        if rule.when(facet):
            return rule.driver, rule.name
    by_tag = _driver_of_tags(facet)
    if by_tag:
        return by_tag
    for rule in SHIPPED:
        if rule.when(facet):
            return rule.driver, rule.name
    return UNKNOWN_DRIVER, "no rule matched"


def _driver_of_tags(facet: Facet) -> tuple[str, str] | None:
    folded = {fold(key): (key, value) for key, value in sorted(facet.tags.items())}
    for stage_key in STAGE_KEYS:
        key, value = folded.get(stage_key, ("", ""))
        driver = STAGE_VALUES.get(fold(value))
        if driver:
            return driver, f"tag {key}"
    return None
