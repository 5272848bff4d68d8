-- What was kept in stores during [$start, $end), by kind, run and owner. Of several listings that tell of one object in
-- one period, or of one object without a period, the newest load counts.
WITH latest AS (
    SELECT * FROM artifacts WHERE size_bytes > 0 AND resource_id IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY resource_id, artifact_id, period_start, period_end ORDER BY load_id DESC, row_number DESC
    ) = 1
),
lasting AS (
    SELECT resource_id, coalesce(kind, 'other') AS kind, coalesce(run, '') AS run, coalesce(owner, '') AS owner, size_bytes,
        epoch_us(least($end, coalesce(period_end, $end)))
            - epoch_us(greatest($start, coalesce(period_start, $start), coalesce(created_at, $start))) AS kept_us
    FROM latest
)
SELECT resource_id, kind, run, owner, sum(CAST(size_bytes AS HUGEINT) * kept_us)
FROM lasting WHERE kept_us > 0
GROUP BY ALL
ORDER BY ALL
