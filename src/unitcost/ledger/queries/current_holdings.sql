-- Holdings that count: of several loads that tell of the same stretch, the one that knows its end, else the later end.
-- Rows of one load add up. Of stretches of one workload on one node that overlap in different loads (a list of pods, and
-- what monitoring saw of them) the longer counts. What a run says that it held does not count beside what the job of a
-- scheduler held that it is part of. The choice depends on what the rows say, not on the order of the loads.
SELECT * FROM (
    SELECT * FROM held
    QUALIFY load_id = first_value(load_id) OVER (
        PARTITION BY source, workload_id, resource_id, node, accelerator, started_at
        ORDER BY ended_at DESC NULLS LAST, status NULLS LAST, quantity, attempt NULLS LAST, load_id
    )
) r
WHERE NOT EXISTS (
    FROM held s
    WHERE s.source = r.source AND s.workload_id = r.workload_id AND s.node = r.node
        AND (s.accelerator = 'cpu') IS NOT DISTINCT FROM (r.accelerator = 'cpu') AND s.load_id <> r.load_id
        AND s.started_at < r.ended_at AND s.ended_at > r.started_at
        AND (s.ended_at - s.started_at, s.started_at, coalesce(s.accelerator, '') <> 'gpu', coalesce(s.accelerator, ''))
            > (r.ended_at - r.started_at, r.started_at, coalesce(r.accelerator, '') <> 'gpu', coalesce(r.accelerator, ''))
)
AND NOT EXISTS (
    FROM (SELECT source, workload_id, tags['scheduler_job'] AS job FROM workloads WHERE tags['scheduler_job'] IS NOT NULL) w
    JOIN (
        SELECT source || ':' || unnest([workload_id, regexp_replace(workload_id, '^.*/', '')]) AS job FROM holdings
        WHERE quantity IS NOT NULL
    ) USING (job)
    WHERE w.source = r.source AND w.workload_id = r.workload_id
)
