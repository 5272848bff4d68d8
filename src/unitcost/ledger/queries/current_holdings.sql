-- Holdings that count: of several loads that tell of the same stretch, the one that knows its end, else the later end.
-- Rows of one load add up. The choice depends on what the rows say, not on the order of the loads.
SELECT * FROM held
QUALIFY load_id = first_value(load_id) OVER (
    PARTITION BY source, workload_id, resource_id, node, accelerator, started_at
    ORDER BY ended_at DESC NULLS LAST, status NULLS LAST, quantity, attempt NULLS LAST, load_id
)
