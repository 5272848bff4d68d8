-- Runs: workloads that are meant to end in a result, each once.
SELECT source || ':' || workload_id, coalesce(kind, ''), coalesce(name, ''),
    CASE WHEN parent IS NOT NULL THEN source || ':' || parent END, coalesce(experiment, ''), coalesce(project, ''),
    coalesce(status, 'unknown'), accepted, started_at, ended_at, coalesce(config_key, ''), metrics, tags
FROM ({workloads})
WHERE list_contains($kinds, kind) OR accepted IS NOT NULL OR source || ':' || workload_id IN (SELECT unnest($named::VARCHAR[]))
ORDER BY 1
