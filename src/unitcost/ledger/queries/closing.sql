-- Billed cost per invoice, currency and billing period, with what leads from effective to billed.
WITH steps AS (
    SELECT
        coalesce(service_provider_name, invoice_issuer_name, publisher_name, '') AS provider,
        coalesce(billing_account_id, '') AS billing_account,
        coalesce(invoice_id, '') AS invoice_id,
        billing_currency AS currency,
        strftime(billing_period_start, '%Y-%m') AS billing_month,
        coalesce(billed_cost, 0) AS billed,
        coalesce(effective_cost, 0) AS effective,
        coalesce({step}, 'none') AS step
    FROM charges
    WHERE {range}
)
SELECT provider, billing_account, invoice_id, currency, billing_month, step,
    sum(billed), sum(effective), count(*)
FROM steps
GROUP BY ALL
ORDER BY ALL
