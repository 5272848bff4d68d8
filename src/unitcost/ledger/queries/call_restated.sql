-- Rows of calls whose id another row has too and that state something else, with the row that counts.
WITH told AS (
    SELECT s.kind, s.call_id, s.by_load_id, s.by_row_number, c.* EXCLUDE (call_id) FROM call_statements s
    JOIN calls c USING (load_id, row_number)
    WHERE s.kind IN (SELECT unnest($kinds::VARCHAR[])) AND ($load_id IS NULL OR $load_id IN (s.load_id, s.by_load_id))
    ORDER BY s.kind DESC, s.load_id, s.row_number LIMIT $most
)
SELECT t.kind, t.call_id, l.file, t.row_number, {taken_t}, {made_t}, t.reported_cost, coalesce(t.reported_currency, ''),
    k.file, b.row_number, {taken_b}, {made_b}, b.reported_cost, coalesce(b.reported_currency, '')
FROM told t JOIN loads l ON l.load_id = t.load_id
JOIN calls b ON b.load_id = t.by_load_id AND b.row_number = t.by_row_number JOIN loads k ON k.load_id = b.load_id
ORDER BY t.kind DESC, t.load_id, t.row_number
