-- Charges behind each of many sums, the largest part first; `row_sums` holds the number, currency and keys of each sum.
SELECT
    w.number, coalesce(l.file, ''), placed.row_number, placed.billing_currency, coalesce(placed.{cost}, 0), coalesce(placed.amount, 0),
    coalesce(placed.service_name, ''), coalesce(placed.resource_id, ''),
    strftime(placed.charge_period_start, '%Y-%m-%dT%H:%M:%SZ'), strftime(placed.charge_period_end, '%Y-%m-%dT%H:%M:%SZ'),
    coalesce(placed.charge_description, '')
FROM (SELECT *{keys} FROM ({placed}) placed WHERE {where}) placed
JOIN row_sums w ON {on} LEFT JOIN loads l USING (load_id)
QUALIFY row_number() OVER (
    PARTITION BY w.number ORDER BY abs(coalesce(placed.amount, 0)) DESC, l.file, placed.row_number, placed.bucket
) <= {limit}
ORDER BY w.number, abs(coalesce(placed.amount, 0)) DESC, l.file, placed.row_number, placed.bucket
