import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../shared/errors.ts';
import { AFFORDABILITIES, DELEVERAGE_ACTIONS, DELEVERAGE_REASONS } from '../../../shared/vocabulary.ts';
import { addressString, pricedAtSchema } from '../common.ts';
import { chainIdNumber, decimalString, jsonNumber, pct, wholeNumber } from '../numbers.ts';
import { borrowApy, issueList, simulatedGas } from '../plan.ts';
import { positionPreview } from '../transactions.ts';

const deleverageStep = z
  .object({
    action: z.enum(DELEVERAGE_ACTIONS).describe('The action of manage/build.'),
    amount: decimalString(
      'Amount to pay or to sell, whole tokens, with the interest until the plan expires. With fromProceeds the expected one: send the real proceeds of the step before.',
    ),
    token: addressString('Token of the amount: the payToken, except of a sale.'),
    symbol: z.string().describe('Its symbol.'),
    full: z.boolean().describe('Whether the whole debt is repaid: send full: true without an amount.'),
    fromProceeds: z.boolean().describe('Whether it is paid with the proceeds of the step before.'),
    simulatedGas,
  })
  .meta({ id: 'DeleverageStep', description: 'One transaction of an option, built when the one before is mined.' });

export const deleveragePreview = z
  .object({
    positionPreview: positionPreview.describe('The position after all steps, and the costs of all of them.'),
    borrowApy,
    issues: issueList,
    slippage: jsonNumber('The effective slippage, a ratio.', { above: 0, max: 0.01 }),
    note: z.string().describe('The same in sentences; empty = nothing to add.'),
  })
  .meta({ id: 'DeleveragePreview', description: 'Result of all steps of an option.' });

export const deleverageOption = z
  .object({
    action: z
      .enum(DELEVERAGE_ACTIONS)
      .describe(
        'repay: with loan tokens of the wallet. add_collateral: with collateral of the wallet. close: sell a part of the collateral and repay with the proceeds.',
      ),
    steps: z
      .array(deleverageStep)
      .describe(
        "The transactions in order; sized at the oracle's price with unavailable, empty if no amount is enough.",
      ),
    affordability: z
      .enum(AFFORDABILITIES)
      .describe(
        'Whether the wallet holds the payment. nothing_to_pay: the collateral of the position pays. unknown: the balance could not be read.',
      ),
    walletBalance: decimalString(
      'Balance of the wallet in the token that it pays with, whole tokens; null = it pays nothing, absent = it could not be read.',
    )
      .nullable()
      .optional(),
    costUsd: decimalString(
      'All costs of all steps, USD; gas is not counted, see gasUsd. Null = not possible now, absent = a cost has no price.',
      {},
    )
      .nullable()
      .optional(),
    simulatedGas,
    gasUsd: decimalString(
      "simulatedGas at the node's present gas price, USD with 4 decimals: an estimate, without the fee that a rollup takes for its data. Null = not possible now, absent = a factor is unknown.",
      {},
    )
      .nullable()
      .optional(),
    preview: deleveragePreview.nullable().describe('Costs and result; null = not possible now.'),
    unavailable: z
      .object({
        code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]).describe('Code of the error.'),
        message: z.string().describe('The reason and the next step.'),
        retryable: z.boolean().describe('Whether it may be possible later without a change.'),
      })
      .meta({ id: 'DeleverageUnavailable', description: 'Why an option is not possible now.' })
      .nullable()
      .describe('The reason for which it is not possible now; null = it is.'),
  })
  .meta({ id: 'DeleverageOption', description: 'One way to bring a position down to the target.' });

const underWater = z
  .object({
    code: z.enum(DELEVERAGE_REASONS).describe('Always under_water.'),
    debt: decimalString('The debt, whole loan tokens.'),
    collateralValue: decimalString("Value of the collateral at the oracle's price, whole loan tokens."),
    excess: decimalString('Debt above that value, whole loan tokens: the part of a payment that is lost.'),
    excessUsd: decimalString(
      'The excess in USD, part of costUsd of an option that pays in; absent = not priced.',
      {},
    ).optional(),
    message: z.string().describe('The state, its amounts and what a payment would lose, in sentences.'),
  })
  .meta({ id: 'PositionUnderWater', description: 'A debt above the value of its collateral.' });

const cheapest = (which: string) => z.enum(DELEVERAGE_ACTIONS).nullable().describe(`${which} null = none.`);

export const deleverageOptionsBody = z
  .object({
    chainId: chainIdNumber('The chain.'),
    address: addressString('The wallet.'),
    id: wholeNumber('Index of the position on chain.'),
    positionId: z.string().describe('`{chainId}-{marketId}-{id}`.'),
    strategyId: z.string().describe('Id of the strategy.'),
    needed: z.boolean().describe('Whether the position is above the target. If not, options is empty.'),
    ltvPct: pct('The present LTV, 2 decimals, rounded up.', { min: 0 }),
    targetLtvPct: pct('The LTV at or below which every option ends.', { min: 0 }),
    safeLtvPct: pct('The highest LTV of builds, and the default target.', { min: 0 }),
    maxLtvPct: pct('The highest LTV of the contracts, and the highest target.', { min: 0 }),
    liquidationLtvPct: pct('The liquidation LTV.', { min: 0 }),
    excessDebt: decimalString('Debt above the target LTV, whole loan tokens; 0 = none.'),
    cheapest: cheapest('The cheapest option that is possible now;'),
    cheapestAffordable: cheapest('The cheapest option that is possible now and that the wallet can pay for;'),
    underWater: underWater.nullable().describe('The debt above the value of the collateral; null = there is none.'),
    readAt: pricedAtSchema,
    options: z
      .array(deleverageOption)
      .describe(
        'The cheapest first, of equal costs the one that takes less from the wallet; then those of unknown cost, then those that are not possible now.',
      ),
  })
  .meta({ id: 'DeleverageOptions', description: 'The options for a position that is above an LTV.' });
