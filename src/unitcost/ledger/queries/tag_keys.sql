-- Sets of tag keys that stand on the selected charges together.
SELECT DISTINCT map_keys(tags) AS keys
FROM facets
WHERE cardinality(tags) > 0 AND facet_id IN (
    SELECT facet_id FROM ({placed}) placed WHERE {where} AND (? = '' OR billing_currency = ?)
)
ORDER BY keys
