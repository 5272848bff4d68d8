-- What the charges of each meter add up to. Taxes and purchases count nothing.
SELECT coalesce(sku_meter, ''), coalesce(usage_type, ''), coalesce(charge_description, ''), coalesce(service_name, ''),
    coalesce(service_provider_name, ''), coalesce(consumed_unit, ''), sum(consumed_quantity), coalesce(pricing_unit, ''),
    sum(pricing_quantity), coalesce(billing_currency, ''), sum(billed_cost), sum(effective_cost)
FROM charges
WHERE coalesce(charge_category, 'Usage') = 'Usage' AND ({range})
GROUP BY ALL ORDER BY ALL
