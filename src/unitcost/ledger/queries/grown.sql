-- How much of a step of a counter has come after `done` of `total` microseconds; whole numbers grow by whole ones.
CREATE OR REPLACE TEMP MACRO grown(step, done, total) AS CAST(CASE
    WHEN done <= 0 THEN 0
    WHEN done >= total THEN step
    WHEN step = floor(step) THEN least(step, CAST(floor(CAST(step AS DOUBLE) * done / total) AS DECIMAL(38, 6)))
    ELSE least(step, CAST(CAST(step AS DOUBLE) * done / total AS DECIMAL(38, 6)))
END AS DECIMAL(38, 6));
