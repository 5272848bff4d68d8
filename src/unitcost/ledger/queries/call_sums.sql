-- Sums of priced calls by group; {keys} are what groups share, {tokens} the sums of tokens of the classes that occur.
SELECT {keys}, count(*), CAST(sum(calls) AS HUGEINT), CAST(sum(coalesce(web_searches, 0)) AS HUGEINT), sum(cost),
    coalesce(sum(input_cost) FILTER (WHERE state = 'computed'), 0), coalesce(sum(output_cost) FILTER (WHERE state = 'computed'), 0),
    coalesce(sum(reported_cost) FILTER (WHERE both_known), 0), coalesce(sum(computed) FILTER (WHERE both_known), 0),
    count(*) FILTER (WHERE both_known),
    coalesce(sum(CASE WHEN avoided_cost IS NOT NULL THEN CAST(avoided_cost AS DECIMAL(38, 18)) WHEN state = 'cached' THEN computed END), 0),
    coalesce(sum(calls) FILTER (WHERE accepted), 0), coalesce(sum(calls) FILTER (WHERE accepted IS NOT NULL), 0),
    count(*) FILTER (WHERE status = 'aborted' OR contains(notes, 'output-lower-bound')),
    count(*) FILTER (WHERE cache_write_tokens > 0), count(*) FILTER (WHERE uncounted){tokens}
FROM (
    SELECT *, reported_cost IS NOT NULL AND computed IS NOT NULL AND status <> 'cached' AND rate_currency = stated_currency AS both_known
    FROM ({priced})
)
GROUP BY ALL
ORDER BY ALL
