-- Single calls with a time and tokens: what tells whether another source tells of them too. An id that two readers
-- have in common is settled by it, so neither its calls nor repeated answers of a cache are looked at here.
CREATE OR REPLACE TEMP TABLE call_signatures AS
SELECT l.reader, hash(n.called, {taken}, {made}) AS signature, epoch_us(c.called_at) AS at_us, c.load_id, c.row_number
FROM counted_calls c JOIN loads l ON l.load_id = c.load_id
JOIN call_names n ON n.provider = coalesce(c.provider, '') AND n.model = coalesce(c.model, '') AND n.variant = c.variant
WHERE c.called_at IS NOT NULL AND coalesce(c.requests, 1) = 1 AND {taken} + {made} > 0
    AND NOT coalesce(contains(c.notes, '{sums}'), false)
