-- Steps that runs tell of themselves, life by life, whatever held the accelerators for them. Of several loads that tell of the
-- same life the one counts that knows its end, else the later end.
SELECT source || ':' || workload_id AS workload, coalesce(attempt, 1) AS attempt, coalesce(status, 'unknown') AS status,
    coalesce(accelerator, '') AS accelerator, coalesce(pricing_category, '') AS pricing_category, coalesce(quantity, 0) AS quantity,
    started_at, ended_at, startup_s, start_step, end_step, kept_step
FROM held
WHERE end_step IS NOT NULL AND started_at IS NOT NULL AND source || ':' || workload_id IN (SELECT unnest($workloads::VARCHAR[]))
QUALIFY row_number() OVER (
    PARTITION BY source, workload_id, node, started_at ORDER BY ended_at DESC NULLS LAST, end_step DESC, load_id, row_number
) = 1
ORDER BY ALL
