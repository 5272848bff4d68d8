-- Time held by account, how the life ended, and what was held, cut where a price begins. Whole numbers throughout:
-- millionths of an accelerator, microseconds. {wins} says which rows of a life are charged for.
WITH lives AS (
    SELECT *,
        bool_or(coalesce(accelerator, '') <> 'cpu') OVER life AS has_accelerators,
        row_number() OVER (
            PARTITION BY source, workload_id, attempt, started_at
            ORDER BY billing_weight IS NULL, accelerator, resource_id, node
        ) = 1 AS is_first
    FROM ({holdings})
    WHERE ended_at > started_at AND quantity IS NOT NULL
    WINDOW life AS (PARTITION BY source, workload_id, attempt, started_at)
),
cut AS (
    SELECT l.*, e.number AS epoch,
        epoch_us(least(l.ended_at, e.until)) - epoch_us(greatest(l.started_at, e.since)) AS held_us
    FROM lives l JOIN work_epochs e ON l.started_at < e.until AND l.ended_at > e.since
),
priced AS (
    SELECT c.*, CAST(quantity * 1000000 AS HUGEINT) * held_us AS micro_us,
        CAST(billing_weight * 1000000 AS HUGEINT) * held_us AS weight_us, p.units
    FROM cut c LEFT JOIN work_prices p ON p.accelerator = coalesce(c.accelerator, '')
        AND p.pricing_category = coalesce(c.pricing_category, '') AND p.epoch = c.epoch
),
compared AS (
    SELECT *,
        sum(micro_us * units) FILTER (WHERE coalesce(accelerator, '') <> 'cpu') OVER life AS by_accelerators,
        sum(micro_us * units) FILTER (WHERE accelerator = 'cpu') OVER life AS by_cores
    FROM priced
    WINDOW life AS (PARTITION BY source, workload_id, attempt, started_at)
)
SELECT c.source, w.account, coalesce(c.status, 'unknown'), coalesce(c.accelerator, ''), coalesce(c.pricing_category, ''),
    c.epoch, {wins} AS counted, sum(c.micro_us), sum(c.weight_us) FILTER (WHERE c.is_first),
    count(DISTINCT (c.workload_id, c.attempt, c.started_at)) FILTER (WHERE c.is_first)
FROM compared c LEFT JOIN ({workloads}) w USING (source, workload_id)
GROUP BY ALL
ORDER BY ALL
