-- Cards, nodes and instances that somebody told of, held or watched.
SELECT resource_id, node, instance_id, max(quantity), bool_or(told) FROM (
    SELECT resource_id, node, instance_id, quantity, source <> 'prometheus' AS told FROM resources WHERE coalesce(accelerator, '') <> 'cpu'
    UNION ALL
    SELECT DISTINCT resource_id, node, NULL, NULL, true FROM holdings
    UNION ALL
    SELECT DISTINCT resource_id, node, NULL, NULL, false FROM series
)
WHERE resource_id IS NOT NULL OR node IS NOT NULL OR instance_id IS NOT NULL
GROUP BY ALL
ORDER BY ALL
