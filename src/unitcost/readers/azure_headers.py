"""Names of the columns of Azure cost files: across versions of the export, and in other languages."""

from __future__ import annotations

import re

#: What a column means -> its names, the best first. Letter case does not matter.
NAMES: dict[str, tuple[str, ...]] = {
    "cost": ("CostInBillingCurrency", "Cost", "PreTaxCost", "ExtendedCost"),
    "list cost": ("PaygCostInBillingCurrency",),
    "currency": ("BillingCurrency", "BillingCurrencyCode", "Currency"),
    "date": ("Date", "UsageDateTime", "UsageDate"),
    "period start": ("BillingPeriodStartDate", "BillingPeriodStart"),
    "period end": ("BillingPeriodEndDate", "BillingPeriodEnd"),
    "invoice": ("InvoiceId",),
    "account": ("BillingAccountId", "BillingProfileId"),
    "account name": ("BillingAccountName", "BillingProfileName"),
    "subscription": ("SubscriptionId", "SubscriptionGuid"),
    "subscription name": ("SubscriptionName",),
    "resource": ("ResourceId", "InstanceId", "InstanceName"),
    "resource name": ("ResourceName",),
    "resource type": ("ResourceType",),
    "resource group": ("ResourceGroup", "ResourceGroupName"),
    "location": ("ResourceLocation", "Location", "MeterRegion"),
    "zone": ("AvailabilityZone",),
    "consumed service": ("ConsumedService",),
    "family": ("ServiceFamily",),
    "meter category": ("MeterCategory",),
    "meter subcategory": ("MeterSubCategory",),
    "meter": ("MeterName", "Meter"),
    "meter id": ("MeterId",),
    "service name": ("ServiceName",),
    "product": ("ProductName", "Product"),
    "part": ("PartNumber",),
    "quantity": ("Quantity", "UsageQuantity", "ConsumedQuantity"),
    "unit": ("UnitOfMeasure",),
    "contracted price": ("UnitPrice", "ResourceRate"),
    "list price": ("PayGPrice",),
    "pricing currency": ("PricingCurrency", "PricingCurrencyCode"),
    "charge type": ("ChargeType",),
    "pricing model": ("PricingModel",),
    "frequency": ("Frequency",),
    "benefit": ("BenefitId", "ReservationId"),
    "benefit name": ("BenefitName", "ReservationName"),
    "publisher type": ("PublisherType",),
    "publisher": ("PublisherName",),
    "tags": ("Tags",),
}

#: Main columns in other languages (German, French, Spanish, Japanese, Chinese), case folded -> English name.
TRANSLATED: dict[str, str] = {
    # German
    "datum": "Date", "kosten": "Cost", "währung": "Currency", "abrechnungswährung": "BillingCurrency",
    "kosten in abrechnungswährung": "CostInBillingCurrency", "abonnement-id": "SubscriptionId",
    "abonnement-guid": "SubscriptionId", "name des abonnements": "SubscriptionName",
    "abonnementname": "SubscriptionName", "ressourcen-id": "ResourceId", "instanz-id": "InstanceId",
    "ressourcengruppe": "ResourceGroup",
    "ressourcenstandort": "ResourceLocation", "kategorie der verbrauchseinheit": "MeterCategory",
    "unterkategorie der verbrauchseinheit": "MeterSubCategory", "name der verbrauchseinheit": "MeterName",
    "id der verbrauchseinheit": "MeterId", "genutzter dienst": "ConsumedService", "menge": "Quantity",
    "verbrauchte menge": "Quantity", "masseinheit": "UnitOfMeasure", "markierungen": "Tags",
    # French
    "coût": "Cost", "devise": "Currency", "devise de facturation": "BillingCurrency",
    "coût dans la devise de facturation": "CostInBillingCurrency", "id d'abonnement": "SubscriptionId",
    "guid d'abonnement": "SubscriptionId", "nom de l'abonnement": "SubscriptionName", "id de ressource": "ResourceId",
    "id d'instance": "InstanceId", "groupe de ressources": "ResourceGroup",
    "emplacement de la ressource": "ResourceLocation", "catégorie du compteur": "MeterCategory",
    "sous-catégorie du compteur": "MeterSubCategory", "nom du compteur": "MeterName", "id du compteur": "MeterId",
    "service consommé": "ConsumedService", "quantité": "Quantity", "quantité consommée": "Quantity",
    "unité de mesure": "UnitOfMeasure", "balises": "Tags", "étiquettes": "Tags",
    # Spanish
    "fecha": "Date", "costo": "Cost", "coste": "Cost", "moneda": "Currency", "moneda de facturación": "BillingCurrency",
    "costo en la moneda de facturación": "CostInBillingCurrency", "id. de suscripción": "SubscriptionId",
    "guid de suscripción": "SubscriptionId", "nombre de la suscripción": "SubscriptionName",
    "id. de recurso": "ResourceId", "id. de instancia": "InstanceId", "grupo de recursos": "ResourceGroup",
    "ubicación del recurso": "ResourceLocation", "categoría del medidor": "MeterCategory",
    "subcategoría del medidor": "MeterSubCategory", "nombre del medidor": "MeterName", "id. de medidor": "MeterId",
    "servicio consumido": "ConsumedService", "cantidad": "Quantity", "cantidad consumida": "Quantity",
    "unidad de medida": "UnitOfMeasure", "etiquetas": "Tags",
    # Japanese
    "日付": "Date", "コスト": "Cost", "通貨": "Currency", "請求通貨": "BillingCurrency",
    "請求通貨でのコスト": "CostInBillingCurrency", "サブスクリプション id": "SubscriptionId",
    "サブスクリプション guid": "SubscriptionId", "サブスクリプション名": "SubscriptionName",
    "リソース id": "ResourceId", "インスタンス id": "InstanceId",
    "リソース グループ": "ResourceGroup", "リソースの場所": "ResourceLocation",
    "測定カテゴリ": "MeterCategory", "測定サブカテゴリ": "MeterSubCategory", "測定名": "MeterName",
    "測定 id": "MeterId",
    "消費されたサービス": "ConsumedService", "数量": "Quantity", "消費量": "Quantity", "測定単位": "UnitOfMeasure",
    "タグ": "Tags",
    # Chinese; the word for Quantity is the Japanese one
    "日期": "Date", "成本": "Cost", "货币": "Currency", "计费货币": "BillingCurrency",
    "以计费货币表示的成本": "CostInBillingCurrency", "订阅 id": "SubscriptionId", "订阅 guid": "SubscriptionId",
    "订阅名称": "SubscriptionName", "资源 id": "ResourceId", "实例 id": "InstanceId", "资源组": "ResourceGroup",
    "资源位置": "ResourceLocation", "计量类别": "MeterCategory", "计量子类别": "MeterSubCategory",
    "计量名称": "MeterName", "计量 id": "MeterId", "使用的服务": "ConsumedService",
    "度量单位": "UnitOfMeasure", "标记": "Tags",
}  # fmt: skip

_KNOWN = frozenset(name.casefold() for names in NAMES.values() for name in names)
_BOTH = re.compile(r".*\(\s*([A-Za-z]+)\s*\)\s*")


def english(header: str) -> str:
    """English name of a column in lower case, without blanks.

    `Meter Category` and `meterCategory` are `metercategory`. Where a localised file puts the English name in brackets
    behind its own, `Kategorie (MeterCategory)`, in whatever language, the English one counts.
    """
    plain = header.strip().casefold()
    bare = plain.replace(" ", "").replace("_", "")
    if bare in _KNOWN:
        return bare
    both = _BOTH.fullmatch(plain)
    if both and both[1] in _KNOWN:
        return both[1]
    return TRANSLATED.get(plain.replace("’", "'"), bare).casefold()


def is_localised(header: str) -> bool:
    """Whether a column that is known is not written in English alone."""
    name = english(header)
    return name in _KNOWN and name != header.strip().casefold().replace(" ", "").replace("_", "")
