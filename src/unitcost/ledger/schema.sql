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

-- Calls, each once. Rows of one id and attempt that state as many tokens of input and of output are one call, in
-- whichever convention: the row counts that has a reported cost, then that which knows most classes, then the first.
-- A span that repeats what its children state counts through them.
CREATE VIEW counted_calls AS
WITH twice AS (
    SELECT hash(call_id) AS id FROM calls WHERE call_id IS NOT NULL GROUP BY id HAVING count(*) > 1
),
stated AS (
    SELECT load_id, row_number, call_id, attempt, requests, reported_cost IS NULL AS no_cost, cost_basis,
        list_sum([input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, cache_write_tokens,
            input_audio_tokens, cache_read_audio_tokens, input_image_tokens, cache_read_image_tokens,
            input_video_tokens]) AS prompt,
        list_sum([output_tokens, citation_tokens, output_audio_tokens, output_image_tokens, output_video_tokens]) AS answer,
        list_count([input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, cache_write_tokens,
            output_tokens, reasoning_tokens]) AS known
    FROM calls WHERE hash(call_id) IN (SELECT id FROM twice) AND NOT coalesce(contains(notes, 'repeats-children'), false)
),
again AS (
    SELECT load_id, row_number FROM stated QUALIFY row_number() OVER (
        PARTITION BY call_id, attempt, coalesce(requests, 1), coalesce(prompt, 0), coalesce(answer, 0)
        ORDER BY no_cost, cost_basis DESC NULLS LAST, known DESC, load_id, row_number
    ) > 1
)
SELECT * FROM calls ANTI JOIN again USING (load_id, row_number)
WHERE NOT coalesce(contains(notes, 'repeats-children'), false);
