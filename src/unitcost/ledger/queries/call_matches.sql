-- Calls of two readers that agree in their signature and lie near in time. Rows of one signature that follow each other within
-- the tolerance make a stretch; in it as many calls agree as the reader with fewer of them has. $shift moves the second
-- reader's calls in time, those past the end to the beginning: what still agrees then agrees by chance.
WITH moved AS (
    SELECT reader, signature, CASE WHEN reader = $second THEN $since + (at_us - $since + $shift) % $span ELSE at_us END AS at_us, load_id, row_number
    FROM call_signatures WHERE reader IN ($first, $second)
),
shared AS (SELECT signature FROM moved GROUP BY signature HAVING count(DISTINCT reader) = 2),
marked AS (
    SELECT *, coalesce(at_us - lag(at_us) OVER (PARTITION BY signature ORDER BY at_us) > $near, false) AS begins
    FROM moved SEMI JOIN shared USING (signature)
),
stretched AS (
    SELECT *, count(*) FILTER (begins) OVER (PARTITION BY signature ORDER BY at_us) AS stretch FROM marked
),
placed AS (
    SELECT *, row_number() OVER (PARTITION BY signature, stretch, reader ORDER BY at_us, load_id, row_number) AS place,
        count(*) FILTER (reader = $first) OVER (PARTITION BY signature, stretch) AS of_first,
        count(*) FILTER (reader = $second) OVER (PARTITION BY signature, stretch) AS of_second
    FROM stretched
)
SELECT reader, load_id, row_number FROM placed WHERE place <= least(of_first, of_second)
