-- What statements of a load share. Exact: texts are shifted, never computed.

-- Digits with a point after the first `places` of them.
CREATE OR REPLACE TEMP MACRO with_point(digits, places) AS CASE
    WHEN places <= 0 THEN '0.' || repeat('0', -places) || digits
    WHEN places >= length(digits) THEN digits || repeat('0', places - length(digits))
    ELSE left(digits, places) || '.' || substr(digits, places + 1)
END;

-- A number in plain or E-notation as plain digits; null when the text is anything else.
CREATE OR REPLACE TEMP MACRO plain_number(cell) AS CASE
    WHEN NOT regexp_full_match(trim(cell), '[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?') THEN NULL
    WHEN strlen(cell) > 200 THEN NULL
    WHEN NOT contains(lower(cell), 'e') THEN trim(cell)
    ELSE CASE WHEN starts_with(trim(cell), '-') THEN '-' ELSE '' END || with_point(
        replace(split_part(ltrim(lower(trim(cell)), '+-'), 'e', 1), '.', ''),
        length(split_part(split_part(ltrim(lower(trim(cell)), '+-'), 'e', 1), '.', 1))
            + CAST(split_part(lower(trim(cell)), 'e', 2) AS INTEGER)
    )
END;

-- Decimal places of a number, trailing zeros apart; null when it is none.
CREATE OR REPLACE TEMP MACRO decimal_places(cell) AS
    length(rtrim(split_part(plain_number(cell), '.', 2), '0'));

-- The decimal of 30 places of a plain or E-notation number; null when it does not fit exactly.
CREATE OR REPLACE TEMP MACRO wide_number(cell) AS
    CASE WHEN decimal_places(cell) <= 30 THEN TRY_CAST(plain_number(cell) AS DECIMAL(38, 30)) END;

-- Sum of several numbers that are parted by spaces; null when one does not fit exactly.
CREATE OR REPLACE TEMP MACRO wide_sum(terms) AS CASE
    WHEN NOT contains(terms, ' ') THEN wide_number(terms)
    WHEN list_bool_and(list_transform(string_split(terms, ' '), lambda t: coalesce(abs(wide_number(t)) < 1000000, false)))
        THEN TRY(CAST(list_sum(list_transform(string_split(terms, ' '), lambda t: wide_number(t))) AS DECIMAL(38, 30)))
END;

-- Tags written as one JSON object. A key that stands twice, which the plain conversion refuses, keeps its first value.
CREATE OR REPLACE TEMP MACRO json_tags(cell) AS coalesce(
    TRY(from_json(cell, '"MAP(VARCHAR,VARCHAR)"')),
    TRY(CASE WHEN json_type(cell) = 'OBJECT' THEN map_from_entries(list_transform(list_distinct(json_keys(cell)),
        lambda k: {'k': k, 'v': json_extract_string(cell, '/' || replace(replace(k, '~', '~0'), '/', '~1'))})) END)
);

-- Tags written as a JSON list of objects with `key` and `value`; the first of several values of a key counts.
CREATE OR REPLACE TEMP MACRO label_tags(cell) AS coalesce(
    TRY(map_from_entries(list_transform(from_json(cell, '[{"key":"VARCHAR","value":"VARCHAR"}]'),
        lambda x: {'k': x.key, 'v': x.value}))),
    TRY(map_from_entries(list_transform(list_distinct(json_extract_string(cell, '$[*].key')),
        lambda k: {'k': k, 'v': list_filter(from_json(cell, '[{"key":"VARCHAR","value":"VARCHAR"}]'),
            lambda x: x.key = k)[1].value})))
);

-- What rounding took from an amount: the sum of its numbers (`~` before one that is subtracted) less what is kept.
CREATE OR REPLACE TEMP MACRO residue_of(terms, kept) AS TRY(CAST(
    wide_sum(replace(replace(replace(terms, '~-', ''), '~+', '-'), '~', '-')) - CAST(kept AS DECIMAL(38, 30))
    AS DECIMAL(38, 30)));

-- How much of a step of a counter has come after `done` of `total` microseconds; whole numbers grow by whole ones.
CREATE OR REPLACE TEMP MACRO grown(step, done, total) AS CAST(CASE
    WHEN done <= 0 THEN 0
    WHEN done >= total THEN step
    WHEN step = floor(step) THEN least(step, CAST(floor(CAST(step AS DOUBLE) * done / total) AS DECIMAL(38, 6)))
    ELSE least(step, CAST(CAST(step AS DOUBLE) * done / total AS DECIMAL(38, 6)))
END AS DECIMAL(38, 6));
