"""Driver rules for Amazon's bills: usage types say most, service names the rest."""

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

_AWS = "(provider ~ 'AWS*' or provider ~ '*Amazon*')"

#: (name, driver, condition), in the order they are tried. Traffic and disks come before the service that makes them.
RULES: tuple[tuple[str, str, str], ...] = (
    (
        "aws/sagemaker-volumes",
        STORAGE,
        "usage_type ~ '*VolumeUsage*' and not usage_type ~ '*EBS:*' or usage_type ~ '*FeatureStore*Storage*'",
    ),
    ("aws/sagemaker-traffic", DATA_MOVEMENT, "usage_type ~ '*Hst:Data-Bytes*' or usage_type ~ '*Tsform:Data-Bytes*'"),
    ("aws/sagemaker-training", TRAINING, "usage_type ~ '*Train*:ml.*' or usage_type ~ '*TrainingPlan*'"),
    ("aws/sagemaker-serving", SERVING, "usage_type ~ '*Host:*' or usage_type ~ '*ServerlessInf*'"),
    ("aws/sagemaker-endpoint", SERVING, "resource_id ~ 'arn:aws*:sagemaker:*:endpoint/*'"),
    ("aws/sagemaker-batch-transform", SERVING, "usage_type ~ '*Tsform:*'"),
    ("aws/sagemaker-notebook", DEVELOPMENT, "usage_type ~ '*Notebk:*'"),
    (
        "aws/sagemaker-studio",
        DEVELOPMENT,
        "usage_type ~ '*Studio:*' or usage_type ~ '*Studio_*' or usage_type ~ '*RStudio*' or usage_type ~ '*Canvas:*'",
    ),
    ("aws/sagemaker-processing", PREPROCESSING, "usage_type ~ '*Processing*:ml.*' or usage_type ~ '*DataWrangler*'"),
    ("aws/sagemaker-labelling", PREPROCESSING, "usage_type ~ '*GroundTruth*' or usage_type ~ '*LabeledObject*'"),
    ("aws/bedrock-customization", TRAINING, "service ~ '*Bedrock*' and usage_type ~ '*Customization*'"),
    ("aws/bedrock", LLM_API, "service ~ '*Bedrock*' or usage_type ~ '*TokenCount*'"),
    (
        "aws/data-movement",
        DATA_MOVEMENT,
        "usage_type ~ '*NatGateway*' or usage_type ~ '*DataTransfer*' or usage_type ~ '*-In-Bytes*' or "
        "usage_type ~ '*-Out-Bytes*' or usage_type ~ '*VpcEndpoint*' or usage_type ~ '*TransitGateway*' or "
        "usage_type ~ '*VpcPeering*'",
    ),
    (
        "aws/data-movement-by-text",
        DATA_MOVEMENT,
        f"{_AWS} and (charge_description ~ '*data transfer*' or charge_description ~ '*NAT Gateway*')",
    ),
    (
        "aws/prediction-apis",
        SERVING,
        f"{_AWS} and (service ~ '*Comprehend*' or service ~ '*Rekognition*' or service ~ '*Textract*' or "
        "service ~ '*Transcribe*' or service ~ '*Translate*' or service ~ '*Polly*')",
    ),
    (
        "aws/monitoring",
        PLATFORM,
        f"{_AWS} and (service ~ '*CloudWatch*' or service ~ '*CloudTrail*' or service ~ '*X-Ray*' or "
        "service ~ '*Prometheus*' or service ~ '*Grafana*' or service in ('AWS Config', 'AWSConfig') or "
        "service ~ '*Systems*Manager*')",
    ),
    (
        "aws/security",
        PLATFORM,
        f"{_AWS} and (service ~ '*GuardDuty*' or service ~ '*Key Management*' or service = 'awskms' or "
        "service ~ '*Secrets*Manager*' or service ~ '*Security*Hub*' or service ~ '*Inspector*' or "
        "service ~ '*Macie*' or service in ('AWS WAF', 'awswaf') or service ~ '*Certificate*Manager*')",
    ),
    (
        "aws/kubernetes",
        PLATFORM,
        "usage_type ~ '*AmazonEKS*' or service in ('AmazonEKS', 'Amazon Elastic Kubernetes Service', "
        "'Amazon Elastic Container Service for Kubernetes')",
    ),
    (
        "aws/registry",
        PLATFORM,
        f"{_AWS} and (service ~ '*ECR*' or service ~ '*Container Registry*' or service ~ '*Route*53*')",
    ),
    ("aws/support", PLATFORM, f"{_AWS} and (service ~ 'AWS*Support*' or service ~ 'Premium Support')"),
    ("aws/glue-emr", PREPROCESSING, f"{_AWS} and (service ~ '*Glue*' or service ~ '*Elastic*MapReduce*')"),
    (
        "aws/volumes",
        STORAGE,
        "usage_type ~ '*EBS:*' or "
        f"{_AWS} and (charge_description ~ '*provisioned storage*' or charge_description ~ '*snapshot data stored*' or "
        "charge_description ~ '*provisioned IOPS*' or charge_description ~ '*provisioned MiBps*')",
    ),
    (
        "aws/storage",
        STORAGE,
        f"{_AWS} and (usage_type ~ '*TimedStorage*' or service ~ '*Simple*Storage*' or service ~ 'AmazonS3*' or "
        "service ~ '*Elastic*File*System*' or service ~ '*EFS*' or service ~ '*FSx*' or service ~ '*Glacier*' or "
        "service ~ 'AWS*Backup*')",
    ),
)
