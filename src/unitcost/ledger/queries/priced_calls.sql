-- Calls with the price in force when they were made, and the cost that stands for each. {tokens} are the classes that
-- occur, {input} and {output} what those of each side cost, {missing} whether a class has no price, {again} whether a
-- row tells of what another source counts for: a usage report of a day whose calls are loaded too, or a source beside the one named.
WITH counted AS (
    SELECT *, coalesce(requests, 1) AS calls, {prompt} AS prompt, {answer} AS answer,
        {period} AS period, {no_tokens} AS uncounted, coalesce(attempt, 1) > 1 AS retry, {caller} AS caller_name{tags}
    FROM counted_calls
),
priced AS (
    SELECT c.*, n.number AS name, n.self_hosted, {again} AS told_again, r.number AS rate, r.lowest, r.tiered, r.currency AS rate_currency,
        CASE WHEN r.number IS NOT NULL AND NOT c.uncounted AND NOT ({missing}) THEN {input} END AS input_cost,
        CASE WHEN r.number IS NOT NULL AND NOT c.uncounted AND NOT ({missing}) THEN {output} END AS output_cost
    FROM counted c
    JOIN call_names n ON n.provider = coalesce(c.provider, '') AND n.model = coalesce(c.model, '') AND n.variant = c.variant
    {reports}
    LEFT JOIN call_rates r ON r.name = n.number
        AND c.prompt > r.over_tokens * greatest(c.calls, 1) AND c.prompt <= r.up_to_tokens * greatest(c.calls, 1)
        AND c.prompt <= {most} AND c.answer <= {most}
        AND CASE WHEN c.called_at IS NULL THEN r.always ELSE
            c.called_at >= r.since AND c.called_at < r.until AND (r.hours_from = r.hours_to
                OR (r.hours_from < r.hours_to AND CAST(c.called_at AS TIME) >= r.hours_from AND CAST(c.called_at AS TIME) < r.hours_to)
                OR (r.hours_from > r.hours_to AND (CAST(c.called_at AS TIME) >= r.hours_from OR CAST(c.called_at AS TIME) < r.hours_to)))
            END
    WHERE c.period IS NOT NULL
),
stated AS (
    SELECT *, input_cost + output_cost AS computed,
        CASE WHEN told_again THEN 'told-again'
            WHEN self_hosted THEN 'self-hosted'
            WHEN status = 'cached' THEN 'cached'
            WHEN reported_cost IS NOT NULL AND cost_basis IS DISTINCT FROM 'estimated' THEN 'measured'
            WHEN input_cost IS NOT NULL THEN 'computed'
            WHEN reported_cost > 0 THEN 'estimated'
            ELSE 'unpriced' END AS state,
        coalesce(reported_currency, $currency) AS stated_currency
    FROM priced
)
SELECT *,
    CASE state WHEN 'measured' THEN CAST(reported_cost AS DECIMAL(38, 18)) WHEN 'estimated' THEN CAST(reported_cost AS DECIMAL(38, 18))
        WHEN 'computed' THEN computed
        WHEN 'cached' THEN CASE WHEN cost_basis IS DISTINCT FROM 'estimated' THEN CAST(coalesce(reported_cost, 0) AS DECIMAL(38, 18)) ELSE 0 END
        ELSE 0 END AS cost,
    CASE WHEN state IN ('measured', 'estimated') THEN stated_currency WHEN state = 'computed' THEN rate_currency
        WHEN state = 'cached' THEN coalesce(reported_currency, rate_currency, $currency) ELSE '' END AS currency
FROM stated
