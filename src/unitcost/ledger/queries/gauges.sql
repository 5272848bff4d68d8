-- Means of states of cards, weighted by time. What several pods show of one card at one instant is one measurement. A
-- value holds until the next one; over a gap of more than $gap_intervals usual intervals it holds for one of them, and the
-- rest is unknown. NaN and infinity end a value and begin a time of which nothing is known.
WITH known AS (
    SELECT load_id, series_key, metric, coalesce(unit, '') AS unit, resource_id, node, workload_id
    FROM series WHERE kind = 'gauge' AND resource_id IS NOT NULL AND ($all_metrics OR list_contains($metrics, metric))
),
ids AS (
    SELECT *, dense_rank() OVER (ORDER BY metric, unit, resource_id) AS card,
        CASE WHEN workload_id IS NOT NULL THEN dense_rank() OVER (ORDER BY workload_id) END AS workload
    FROM known
),
described AS (
    SELECT card, any_value(metric) AS metric, any_value(unit) AS unit, any_value(resource_id) AS resource_id, coalesce(max(node), '') AS node
    FROM ids GROUP BY card
),
names AS ({names}),
seen AS (SELECT card, workload, sampled_at, value FROM samples JOIN ids USING (load_id, series_key)),
reach AS (
    SELECT card, coalesce(max(sampled_at) FILTER (sampled_at <= $start), $start) AS low,
        coalesce(min(sampled_at) FILTER (sampled_at >= $end), $end) AS high
    FROM seen GROUP BY card
),
near AS (SELECT card, workload, sampled_at, value FROM seen JOIN reach USING (card) WHERE sampled_at BETWEEN low AND high),
points AS (
    SELECT card, sampled_at, max(value) FILTER (isfinite(value)) AS value, min(workload) AS least, max(workload) AS most
    FROM near GROUP BY card, sampled_at
),
nexts AS (
    SELECT *, date_diff('microsecond', sampled_at, lead(sampled_at) OVER (PARTITION BY card ORDER BY sampled_at)) AS gap_us FROM points
),
usual AS (SELECT card, quantile_disc(gap_us, 0.5) AS step_us FROM nexts GROUP BY card),
states AS (
    SELECT card, sampled_at, value, least, most, greatest(sampled_at, $start) AS from_at,
        least($end, sampled_at + to_microseconds(CAST(CASE
            WHEN gap_us <= $gap_intervals * step_us THEN gap_us ELSE coalesce(step_us, 0) END AS BIGINT))) AS to_at
    FROM nexts JOIN usual USING (card)
),
lasting AS (
    SELECT card, sampled_at, value, coalesce(least <> most, false) AS shared, from_at, to_at, date_diff('microsecond', from_at, to_at) AS lasted_us,
        CAST(value * date_diff('microsecond', from_at, to_at) AS DECIMAL(38, 3)) AS weighted
    FROM states WHERE to_at > from_at
),
chosen AS ({chosen}),
sums AS (
    SELECT card, workload, sum(weighted) FILTER (counts) AS weighted, coalesce(sum(lasted_us) FILTER (counts), 0) AS known_us,
        coalesce(sum(lasted_us) FILTER (weighted IS NULL), 0) AS blank_us, coalesce(sum(lasted_us) FILTER (shared), 0) AS shared_us,
        min(from_at) AS first_at, max(to_at) AS last_at
    FROM chosen GROUP BY card, workload
),
guests AS (
    SELECT card, list(workload_id ORDER BY workload_id) AS workloads
    FROM (SELECT DISTINCT card, workload FROM near) JOIN (SELECT DISTINCT workload, workload_id FROM ids) USING (workload)
    GROUP BY card
)
SELECT metric, unit, resource_id, node, coalesce(names.workload_id, ''), weighted, known_us, blank_us, shared_us, first_at, last_at,
    coalesce(workloads, [])
FROM sums JOIN described USING (card) LEFT JOIN names USING (workload) LEFT JOIN guests USING (card)
ORDER BY ALL
