-- Useful units per service and day; parts from several files add up.
SELECT service, CAST(period_start AS DATE), unit, sum(quantity),
    CASE WHEN count(attempts) = count(*) THEN sum(attempts) END
FROM outputs
WHERE (CAST(? AS DATE) IS NULL OR period_start >= CAST(? AS DATE)) AND (CAST(? AS DATE) IS NULL OR period_start < CAST(? AS DATE))
GROUP BY ALL
ORDER BY ALL
