-- Each charge whose charge period lies inside one bucket (month or day) counts whole in that bucket.
SELECT c.*, {owners}, {cost} AS amount, p.bucket
FROM charges c {join_owners}
JOIN placements p ON p.period_start = c.charge_period_start AND p.period_end = c.charge_period_end
WHERE p.overlap = p.total AND {range}
