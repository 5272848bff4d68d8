-- Periods that charges of some resources paid for. {placed} yields the selected charges.
SELECT DISTINCT {keys} charge_period_start, charge_period_end
FROM ({placed}) placed
WHERE {where}
ORDER BY ALL
