"""Headers of Azure usage files in other languages, as English names.

Covered are the columns that a charge needs (day, cost, currency, subscription, resource, meter, quantity, tags)
in German, French, Spanish, Japanese and Chinese; a column that is not listed is kept under its own name.
"""

from __future__ import annotations

#: Localised header, lower case -> English name.
LOCALISED: dict[str, str] = {
    # German
    "datum": "Date", "kosten": "Cost", "währung": "Currency", "abonnement-id": "SubscriptionId",
    "abonnementname": "SubscriptionName", "ressourcen-id": "ResourceId", "ressourcengruppe": "ResourceGroup",
    "ressourcenstandort": "ResourceLocation", "verbrauchskategorie": "MeterCategory", "name der verbrauchseinheit": "MeterName",
    "menge": "Quantity", "markierungen": "Tags", "abrechnungswährung": "BillingCurrency", "verbrauchter dienst": "ConsumedService",
    # French
    "coût": "Cost", "devise": "Currency", "id d'abonnement": "SubscriptionId", "nom de l'abonnement": "SubscriptionName",
    "id de ressource": "ResourceId", "groupe de ressources": "ResourceGroup", "emplacement de la ressource": "ResourceLocation",
    "catégorie du compteur": "MeterCategory", "nom du compteur": "MeterName", "quantité": "Quantity", "balises": "Tags",
    "service consommé": "ConsumedService",
    # Spanish
    "fecha": "Date", "costo": "Cost", "coste": "Cost", "moneda": "Currency", "id. de suscripción": "SubscriptionId",
    "nombre de la suscripción": "SubscriptionName", "id. de recurso": "ResourceId", "grupo de recursos": "ResourceGroup",
    "ubicación del recurso": "ResourceLocation", "categoría del medidor": "MeterCategory", "nombre del medidor": "MeterName",
    "cantidad": "Quantity", "etiquetas": "Tags", "servicio consumido": "ConsumedService",
    # Japanese
    "日付": "Date", "コスト": "Cost", "通貨": "Currency", "サブスクリプション id": "SubscriptionId",
    "サブスクリプション名": "SubscriptionName", "リソース id": "ResourceId", "リソース グループ": "ResourceGroup",
    "リソースの場所": "ResourceLocation", "測定カテゴリ": "MeterCategory", "測定名": "MeterName", "数量": "Quantity", "タグ": "Tags",
    "使用されたサービス": "ConsumedService",
    # Chinese
    "日期": "Date", "成本": "Cost", "货币": "Currency", "订阅 id": "SubscriptionId", "订阅名称": "SubscriptionName",
    "资源 id": "ResourceId", "资源组": "ResourceGroup", "资源位置": "ResourceLocation", "计量类别": "MeterCategory",
    "计量名称": "MeterName", "数量(计量)": "Quantity", "标记": "Tags", "使用的服务": "ConsumedService",
}  # fmt: skip
