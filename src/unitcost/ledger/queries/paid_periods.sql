-- Periods that charges of some resources paid for, those that touch or overlap made one. {placed} yields the selected
-- charges; {keys} are columns that part them.
WITH found AS (
    SELECT DISTINCT {keys} charge_period_start AS since, charge_period_end AS until
    FROM ({placed}) placed
    WHERE {where} AND charge_period_end > charge_period_start
),
marked AS (
    SELECT *, coalesce(since > max(until) OVER earlier, true) AS is_apart FROM found
    WINDOW earlier AS (
        PARTITION BY {names} ORDER BY since, until ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
counted AS (
    SELECT *, count(*) FILTER (is_apart) OVER (PARTITION BY {names} ORDER BY since, until ROWS UNBOUNDED PRECEDING) AS island
    FROM marked
)
SELECT {names}, min(since), max(until)
FROM counted
GROUP BY {names}, island
ORDER BY ALL
