-- Each charge whose charge period crosses buckets (months or days) is split in integers of 10^-12 by overlap: largest
-- remainder, ties to the later bucket, so the parts of each charge add up to it and any drill-down shows the same total.
SELECT * EXCLUDE (units, quotient, place, missing),
    CASE WHEN units IS NULL THEN NULL ELSE
        CAST(sign(units) AS HUGEINT)::DECIMAL(38,0) * 0
        + CAST((quotient + CASE WHEN place <= missing THEN 1 ELSE 0 END) // 1000000000000 AS DECIMAL(38,12)) * CAST(sign(units) AS INTEGER)
        + CAST(CAST((quotient + CASE WHEN place <= missing THEN 1 ELSE 0 END) % 1000000000000 AS DECIMAL(13,0))
            * CAST(0.000000000001 AS DECIMAL(12,12)) AS DECIMAL(38,12)) * CAST(sign(units) AS INTEGER)
    END AS amount
FROM (
    SELECT * EXCLUDE (remainder, sequence),
        row_number() OVER (PARTITION BY load_id, row_number ORDER BY remainder DESC, sequence DESC) AS place,
        abs(units) - sum(quotient) OVER (PARTITION BY load_id, row_number) AS missing
    FROM (
        SELECT *, abs(units) * overlap // total AS quotient, abs(units) * overlap % total AS remainder
        FROM (
            SELECT c.*, {owners}, p.bucket, p.sequence, CAST(p.overlap AS HUGEINT) AS overlap, CAST(p.total AS HUGEINT) AS total,
                CAST(trunc({cost}) AS HUGEINT) * 1000000000000
                    + CAST(({cost} - trunc({cost})) * 1000000000000 AS HUGEINT) AS units
            FROM charges c {join_owners}
            JOIN placements p ON p.period_start = c.charge_period_start AND p.period_end = c.charge_period_end
            WHERE p.overlap <> p.total AND {range}
        )
    )
)
