-- How far the cost of computed calls may be from what is taken: a cache written for a time that nobody states, a sum of
-- calls whose tiers are not known. {shorter} and {longer} are what another lifetime of the cache adds; {lowest} and
-- {highest} the cost in the lowest tier, and in that of the whole prompt as one call.
SELECT {keys},
    sum(least(0, {shorter}, {longer}, CASE WHEN calls > 1 THEN least({lowest}, {highest}) - computed ELSE 0 END)),
    sum(greatest(0, {shorter}, {longer}, CASE WHEN calls > 1 THEN greatest({lowest}, {highest}) - computed ELSE 0 END))
FROM (SELECT * FROM ({priced}) WHERE state = 'computed' AND (cache_write_tokens > 0 OR (calls > 1 AND tiered))) c
JOIN call_rates r ON r.number = c.rate
JOIN call_rates l ON l.number = c.lowest
JOIN call_rates h ON h.lowest = c.lowest AND c.prompt > h.over_tokens AND c.prompt <= h.up_to_tokens
GROUP BY ALL
