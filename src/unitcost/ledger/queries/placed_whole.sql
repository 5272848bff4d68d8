-- Each charge counts whole.
SELECT c.*, {owners}, {cost} AS amount, NULL AS bucket
FROM charges c {join_owners}
WHERE {range}
