import { builder } from '../builder.ts';

const CHAIN = 'A chain with equity vaults; where the vault is when left out.';
const VAULT = 'Vault id from the strategies: `equity-` + the id of its stock market.';
const AMOUNT = "How much of the vault's deposit token, whole tokens. Never rounded.";
const LTV =
  "LTV of the stock leg in percent; the vault's target when left out. At most 88 % of the liquidation LTV: more is refused.";
const SLIPPAGE = 'Ratio, 0.01 when left out; more than 0.01 is capped, zero and less are refused.';

const LOSS =
  'What all swaps and fees may cost together, percent of the deposit, in place of the usual bounds of 1 % of what a swap takes in and 2 % of the deposit. Up to 10.';
const LOSS_EXIT =
  'What all sales may lose together, percent of the equity, in place of the usual bound of 1 % of what is sold. Up to 50.';

export const EquityPreviewInputRef = builder.inputType('EquityPreviewInput', {
  description: 'What to deposit.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: CHAIN }),
    strategyId: t.field({ type: 'StrategyId', required: true, description: VAULT }),
    amount: t.field({ type: 'Decimal', required: true, description: AMOUNT }),
    stockLtvPct: t.field({ type: 'Decimal', description: LTV }),
    slippage: t.field({ type: 'Decimal', description: SLIPPAGE }),
    maxSwapLossPct: t.field({ type: 'Decimal', description: LOSS }),
  }),
});

export const DepositEquityInputRef = builder.inputType('DepositEquityInput', {
  description: 'What to deposit, and who signs.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: CHAIN }),
    strategyId: t.field({ type: 'StrategyId', required: true, description: VAULT }),
    amount: t.field({ type: 'Decimal', required: true, description: AMOUNT }),
    stockLtvPct: t.field({ type: 'Decimal', description: LTV }),
    slippage: t.field({ type: 'Decimal', description: SLIPPAGE }),
    maxSwapLossPct: t.field({ type: 'Decimal', description: LOSS }),
    userAddress: t.field({
      type: 'Address',
      required: true,
      description: 'The wallet that signs: the stock leg and the yield loop are opened for it.',
    }),
  }),
});

export const ExitEquityInputRef = builder.inputType('ExitEquityInput', {
  description: 'Which vault to leave, and who signs.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: CHAIN }),
    strategyId: t.field({ type: 'StrategyId', required: true, description: VAULT }),
    userAddress: t.field({
      type: 'Address',
      required: true,
      description: 'The wallet that owns the vault and signs.',
    }),
    yieldPositionIds: t.intList({
      description:
        "Yield loops to close with the stock leg; nothing outside the list is closed. Left out: the loops that are known to be the vault's. Required when their match is `ambiguous`.",
    }),
    slippage: t.field({ type: 'Decimal', description: SLIPPAGE }),
    maxSwapLossPct: t.field({ type: 'Decimal', description: LOSS_EXIT }),
    minAmountOut: t.field({
      type: 'Decimal',
      description: 'The least that all sales together may give, whole deposit tokens; debts are repaid out of it.',
    }),
    allowUnsimulated: t.boolean({
      description:
        'Whether the batch is built without having been tried out where no node of the chain can do that; it then carries the issue `NOT_SIMULATED`.',
    }),
  }),
});
