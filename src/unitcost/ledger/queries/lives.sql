-- Lives of runs, and of the jobs that runs are part of: what each held. Cores count only where there is nothing else.
-- A job is also known by its id without the cluster or the namespace before it.
WITH lives AS (
    SELECT source || ':' || workload_id AS workload, source || ':' || regexp_replace(workload_id, '^.*/', '') AS short, coalesce(attempt, 1) AS attempt, coalesce(status, 'unknown') AS status,
        coalesce(accelerator, '') AS accelerator, coalesce(pricing_category, '') AS pricing_category, quantity, started_at,
        ended_at, startup_s, start_step, end_step, kept_step,
        bool_or(coalesce(accelerator, '') <> 'cpu') OVER (PARTITION BY source, workload_id, attempt, started_at) AS has_more
    FROM ({holdings})
    WHERE quantity IS NOT NULL
)
SELECT * EXCLUDE (has_more) FROM lives
WHERE (list_contains($workloads, workload) OR list_contains($workloads, short)) AND (accelerator <> 'cpu' OR NOT has_more)
ORDER BY ALL
