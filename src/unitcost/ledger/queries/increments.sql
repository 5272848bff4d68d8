-- What counters have counted: positive steps between neighbouring samples of one series; after a drop it counts from
-- zero; the first sample of a series tells only where it stands. A series is its metric and its labels, in whatever file
-- it stands, and of one instant one sample counts. A step that crosses a bucket is apportioned by time: the part of a
-- bucket is what has grown until its end less what has grown until its start, so neighbouring buckets add up.
WITH known AS (
    SELECT load_id, series_key, metric, resource_id, node, workload_id, labels, coalesce(CAST(to_json(labels) AS VARCHAR), '') AS label_text,
        -- Where the same counter stands under its newer name as well, its unit is known.
        CASE WHEN unit = 'tokens or blocks' AND bool_or(unit = 'tokens') OVER (PARTITION BY metric, to_json(labels))
            THEN 'tokens' ELSE coalesce(unit, '') END AS unit
    FROM series WHERE kind = 'counter' AND ($all_metrics OR list_contains($metrics, metric))
),
ids AS (SELECT *, dense_rank() OVER (ORDER BY metric, unit, label_text) AS series_id FROM known),
described AS (
    SELECT series_id, any_value(metric) AS metric, any_value(unit) AS unit, any_value(labels) AS labels, any_value(label_text) AS label_text,
        coalesce(max(resource_id), '') AS resource_id, coalesce(max(node), '') AS node, coalesce(max(workload_id), '') AS workload_id
    FROM ids GROUP BY series_id
),
counted AS (
    SELECT series_id, sampled_at, value FROM samples JOIN ids USING (load_id, series_key) WHERE isfinite(value) AND value >= 0
),
reach AS (
    SELECT series_id, coalesce(max(sampled_at) FILTER (sampled_at <= $start), $start) AS low,
        coalesce(min(sampled_at) FILTER (sampled_at >= $end), $end) AS high
    FROM counted GROUP BY series_id
),
points AS (
    SELECT series_id, sampled_at, max(value) AS value
    FROM counted JOIN reach USING (series_id) WHERE sampled_at BETWEEN low AND high GROUP BY ALL
),
pairs AS (
    SELECT series_id, lag(sampled_at) OVER w AS from_at, sampled_at AS to_at, lag(value) OVER w AS before, value AS after
    FROM points WINDOW w AS (PARTITION BY series_id ORDER BY sampled_at)
),
steps AS (
    SELECT series_id, from_at, to_at, after < before AS restarted,
        CAST(CASE WHEN after < before THEN after ELSE after - before END AS DECIMAL(38, 6)) AS step,
        unnest(CASE
            WHEN NOT $daily THEN [$start]
            WHEN date_trunc('day', from_at) = date_trunc('day', to_at - INTERVAL 1 MICROSECOND) THEN [date_trunc('day', from_at)]
            ELSE generate_series(date_trunc('day', greatest(from_at, $start)), least(to_at, $end) - INTERVAL 1 MICROSECOND, INTERVAL 1 DAY)
        END) AS bucket
    FROM pairs WHERE before IS NOT NULL AND to_at > $start AND from_at < $end
),
bounds AS (
    SELECT *, greatest(bucket, $start) AS bucket_start, CASE WHEN $daily THEN least(bucket + INTERVAL 1 DAY, $end) ELSE $end END AS bucket_end
    FROM steps
),
parts AS (
    SELECT series_id, from_at, to_at, restarted AND to_at > bucket_start AND to_at <= bucket_end AS restarted,
        CASE WHEN $daily THEN CAST(bucket AS DATE) END AS day,
        grown(step, date_diff('microsecond', from_at, bucket_end), date_diff('microsecond', from_at, to_at))
            - grown(step, date_diff('microsecond', from_at, bucket_start), date_diff('microsecond', from_at, to_at)) AS part
    FROM bounds
)
SELECT metric, unit, day, {keys}, CAST(sum(part) AS DECIMAL(38, 6)), count(*) FILTER (restarted), count(DISTINCT series_id), min(from_at), max(to_at)
FROM parts JOIN described USING (series_id)
GROUP BY metric, unit, day{groups}
ORDER BY metric, unit, day{groups}
