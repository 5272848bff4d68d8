-- Values of cards while one workload alone held what they are part of: each value, cut where a holding begins or ends.
-- Holdings of one card do not overlap, so two joins find all: a value that begins in a holding, a holding that begins in a value.
SELECT card, workload, sampled_at, shared, from_at, to_at, date_diff('microsecond', from_at, to_at) AS lasted_us,
    CAST(value * date_diff('microsecond', from_at, to_at) AS DECIMAL(38, 3)) AS weighted, value IS NOT NULL AS counts
FROM (
    SELECT l.card, h.workload, l.sampled_at, l.shared, l.from_at, least(l.to_at, h.until) AS to_at, l.value
    FROM (FROM lasting JOIN described USING (card)) l
        ASOF JOIN held_spans h ON l.resource_id = h.resource_id AND l.from_at >= h.since
    WHERE l.from_at < h.until
    UNION ALL
    SELECT l.card, h.workload, l.sampled_at, l.shared, h.since AS from_at, least(l.to_at, h.until) AS to_at, l.value
    FROM (FROM held_spans JOIN described USING (resource_id)) h ASOF JOIN lasting l ON h.card = l.card AND h.since > l.from_at
    WHERE h.since < l.to_at
)
