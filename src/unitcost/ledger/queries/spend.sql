-- Sum of one cost by dimensions. {placed} yields the selected charges with `amount`, the part that counts.
SELECT
    {keys}
    billing_currency AS currency,
    {rate_since} AS rate_since,
    coalesce(sum(amount), 0) AS amount,
    count(*) AS row_count,
    count(*) FILTER (WHERE amount IS NULL) AS unknown_rows
FROM ({placed}) placed
WHERE {where}
GROUP BY ALL
ORDER BY ALL NULLS FIRST
