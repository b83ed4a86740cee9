import { z } from 'zod';
import { builder } from '../builder.ts';
import { ALLOW_UNSIMULATED, EXACT, SLIPPAGE } from '../transaction/leverage-inputs.ts';

const VAULT = 'Id of the vault: `equity-` + the id of its stock market.';
/** More loops than wallets have in practice; keeps one batch within a block. */
const MAX_LOOPS = 20;

export const EquityDepositInputRef = builder.inputType('EquityDepositInput', {
  description: 'A deposit into an equity vault.',
  fields: (t) => ({
    strategyId: t.field({ type: 'StrategyId', required: true, description: VAULT }),
    amount: t.field({
      type: 'Decimal',
      required: true,
      description: "Amount of the vault's deposit token, whole tokens. Never rounded.",
    }),
    stockLtvPct: t.field({
      type: 'Decimal',
      description:
        "LTV of the stock leg in percent; the vault's target when left out. At most 88 % of the liquidation LTV: more is refused.",
    }),
    maxSlippageBps: t.field({ type: 'Decimal', description: SLIPPAGE(100) }),
    maxSwapLossPct: t.field({
      type: 'Decimal',
      description:
        'Bound of the cost of all swaps and fees together, percent of the deposit, in place of the usual bounds of 1 % of the input of a swap and 2 % of the deposit. Up to 10.',
    }),
  }),
});

export const EquityExitInputRef = builder.inputType('EquityExitInput', {
  description: 'The exit from an equity vault.',
  fields: (t) => ({
    strategyId: t.field({ type: 'StrategyId', required: true, description: VAULT }),
    yieldPositionIds: t.field({
      type: ['PositionId'],
      description: `Ids of the yield loops to close with the stock leg, at most ${MAX_LOOPS}; nothing outside the list is closed. Left out: the loops that are known to belong to the vault. Required when \`yieldLoopMatch\` of the vault is \`AMBIGUOUS\`.`,
      validate: z.array(z.unknown()).max(MAX_LOOPS, `lists more than ${MAX_LOOPS} loops`).nullish(),
    }),
    maxSlippageBps: t.field({ type: 'Decimal', description: SLIPPAGE(100) }),
    maxSwapLossPct: t.field({
      type: 'Decimal',
      description:
        'Bound of the loss of all sales together, percent of the equity, in place of the usual bounds of 1 % of each sale and 5 % of the equity. Up to 100.',
    }),
    minAmountOut: t.field({
      type: 'Decimal',
      description: 'Least proceeds of all sales together, whole deposit tokens; debts are repaid out of it.',
    }),
    exact: t.boolean({ description: EXACT }),
    allowUnsimulated: t.boolean({ description: ALLOW_UNSIMULATED }),
  }),
});

export type DepositArgs = typeof EquityDepositInputRef.$inferInput;
export type ExitArgs = typeof EquityExitInputRef.$inferInput;
