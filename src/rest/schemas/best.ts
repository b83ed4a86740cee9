import { z } from 'zod';
import { BEST_EXCLUSIONS } from '../../shared/vocabulary.ts';
import { dateTime } from './common.ts';
import { chainIdNumber, decimalString, leverageString, pct, wholeNumber } from './numbers.ts';
import { limitReach } from './stress.ts';

const strategyName = {
  id: z.string().describe('Id of the strategy.'),
  chainId: chainIdNumber('The chain.'),
  collateralSymbol: z.string().describe('Symbol of the collateral.'),
  loanSymbol: z.string().describe('Symbol of the loan token.'),
};

export const bestStrategiesSchema = z
  .object({
    amountUsd: decimalString('Value of the payment, USD.'),
    holdingDays: wholeNumber('Days over which the costs are spread.', { min: 1 }),
    rankedCount: wholeNumber('Number of strategies that meet the request.'),
    excludedCount: wholeNumber('Number of strategies that do not.'),
    ranked: z
      .array(
        z
          .object({
            ...strategyName,
            leverage: leverageString(
              'Leverage with the best netApyPct from 1.1 to largestLeverage, 1 decimal; of equal results the least. The other figures are those of this leverage.',
            ),
            largestLeverage: leverageString(
              'Largest leverage by drawdown, safe LTV, liquidity and measured sizes of swaps, 1 decimal: the fall does not liquidate the position at any time until the exit.',
            ),
            isPositive: z
              .boolean()
              .describe(
                'Whether the result is above zero, before rounding; false = no leverage from 1.1 to largestLeverage earns its costs.',
              ),
            ltvPct: pct('LTV at this leverage.', { min: 0 }),
            netApyPct: pct(
              'Result of the holding time relative to the payment, per year and not compounded, after the own borrow, entry, exit and the yield fee.',
            ),
            positionApyPct: pct('Net APY on the equity at the rates after the own borrow, before costs.'),
            entryCostPct: pct(
              'Cost of entry relative to the payment: measured losses, referral fee at its full rate, deposit fee.',
              { min: 0 },
            ),
            exitCostPct: pct('Measured loss of selling all collateral, relative to the payment.'),
            yieldFeePct: pct('Yield fee of the contract, relative to the payment.', { min: 0 }),
            liquidationIn: limitReach
              .nullable()
              .describe(
                "Time to liquidation at the rates after the own borrow and today's price; null = a rate is not known.",
              ),
            ratesAsOf: dateTime('Time of the market state that rates, limits and liquidity come from.'),
            exitAsOf: dateTime('Time of the measured exits that costs come from.'),
          })
          .meta({ id: 'BestStrategy', description: 'A strategy at its best leverage that meets the request.' }),
      )
      .describe('By netApyPct, the highest first, those without a positive result last.'),
    excluded: z
      .array(
        z
          .object({
            ...strategyName,
            reason: z
              .enum(BEST_EXCLUSIONS)
              .describe(
                'NOT_LISTED, EQUITY_VAULT (not compared), PAY_TOKEN (unknown on its chain), MATURITY (days of maturity and of the end), PRICE_UNKNOWN, EXIT_UNKNOWN (size and largest measured size, USD), NO_ROUTE, EXIT_TOO_SMALL (clean and needed size, USD), DRAWDOWN (largest and least leverage), LIQUIDITY (lent and needed, USD).',
              ),
            value: z.string().nullable().describe('Value of the strategy; null = the reason has none.'),
            limit: z.string().nullable().describe('Limit that it misses; null = the reason has none.'),
          })
          .meta({ id: 'ExcludedStrategy', description: 'A strategy that does not meet the request.' }),
      )
      .describe('In catalog order.'),
  })
  .meta({ id: 'BestStrategies', description: 'Strategies for a payment, ranked, and those that were left out.' });
