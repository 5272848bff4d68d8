"""Drivers: what the bill says, and nothing that it does not say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.attribution import decide, fingerprint
from unitcost.attribution.drivers import SHIPPED, FirstMatch
from unitcost.facts.charges import Facet
from unitcost.facts.rules import DriverRule, OwnerRules, Settings
from unitcost.facts.when import parse

AWS = {"service_provider_name": "AWS", "service_name": "AmazonSageMaker"}
EC2 = {"service_provider_name": "AWS", "service_name": "Amazon Elastic Compute Cloud"}
CLOUDWATCH = {"service_provider_name": "AWS", "service_name": "AmazonCloudWatch"}
S3 = {"service_provider_name": "AWS", "service_name": "AmazonS3"}
GCE = {"service_provider_name": "Google Cloud", "service_name": "Compute Engine"}
GCP = {"service_provider_name": "Google Cloud", "service_name": "Vertex AI"}
AZURE = {"service_provider_name": "Microsoft"}


def driver(values: dict[str, str], tags: dict[str, str] | None = None, settings: Settings | None = None):
    """Driver and rule of one facet."""
    [found] = decide([Facet(facet_id=1, values=values, tags=tags or {})], settings or Settings())
    return found.driver, found.driver_rule


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (AWS | {"usage_type": "USE1-Train:ml.p4d.24xlarge"}, ("training", "aws/sagemaker-training")),
        (AWS | {"usage_type": "USE1-Host:ml.g5.xlarge"}, ("serving", "aws/sagemaker-serving")),
        (AWS | {"resource_id": "arn:aws:sagemaker:eu-west-1:1:endpoint/kea"}, ("serving", "aws/sagemaker-endpoint")),
        (AWS | {"resource_id": "arn:aws:sagemaker:eu-west-1:1:endpoint-config/kea"}, ("unknown", "no rule matched")),
        (AWS | {"usage_type": "USE1-Notebk:ml.t3.medium"}, ("development", "aws/sagemaker-notebook")),
        (AWS | {"usage_type": "USE1-Notebk:VolumeUsage.gp2"}, ("storage", "aws/sagemaker-volumes")),
        (AWS | {"usage_type": "USE1-Processing:ml.m5.large"}, ("preprocessing", "aws/sagemaker-processing")),
        (AWS | {"usage_type": "USE1-Tsform:ml.m5.large"}, ("serving", "aws/sagemaker-batch-transform")),
        (AWS | {"usage_type": "USE1-Studio:KernelGateway-ml.t3"}, ("development", "aws/sagemaker-studio")),
        ({"service_provider_name": "AWS", "service_name": "Claude (Amazon Bedrock Edition)"}, ("LLM API", "aws/bedrock")),
        (EC2 | {"usage_type": "USW2-EBS:VolumeUsage.gp3"}, ("storage", "aws/volumes")),
        (EC2 | {"usage_type": "USW2-NatGateway-Bytes"}, ("data movement", "aws/data-movement")),
        (EC2 | {"usage_type": "USE1-EUC1-AWS-Out-Bytes"}, ("data movement", "aws/data-movement")),
        (EC2 | {"charge_description": "$0.090 per GB - data transfer out"}, ("data movement", "aws/data-movement-by-text")),
        (CLOUDWATCH | {"usage_type": "TimedStorage-ByteHrs"}, ("shared platform", "aws/monitoring")),
        (S3 | {"usage_type": "USW2-TimedStorage-ByteHrs"}, ("storage", "aws/storage")),
        (GCP | {"charge_description": "Vertex AI: Training/Pipelines on N1 in Americas"}, ("training", "gcp/vertex-training")),
        (GCP | {"charge_description": "Vertex AI: Online/Batch Prediction N1"}, ("serving", "gcp/vertex-serving")),
        (GCP | {"charge_description": "Gemini 2.5 Flash GA Text Input - Predictions"}, ("LLM API", "gcp/model-tokens")),
        (GCP | {"charge_description": "Claude Haiku Cache Read Tokens"}, ("LLM API", "gcp/model-tokens")),
        (GCE | {"charge_description": "Storage PD Capacity"}, ("storage", "gcp/storage")),
        (GCE | {"charge_description": "Network Inter Zone Egress"}, ("data movement", "gcp/data-movement")),
        (AZURE | {"service_name": "Cognitive Services", "service_subcategory": "Azure OpenAI"}, ("LLM API", "azure/openai")),
        (AZURE | {"service_name": "Azure OpenAI", "sku_meter": "gpt-4o ft Training"}, ("training", "azure/openai-fine-tuning")),
        (AZURE | {"service_name": "Virtual Machines", "resource_id": "/x/workspaces/w/onlineEndpoints/e"}, ("serving", "azure/ml-serving")),
        (AZURE | {"service_name": "Bandwidth", "sku_meter": "Standard Data Transfer Out"}, ("data movement", "azure/data-movement")),
        (AZURE | {"service_name": "Storage", "sku_meter": "P10 LRS Disk"}, ("storage", "azure/storage")),
        ({"service_provider_name": "Anthropic", "charge_description": "Web search"}, ("LLM API", "generic/llm-seller")),
        ({"charge_description": "Output tokens"}, ("LLM API", "generic/tokens")),
        ({"service_category": "Networking"}, ("data movement", "generic/networking")),
    ],
)  # fmt: skip
def test_shipped_rules(values: dict[str, str], expected: tuple[str, str]) -> None:
    assert driver(values) == expected


@pytest.mark.parametrize("name", ["train-llm-7", "serve-fraud", "notebook-1"])
def test_a_name_is_no_evidence(name: str) -> None:
    values = EC2 | {"usage_type": "BoxUsage:p5.48xlarge", "resource_id": name, "resource_name": name}
    assert driver(values) == ("unknown", "no rule matched")


def test_tags_say_what_a_machine_is_for() -> None:
    values = EC2 | {"usage_type": "BoxUsage:p5.48xlarge"}
    assert driver(values, {"user:ML-Stage": "Fine-Tuning"}) == ("training", "tag user:ML-Stage = Fine-Tuning")
    assert driver(values, {"user_workload": "serve"})[0] == "serving"
    assert driver(values, {"workload": "fraud", "kind": "notebook"})[0] == "development"
    assert driver(values, {"kind": "Deployment"})[0] == "unknown"


def test_an_environment_decides_last() -> None:
    assert driver(EC2 | {"usage_type": "BoxUsage:p5"}, {"env": "dev"})[0] == "development"
    assert driver(EC2 | {"usage_type": "EBS:VolumeUsage"}, {"env": "dev", "stage": "dev"})[0] == "storage"
    assert driver(EC2 | {"usage_type": "BoxUsage:p5"}, {"env": "prod"})[0] == "unknown"


def test_the_users_rule_comes_first_and_lines_keep_their_names() -> None:
    rule = DriverRule(when=parse("service ~ '*SageMaker*'"), driver="lab", name="mine")
    values = AWS | {"usage_type": "Host:ml.g5", "charge_category": "Tax"}
    assert driver(values) == ("tax", "line tax")
    assert driver(values, {"workload": "serve"}, Settings(drivers=(rule,))) == ("lab", "mine")


texts = st.sampled_from(["", "a", "Host:ml.x", "AmazonS3", "AWS", "/onlineEndpoints/x", "Data Transfer", "Storage"])
columns = sorted({c for rule in SHIPPED for c in rule.when.columns})


@given(st.lists(st.dictionaries(st.sampled_from(columns), texts, max_size=5), max_size=12))
def test_remembering_changes_no_answer(rows: list[dict[str, str]]) -> None:
    finder = FirstMatch(SHIPPED)
    for i, values in enumerate(rows):
        facet = Facet(facet_id=i, values=values, tags={})
        assert finder.find(facet) == next((rule for rule in SHIPPED if rule.when(facet)), None)


def test_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in SHIPPED}) == len(SHIPPED)


def test_the_fingerprint_follows_what_matters() -> None:
    plain = fingerprint(Settings())
    rule = DriverRule(when=parse("service = 'x'"), driver="lab", name="mine")
    assert plain == fingerprint(Settings(currency="EUR", cost="billed"))
    marks = {
        plain,
        fingerprint(Settings(drivers=(rule,))),
        fingerprint(Settings(owners={"team": OwnerRules(kind="team", sources=("tags.x",))})),
        fingerprint(Settings(owners={"team": OwnerRules(kind="team", sources=(), lineage={"a": "b"})})),
    }
    assert len(marks) == 4
