-- What charges of resources say of the machine: who sells it, where, in which pricing category, and texts that name its type.
SELECT resource_id, coalesce(service_provider_name, invoice_issuer_name, ''), coalesce(region_id, ''), coalesce(pricing_category, ''),
    concat_ws(' ', usage_type, sku_meter, sku_id, resource_type, charge_description)
FROM charges
WHERE resource_id IN (SELECT unnest($resources::VARCHAR[])) AND coalesce(charge_category, 'Usage') = 'Usage'
GROUP BY ALL ORDER BY ALL
