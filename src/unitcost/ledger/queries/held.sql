-- Holdings, each time of each pod once. Answers of Prometheus that overlap, or that follow each other day by day, tell
-- pieces of one holding; pieces that overlap or touch are one. All other holdings are as they were read.
CREATE OR REPLACE TEMP VIEW held AS
WITH pieces AS (
    SELECT h.* FROM holdings h JOIN loads USING (load_id)
    WHERE reader = 'prometheus' AND started_at IS NOT NULL AND ended_at IS NOT NULL
),
marked AS (
    SELECT *, started_at > max(ended_at) OVER (
        PARTITION BY source, workload_id, node, quantity ORDER BY started_at, ended_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS begins
    FROM pieces
),
runs AS (
    SELECT *, count(*) FILTER (begins) OVER (PARTITION BY source, workload_id, node, quantity ORDER BY started_at, ended_at) AS run
    FROM marked
)
SELECT min(load_id) AS load_id, arg_min(row_number, (load_id, row_number)) AS row_number, source, workload_id, max(attempt) AS attempt,
    arg_max(status, ended_at) AS status, max(resource_id) AS resource_id, node, max(accelerator) AS accelerator, quantity,
    max(billing_weight) AS billing_weight, min(started_at) AS started_at, max(ended_at) AS ended_at,
    max(pricing_category) AS pricing_category, max(startup_s) AS startup_s, max(start_step) AS start_step,
    max(end_step) AS end_step, max(kept_step) AS kept_step
FROM runs GROUP BY source, workload_id, node, quantity, run
UNION ALL BY NAME
SELECT h.* FROM holdings h JOIN loads USING (load_id) WHERE reader <> 'prometheus' OR started_at IS NULL OR ended_at IS NULL;
