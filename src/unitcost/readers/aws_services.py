"""Which kind of service an AWS product is: FOCUS service category by product code, else by name."""

from __future__ import annotations

#: Service category -> product codes (`lineItem/ProductCode`).
CODES: dict[str, tuple[str, ...]] = {
    "AI and Machine Learning": (
        "AmazonSageMaker", "AmazonBedrock", "AmazonBedrockService", "AmazonBedrockFoundationModels", "comprehend",
        "AmazonRekognition", "AmazonTextract", "transcribe", "translate", "AmazonPolly", "AmazonLex", "AmazonKendra",
        "AmazonPersonalize", "AmazonForecast", "AmazonQ", "MachineLearningSavingsPlans",
    ),
    "Analytics": (
        "AmazonRedshift", "AmazonAthena", "AWSGlue", "ElasticMapReduce", "AmazonKinesis", "AmazonKinesisFirehose",
        "AmazonKinesisAnalytics", "AmazonES", "AmazonQuickSight", "AWSLakeFormation", "AmazonMSK",
    ),
    "Compute": (
        "AmazonEC2", "AWSLambda", "AmazonECS", "AmazonEKS", "AmazonLightsail", "AWSElasticBeanstalk", "AWSAppRunner",
        "AmazonECR", "AmazonECRPublic", "AWSOutposts", "ComputeSavingsPlans",
    ),
    "Databases": (
        "AmazonRDS", "AmazonDynamoDB", "AmazonElastiCache", "AmazonDocDB", "AmazonNeptune", "AmazonMemoryDB",
        "AmazonTimestream", "AmazonMCS", "AWSDatabaseMigrationSvc",
    ),
    "Developer Tools": ("AWSCodePipeline", "CodeBuild", "AWSCodeCommit", "AWSCodeArtifact", "AWSXRay"),
    "Identity": ("AmazonCognito", "AWSDirectoryService"),
    "Integration": (
        "AmazonSNS", "AWSQueueService", "AmazonMQ", "AWSEvents", "AmazonStates", "AmazonApiGateway", "AWSAppSync",
        "AmazonMWAA",
    ),
    "Management and Governance": (
        "AmazonCloudWatch", "AWSCloudTrail", "AWSConfig", "AWSSystemsManager", "AWSServiceCatalog", "AWSCostExplorer",
        "AWSSupportBusiness", "AWSSupportEnterprise", "AWSDeveloperSupport", "AmazonGrafana", "AmazonPrometheus",
    ),
    "Networking": (
        "AmazonCloudFront", "AmazonVPC", "AWSELB", "AmazonRoute53", "AWSDirectConnect", "AWSDataTransfer",
        "AWSGlobalAccelerator", "AWSNetworkFirewall",
    ),
    "Security": (
        "awskms", "AmazonGuardDuty", "awswaf", "AWSSecretsManager", "AmazonInspectorV2", "AmazonMacie",
        "AWSSecurityHub", "AWSShield", "AWSCertificateManager",
    ),
    "Storage": (
        "AmazonS3", "AmazonEFS", "AmazonFSx", "AmazonGlacier", "AmazonS3GlacierDeepArchive", "AWSBackup",
        "AWSStorageGateway", "AWSDataSync",
    ),
}  # fmt: skip

#: Service category -> part of the product name, for products whose codes are made up: models of Bedrock and the like.
NAMES: dict[str, tuple[str, ...]] = {"AI and Machine Learning": ("*Bedrock*", "*SageMaker*")}
