-- What statements of a load share. Exact: texts are shifted, never computed. A value that is used more than once is
-- bound by a lambda, since a macro repeats the text of its argument and the engine plans each repetition anew.

-- A number in plain or E-notation as plain digits; null when the text is anything else.
CREATE OR REPLACE TEMP MACRO plain_number(cell) AS CASE
    WHEN strlen(cell) > 200 THEN NULL
    WHEN regexp_full_match(cell, ' *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+) *') THEN trim(cell)
    WHEN regexp_full_match(cell, ' *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,2} *') THEN list_transform(
        [regexp_extract(cell, '[+]?(-?)([0-9]*)\.?([0-9]*)[eE]([+-]?[0-9]+)', ['sign', 'whole', 'part', 'power'])],
        lambda n: n.sign || CASE
            WHEN length(n.whole) + n.power::INTEGER <= 0
                THEN '0.' || repeat('0', -length(n.whole) - n.power::INTEGER) || n.whole || n.part
            WHEN length(n.part) <= n.power::INTEGER
                THEN n.whole || n.part || repeat('0', n.power::INTEGER - length(n.part))
            ELSE left(n.whole || n.part, length(n.whole) + n.power::INTEGER) || '.'
                || substr(n.whole || n.part, length(n.whole) + n.power::INTEGER + 1)
        END)[1]
END;

-- The decimal of 30 places of a plain or E-notation number; null when it does not fit exactly.
CREATE OR REPLACE TEMP MACRO wide_number(cell) AS list_transform([plain_number(cell)],
    lambda n: CASE WHEN length(rtrim(split_part(n, '.', 2), '0')) <= 30 THEN TRY_CAST(n AS DECIMAL(38, 30)) END)[1];

-- Sum of several numbers that are parted by spaces; null when one does not fit exactly.
CREATE OR REPLACE TEMP MACRO wide_sum(terms) AS list_transform(
    [list_transform(string_split(terms, ' '), lambda t: wide_number(t))],
    lambda w: CASE
        WHEN length(w) = 1 THEN w[1]
        WHEN list_bool_and(list_transform(w, lambda a: coalesce(abs(a) < 1000000, false)))
            THEN TRY(CAST(list_sum(w) AS DECIMAL(38, 30)))
    END)[1];

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
