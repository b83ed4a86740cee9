import { z } from 'zod';
import { decimalString, type NumberRange, pct } from './numbers.ts';

export const exactUsd = (description: string, range: NumberRange = {}) =>
  decimalString(`${description} Exact USD, decimal string.`, range);

export const pnlSchema = z
  .object({
    depositedUsd: exactUsd('Sum of deposits.').optional(),
    returnedUsd: exactUsd('Sum of withdrawals.').optional(),
    netValueUsd: exactUsd(
      'Present value; 0 after its end, and while the debt exceeds the collateral value.',
    ).optional(),
    badDebtUsd: exactUsd('Debt beyond the collateral, which no borrower has to pay.', { min: 0 }).optional(),
    divergentUsd: exactUsd(
      'The part of the net value that depends on an oracle far from its reference, see warnings of the position.',
    ).optional(),
    baseResultUsd: exactUsd(
      'Net value + returned - deposited; also absent if a part was sold before, because the chain does not keep its share of the deposit.',
    ).optional(),
    incentivesUsd: exactUsd('Accrued by incentives over its registered life; not part of the net value.').optional(),
    totalUsd: exactUsd('Base result + incentives, before the fee of closing open positions.').optional(),
    yieldFeeUsd: exactUsd('Yield fee of closing all open positions today.', { min: 0 }).optional(),
    baseResultAfterFeeUsd: exactUsd('Base result - yield fee.').optional(),
    totalAfterFeeUsd: exactUsd('Total - yield fee.').optional(),
    returnOnEquityPct: pct('Total over deposited; null = nothing was deposited.').nullable().optional(),
  })
  .meta({ id: 'Pnl', description: 'Profit and loss. An unknown value is absent.' });
