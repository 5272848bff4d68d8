-- Commitment discounts: what was bought, used and left unused in the range.
SELECT
    commitment_discount_id, billing_currency,
    coalesce(sum(billed_cost) FILTER (WHERE charge_category = 'Purchase'), 0),
    coalesce(sum(effective_cost) FILTER (
        WHERE charge_category <> 'Purchase' AND coalesce(commitment_discount_status, 'Used') <> 'Unused'), 0),
    coalesce(sum(effective_cost) FILTER (WHERE commitment_discount_status = 'Unused'), 0),
    coalesce(sum(list_cost) FILTER (
        WHERE charge_category <> 'Purchase' AND coalesce(commitment_discount_status, 'Used') <> 'Unused'), 0),
    strftime(min(charge_period_start), '%Y-%m-%dT%H:%M:%SZ'), strftime(max(charge_period_end), '%Y-%m-%dT%H:%M:%SZ')
FROM charges
WHERE commitment_discount_id IS NOT NULL AND {range}
GROUP BY ALL
ORDER BY ALL
