-- Measured qualities, the last value of each subject, metric and data set, with the names that the subject has besides.
SELECT
    q.subject, coalesce(w.name, ''), coalesce(v.model_version, ''), q.metric, q.value, coalesce(q.n, 0),
    coalesce(q.data_set, ''), q.measured_at
FROM (
    SELECT * FROM qualities WHERE value IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY subject, metric, data_set ORDER BY measured_at DESC NULLS LAST, load_id DESC, row_number DESC
    ) = 1
) AS q
LEFT JOIN ({workloads}) AS w ON w.workload_id = q.subject
LEFT JOIN (SELECT DISTINCT model_version, run FROM model_versions) AS v ON v.run = q.subject
ORDER BY ALL
