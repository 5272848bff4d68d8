-- Charges behind a sum, the largest part first.
SELECT
    coalesce(l.file, ''), placed.row_number, placed.billing_currency, coalesce(placed.{cost}, 0), coalesce(placed.amount, 0),
    coalesce(placed.service_name, ''), coalesce(placed.resource_id, ''),
    strftime(placed.charge_period_start, '%Y-%m-%dT%H:%M:%SZ'), strftime(placed.charge_period_end, '%Y-%m-%dT%H:%M:%SZ'),
    coalesce(placed.charge_description, '')
FROM ({placed}) placed LEFT JOIN loads l USING (load_id)
WHERE {where} AND placed.billing_currency = ?
ORDER BY abs(coalesce(placed.amount, 0)) DESC, l.file, placed.row_number, placed.bucket
LIMIT ?
