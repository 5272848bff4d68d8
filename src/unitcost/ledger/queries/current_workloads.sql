-- One row per workload: of several that tell of it, the one that knows its end, else the later end.
SELECT * FROM workloads
QUALIFY row_number() OVER (
    PARTITION BY source, workload_id
    ORDER BY ended_at DESC NULLS LAST, started_at NULLS LAST, status NULLS LAST, accepted DESC NULLS LAST, load_id, row_number
) = 1
