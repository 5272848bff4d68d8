-- Sum of one cost by dimensions in which the charges of a facet agree. {placed} yields sums of charges per facet.
SELECT
    {keys}
    billing_currency AS currency,
    rate_since,
    coalesce(sum(amount), 0) AS amount,
    CAST(sum(row_count) AS BIGINT) AS row_count,
    CAST(sum(unknown_rows) AS BIGINT) AS unknown_rows
FROM ({placed}) placed
WHERE {where}
GROUP BY ALL
ORDER BY ALL NULLS FIRST
