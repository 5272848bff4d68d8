-- The ledger. Times are UTC without a zone; periods are half-open [start, end). Money keeps twelve places.
-- Every table that is filled from files carries load_id and row_number, so each number leads back to a row.

CREATE TABLE meta (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);

CREATE SEQUENCE load_ids START 1;

CREATE TABLE loads (
    load_id BIGINT PRIMARY KEY,
    file VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    source VARCHAR NOT NULL,          -- the [[load]] entry or the call that the file is a part of
    version VARCHAR NOT NULL,         -- of an export that restates periods, or empty
    reader VARCHAR NOT NULL,
    dialect VARCHAR NOT NULL,
    dataset VARCHAR NOT NULL,
    conventions VARCHAR[] NOT NULL,
    flags VARCHAR[] NOT NULL,
    rows_read BIGINT NOT NULL,
    rows_accepted BIGINT NOT NULL,
    rows_rejected BIGINT NOT NULL,
    totals VARCHAR NOT NULL,          -- JSON: currency -> money column -> exact sum in the ledger
    residues VARCHAR NOT NULL,        -- JSON: what rounding to twelve places took away; file = ledger + residue
    loaded_at TIMESTAMP NOT NULL,
    said VARCHAR NOT NULL,            -- JSON: what the user said about reading the file
    replaces VARCHAR NOT NULL,        -- "period" when it restates whole billing periods, or empty
    replaced_by BIGINT                -- load that took this one's place, null while it counts
);

-- One row of a bill, shaped as FOCUS 1.4.
CREATE TABLE charges (
    load_id BIGINT NOT NULL,
    row_number BIGINT NOT NULL,
    facet_id UBIGINT NOT NULL,        -- charges that agree in all facet columns share it
    row_hash UBIGINT NOT NULL,        -- what the row is about, amounts apart: tells a part from a restatement
    billed_cost DECIMAL(38,12),
    effective_cost DECIMAL(38,12),
    list_cost DECIMAL(38,12),
    contracted_cost DECIMAL(38,12),
    billing_currency VARCHAR,
    billing_period_start TIMESTAMP,
    billing_period_end TIMESTAMP,
    charge_period_start TIMESTAMP,
    charge_period_end TIMESTAMP,
    invoice_id VARCHAR,
    invoice_detail_id VARCHAR,
    invoice_issuer_name VARCHAR,
    service_provider_name VARCHAR,
    host_provider_name VARCHAR,
    publisher_name VARCHAR,
    billing_account_id VARCHAR,
    billing_account_name VARCHAR,
    billing_account_type VARCHAR,
    sub_account_id VARCHAR,
    sub_account_name VARCHAR,
    sub_account_type VARCHAR,
    charge_category VARCHAR,
    charge_class VARCHAR,
    charge_description VARCHAR,
    charge_frequency VARCHAR,
    service_category VARCHAR,
    service_subcategory VARCHAR,
    service_name VARCHAR,
    region_id VARCHAR,
    region_name VARCHAR,
    availability_zone VARCHAR,
    resource_id VARCHAR,
    resource_name VARCHAR,
    resource_type VARCHAR,
    resource_group VARCHAR,
    sku_id VARCHAR,
    sku_meter VARCHAR,
    sku_price_id VARCHAR,
    sku_price_details VARCHAR,
    usage_type VARCHAR,
    operation VARCHAR,
    pricing_category VARCHAR,
    pricing_quantity DECIMAL(38,12),
    pricing_unit VARCHAR,
    consumed_quantity DECIMAL(38,12),
    consumed_unit VARCHAR,
    list_unit_price DECIMAL(38,12),
    contracted_unit_price DECIMAL(38,12),
    pricing_currency VARCHAR,
    pricing_currency_effective_cost DECIMAL(38,12),
    pricing_currency_list_unit_price DECIMAL(38,12),
    pricing_currency_contracted_unit_price DECIMAL(38,12),
    commitment_discount_id VARCHAR,
    commitment_discount_name VARCHAR,
    commitment_discount_category VARCHAR,
    commitment_discount_type VARCHAR,
    commitment_discount_status VARCHAR,
    commitment_discount_quantity DECIMAL(38,12),
    commitment_discount_unit VARCHAR,
    commitment_program_eligibility_details VARCHAR,
    capacity_reservation_id VARCHAR,
    capacity_reservation_status VARCHAR,
    allocated_method_id VARCHAR,
    allocated_method_details VARCHAR,
    allocated_resource_id VARCHAR,
    allocated_resource_name VARCHAR,
    contract_applied VARCHAR,
    tags MAP(VARCHAR, VARCHAR),
    unrounded MAP(VARCHAR, VARCHAR),  -- cost -> numbers as written, where they have more places than are kept
    extra VARCHAR                     -- JSON: source column that no charge column takes -> text
);

-- What has been restated, kept as history. Same columns as `charges`.
CREATE TABLE charges_history AS SELECT *, CAST(NULL AS BIGINT) AS replaced_by FROM charges LIMIT 0;

-- What many charges have in common and what rules may look at; owners and drivers are decided once per facet.
CREATE TABLE facets (
    facet_id UBIGINT NOT NULL,
    service_provider_name VARCHAR,
    publisher_name VARCHAR,
    billing_account_id VARCHAR,
    sub_account_id VARCHAR,
    sub_account_name VARCHAR,
    charge_category VARCHAR,
    charge_class VARCHAR,
    charge_description VARCHAR,
    service_category VARCHAR,
    service_subcategory VARCHAR,
    service_name VARCHAR,
    region_id VARCHAR,
    resource_id VARCHAR,
    resource_name VARCHAR,
    resource_type VARCHAR,
    resource_group VARCHAR,
    sku_id VARCHAR,
    sku_meter VARCHAR,
    usage_type VARCHAR,
    operation VARCHAR,
    pricing_category VARCHAR,
    commitment_discount_id VARCHAR,
    commitment_discount_status VARCHAR,
    tags MAP(VARCHAR, VARCHAR)
);

-- A team, project or experiment that is empty is nobody; "untagged" is a name like any other.
CREATE TABLE attributions (
    facet_id UBIGINT NOT NULL,
    team VARCHAR NOT NULL, team_how VARCHAR NOT NULL, team_rule VARCHAR NOT NULL,
    project VARCHAR NOT NULL, project_how VARCHAR NOT NULL, project_rule VARCHAR NOT NULL,
    experiment VARCHAR NOT NULL, experiment_how VARCHAR NOT NULL, experiment_rule VARCHAR NOT NULL,
    driver VARCHAR NOT NULL, driver_rule VARCHAR NOT NULL,
    line VARCHAR NOT NULL
);

-- Work: columns as in facts/work.py, which says what they mean.
CREATE TABLE workloads (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    source VARCHAR NOT NULL, workload_id VARCHAR NOT NULL, kind VARCHAR, name VARCHAR, parent VARCHAR,
    account VARCHAR, team VARCHAR, project VARCHAR, experiment VARCHAR, status VARCHAR, accepted BOOLEAN,
    started_at TIMESTAMP, ended_at TIMESTAMP, config_key VARCHAR, metrics MAP(VARCHAR, VARCHAR),
    tags MAP(VARCHAR, VARCHAR)
);

CREATE TABLE resources (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    source VARCHAR NOT NULL, resource_id VARCHAR, node VARCHAR, instance_id VARCHAR, instance_type VARCHAR,
    accelerator VARCHAR, accelerator_native VARCHAR, quantity DECIMAL(24, 12), replicas DECIMAL(24, 12), started_at TIMESTAMP, ended_at TIMESTAMP,
    tags MAP(VARCHAR, VARCHAR)
);

CREATE TABLE holdings (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    source VARCHAR NOT NULL, workload_id VARCHAR NOT NULL, attempt BIGINT, status VARCHAR, resource_id VARCHAR,
    node VARCHAR, accelerator VARCHAR, accelerator_native VARCHAR, quantity DECIMAL(24, 12), billing_weight DECIMAL(24, 12), started_at TIMESTAMP,
    ended_at TIMESTAMP, pricing_category VARCHAR, startup_s DOUBLE, start_step BIGINT, end_step BIGINT, kept_step BIGINT
);

CREATE TABLE outputs (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    service VARCHAR NOT NULL, period_start TIMESTAMP NOT NULL, period_end TIMESTAMP NOT NULL,
    unit VARCHAR NOT NULL, quantity DECIMAL(38, 12) NOT NULL, attempts DECIMAL(38, 12), basis VARCHAR NOT NULL
);

CREATE TABLE series (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    series_key BIGINT NOT NULL, metric VARCHAR NOT NULL, native VARCHAR NOT NULL, kind VARCHAR NOT NULL, unit VARCHAR,
    resource_id VARCHAR, node VARCHAR, workload_id VARCHAR, labels MAP(VARCHAR, VARCHAR)
);

CREATE TABLE samples (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    series_key BIGINT NOT NULL, sampled_at TIMESTAMP NOT NULL, value DOUBLE
);

-- A row is one call, or the sum of `requests` calls. Tokens are in classes that do not overlap; null is not known.
CREATE TABLE calls (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    call_id VARCHAR, parent_id VARCHAR, attempt BIGINT, called_at TIMESTAMP, ended_at TIMESTAMP, requests BIGINT,
    provider VARCHAR, model VARCHAR, variant VARCHAR NOT NULL, region VARCHAR, key VARCHAR, caller VARCHAR,
    status VARCHAR NOT NULL,
    input_tokens BIGINT, cache_read_tokens BIGINT, cache_write_5m_tokens BIGINT, cache_write_1h_tokens BIGINT,
    cache_write_tokens BIGINT, input_audio_tokens BIGINT, cache_read_audio_tokens BIGINT, input_image_tokens BIGINT,
    cache_read_image_tokens BIGINT, input_video_tokens BIGINT, output_tokens BIGINT, reasoning_tokens BIGINT,
    citation_tokens BIGINT, output_audio_tokens BIGINT, output_image_tokens BIGINT, output_video_tokens BIGINT,
    web_searches BIGINT,
    reported_cost DECIMAL(38, 12), reported_currency VARCHAR, cost_basis VARCHAR, avoided_cost DECIMAL(38, 12),
    input_convention VARCHAR, output_convention VARCHAR, accepted BOOLEAN, notes VARCHAR, tags MAP(VARCHAR, VARCHAR)
);

CREATE TABLE invoices (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,   -- load_id 0: stated in the settings
    invoice_id VARCHAR NOT NULL, currency VARCHAR NOT NULL, billing_month VARCHAR NOT NULL,
    provider VARCHAR NOT NULL, total DECIMAL(38, 12) NOT NULL
);

CREATE TABLE artifacts (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    artifact_id VARCHAR NOT NULL, kind VARCHAR, run VARCHAR, owner VARCHAR, resource_id VARCHAR, storage_class VARCHAR,
    size_bytes BIGINT, gb_months DECIMAL(38, 12), period_start TIMESTAMP, period_end TIMESTAMP, created_at TIMESTAMP,
    last_access TIMESTAMP, tags MAP(VARCHAR, VARCHAR)
);

CREATE TABLE model_versions (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    model_version VARCHAR NOT NULL, run VARCHAR, endpoint VARCHAR, predecessor VARCHAR
);

CREATE TABLE qualities (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    subject VARCHAR NOT NULL, metric VARCHAR NOT NULL, value DOUBLE, n BIGINT, data_set VARCHAR, measured_at TIMESTAMP,
    basis VARCHAR
);

CREATE TABLE adoptions (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    recommendation VARCHAR NOT NULL, adopted_on DATE, promised_saving DECIMAL(38, 12), currency VARCHAR
);

-- Rows that were set aside: what, where and why, with the row as it stood.
CREATE TABLE rejects (
    load_id BIGINT NOT NULL, row_number BIGINT NOT NULL,
    column_name VARCHAR NOT NULL, value VARCHAR NOT NULL, reason VARCHAR NOT NULL, raw VARCHAR NOT NULL
);

-- Holdings, each time of each pod once. Answers of Prometheus that overlap, or that follow each other day by day, tell
-- pieces of one holding; pieces that overlap or touch are one. All other holdings are as they were read.
CREATE VIEW held AS
WITH pieces AS (
    SELECT h.* FROM holdings h JOIN loads USING (load_id)
    WHERE reader = 'prometheus' AND started_at IS NOT NULL AND ended_at IS NOT NULL
),
marked AS (
    SELECT *, started_at > max(ended_at) OVER (
        PARTITION BY source, workload_id, node, quantity ORDER BY started_at, ended_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS begins
    FROM pieces
),
runs AS (
    SELECT *, count(*) FILTER (begins) OVER (PARTITION BY source, workload_id, node, quantity ORDER BY started_at, ended_at) AS run
    FROM marked
)
SELECT min(load_id) AS load_id, arg_min(row_number, (load_id, row_number)) AS row_number, source, workload_id, max(attempt) AS attempt,
    arg_max(status, ended_at) AS status, max(resource_id) AS resource_id, node, max(accelerator) AS accelerator, max(accelerator_native) AS accelerator_native, quantity,
    max(billing_weight) AS billing_weight, min(started_at) AS started_at, max(ended_at) AS ended_at,
    max(pricing_category) AS pricing_category, max(startup_s) AS startup_s, max(start_step) AS start_step,
    max(end_step) AS end_step, max(kept_step) AS kept_step
FROM runs GROUP BY source, workload_id, node, quantity, run
UNION ALL BY NAME
SELECT h.* FROM holdings h JOIN loads USING (load_id) WHERE reader <> 'prometheus' OR started_at IS NULL OR ended_at IS NULL;

-- Rows whose id another row has too. `kind` says what each is: 'same' states what the row that counts states, in
-- whichever convention; 'superseded' states other tokens or another cost of the same call; 'shared' counts, as a call of
-- its own beside others of that id; null is the one that counts. `by_load_id` and `by_row_number` are the row that counts.
-- Rows of one id and attempt are one call when they state as many tokens, or when their times overlap and both failed or
-- neither did; without times the id decides. Of equal statements that with a reported cost counts, then that which knows
-- most classes, then the first. Of statements that differ the whole one counts (not a lower bound), then that whose cost was
-- measured, that which ended last, that which was loaded last, that with most tokens, and the later row.
CREATE VIEW call_statements AS
WITH twice AS (
    SELECT hash(call_id) AS id FROM calls WHERE call_id IS NOT NULL GROUP BY id HAVING count(*) > 1
),
told AS (
    SELECT load_id, row_number, call_id, attempt, coalesce(requests, 1) AS requests, called_at, ended_at,
        coalesce(status = 'failed', false) AS failed, coalesce(contains(notes, 'output-lower-bound'), false) AS partial,
        reported_cost, cost_basis, reported_cost IS NULL AS no_cost,
        reported_cost IS NULL OR coalesce(cost_basis <> 'measured', true) AS not_measured,
        coalesce(list_sum([input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, cache_write_tokens,
            input_audio_tokens, cache_read_audio_tokens, input_image_tokens, cache_read_image_tokens,
            input_video_tokens]), 0) AS prompt,
        coalesce(list_sum([output_tokens, citation_tokens, output_audio_tokens, output_image_tokens, output_video_tokens]), 0)
            AS answer,
        list_count([input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, cache_write_tokens,
            output_tokens, reasoning_tokens]) AS known,
        -- Estimates of two sources differ by their price lists, and that contradicts nothing.
        CASE WHEN cost_basis = 'measured' THEN 'measured' ELSE reader END AS costed_by
    FROM calls JOIN loads USING (load_id)
    WHERE hash(call_id) IN (SELECT id FROM twice) AND NOT coalesce(contains(notes, 'repeats-children'), false)
),
costed AS (
    SELECT *, bool_or(spread) OVER (PARTITION BY call_id, attempt, requests, prompt, answer) AS differs FROM (
        SELECT *, coalesce(min(reported_cost) OVER costs < max(reported_cost) OVER costs, false) AS spread FROM told
        WINDOW costs AS (PARTITION BY call_id, attempt, requests, prompt, answer, costed_by)
    )
),
equal AS (
    SELECT *, row_number() OVER best AS place, first_value(load_id) OVER best AS first_load, first_value(row_number) OVER best AS first_row,
        first_value(reported_cost) OVER best AS first_cost, first_value(costed_by) OVER best AS first_by
    FROM costed
    WINDOW best AS (PARTITION BY call_id, attempt, requests, prompt, answer
        ORDER BY no_cost, cost_basis DESC NULLS LAST, CASE WHEN differs THEN ended_at END DESC NULLS LAST,
            CASE WHEN differs THEN load_id END DESC NULLS LAST, CASE WHEN differs THEN row_number END DESC NULLS LAST,
            known DESC, load_id, row_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
marked AS (
    SELECT *, coalesce(called_at > max(greatest(ended_at, called_at)) OVER (
        PARTITION BY call_id, attempt, requests, failed ORDER BY called_at NULLS LAST, ended_at
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) + INTERVAL 2 SECOND, false) AS begins
    FROM equal WHERE place = 1
),
parted AS (
    SELECT *, count(*) FILTER (begins) OVER (
        PARTITION BY call_id, attempt, requests, failed ORDER BY called_at NULLS LAST, ended_at
    ) AS part FROM marked
),
chosen AS (
    SELECT load_id, row_number, call_id, attempt, requests, failed, row_number() OVER best AS place,
        first_value(load_id) OVER best AS by_load_id, first_value(row_number) OVER best AS by_row_number,
        count(*) FILTER (begins) OVER (PARTITION BY call_id, attempt, requests, failed) AS others
    FROM parted
    WINDOW best AS (PARTITION BY call_id, attempt, requests, failed, part
        ORDER BY partial, not_measured, ended_at DESC NULLS LAST, load_id DESC, prompt + answer DESC, row_number DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
SELECT e.load_id, e.row_number, e.call_id, c.by_load_id, c.by_row_number,
    CASE WHEN c.place > 1 THEN 'superseded'
        WHEN e.place > 1 AND e.costed_by = e.first_by AND e.reported_cost <> e.first_cost THEN 'superseded'
        WHEN e.place > 1 THEN 'same'
        WHEN c.others > 0 THEN 'shared' END AS kind
FROM equal e JOIN chosen c ON c.load_id = e.first_load AND c.row_number = e.first_row;

-- Calls, each once. A span that repeats what its children state counts through them.
CREATE VIEW counted_calls AS
SELECT * FROM calls ANTI JOIN (SELECT load_id, row_number FROM call_statements WHERE kind IN ('same', 'superseded'))
    USING (load_id, row_number)
WHERE NOT coalesce(contains(notes, 'repeats-children'), false);
