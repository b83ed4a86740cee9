import { z } from 'zod';
import { addressString, dateTime } from '../common.ts';
import { chainIdNumber, decimalString, largeNumber, wholeNumber } from '../numbers.ts';
import { exactUsd } from '../pnl.ts';

const EVENT_KINDS = [
  'opened',
  'supplied',
  'withdrawn',
  'repaid',
  'borrowed',
  'increased',
  'partly_closed',
  'closed',
  'liquidated',
] as const;

const signed = (description: string) => decimalString(description, {});
const eventAmounts = z
  .object({
    collateral: decimalString('Whole collateral tokens.'),
    loan: decimalString('Whole loan tokens.'),
  })
  .meta({ id: 'PositionEventAmounts', description: 'Amounts of both tokens of a market.' });
const amounts = (description: string) =>
  eventAmounts.optional().describe(`${description} Absent where the transfers of the transaction do not explain it.`);

const positionEvent = z
  .object({
    kind: z.enum(EVENT_KINDS).describe('Kind of the event.'),
    at: dateTime('Time of the block.'),
    blockNumber: largeNumber('Number of the block.'),
    txHash: z
      .string()
      .regex(/^0x[0-9a-f]{64}$/)
      .describe('Hash of the transaction.'),
    logIndex: wholeNumber('Number of its first event within the block.'),
    collateralChange: signed('Change of the collateral, whole tokens.'),
    debtChange: signed('Borrowed less repaid, whole loan tokens, without interest.'),
    collateralAfter: signed('Collateral after it, whole tokens, of the known events only.'),
    debtAfter: signed('Debt with interest after it, whole loan tokens; absent = not known.').optional(),
    paid: amounts('Paid by the owner, or by another account on its behalf, fee included.'),
    paidBy: z
      .enum(['owner', 'other', 'unknown'])
      .nullable()
      .describe(
        'The payer; other: another account than the owner; unknown: the transaction does not show it; null: nothing was paid, or the transfers do not explain what.',
      ),
    received: amounts('Received by the owner.'),
    fee: amounts('Fee of the contract.'),
    oraclePrice: decimalString(
      'Loan tokens per collateral token at the end of the block; absent = not known.',
    ).optional(),
  })
  .meta({ id: 'PositionEvent', description: 'An event of a position.' });

const equityPoint = z
  .object({
    at: dateTime('The time.'),
    equity: signed('Collateral less debt at the oracle price of the time, whole loan tokens.'),
    equityUsd: signed('The same in USD at the price of the loan token of now; absent = unknown.').optional(),
    collateral: decimalString('Collateral, whole tokens.'),
    debt: decimalString('Debt with interest, whole loan tokens.'),
  })
  .meta({ id: 'PositionEquityPoint', description: 'Equity of a position at a time.' });

const splitAmount = z
  .object({
    amount: signed('Whole loan tokens, exact to the base unit.'),
    usd: signed('USD at the price of the loan token of now; absent = unknown.').optional(),
  })
  .meta({ id: 'PnlSplitAmount', description: 'A part of a profit and loss.' });
const part = (description: string) => splitAmount.optional().describe(`${description} Absent = not known, see gaps.`);

const gapRow = z
  .object({
    field: z.string().describe('The field.'),
    reason: z.string().describe('NOT_MEASURED, SOURCE_FAILED, IMPLAUSIBLE: unknown.'),
    message: z.string().describe('One plain sentence.'),
  })
  .meta({ id: 'PositionHistoryGap', description: 'The reason for a missing value.' });

const pnlSplit = z
  .object({
    yield: part('Yield of the collateral.'),
    borrowCost: part('Interest of the debt.'),
    price: part("Change of the oracle's price of the collateral beyond its yield."),
    incentives: part('Incentives of the market by its recorded campaigns; not part of result.'),
    fees: part('Fees that the contract has taken.'),
    slippage: part("Loss of swaps against the oracle's price of their block."),
    liquidation: part('Loss of liquidations, less bad debt, which no borrower has to repay.'),
    paidByOthers: part('Payments of other accounts for the position: a gain of the owner.'),
    yieldAndPrice: part('yield and price together.'),
    paid: part('Paid in by the owner.'),
    paidDirectly: part('The part of paid that the owner paid to the lending protocol directly; pnl does not have it.'),
    received: part('Paid out to the owner.'),
    netValue: part('Collateral less debt now.'),
    result: part('received and netValue less paid.'),
    total: part('result and incentives: the sum of the eight parts.'),
    gaps: z.array(gapRow).describe('Reasons of the absent parts.'),
  })
  .meta({ id: 'PnlSplit', description: 'Profit and loss by its parts, in loan tokens; costs are negative.' });

const pnlDifference = z
  .object({
    paidDirectlyUsd: exactUsd('Paid by the owner to the lending protocol directly; absent = see gaps.').optional(),
    recordUsd: exactUsd(
      'Payments that the contract has recorded otherwise: fees of deposits, withdrawals and loans beyond the deposits, payments of others through the router, amounts taken out of the lending protocol directly, rounding; absent = see gaps.',
    ).optional(),
    incentivesUsd: exactUsd(
      'Incentives on the amounts of now over the registered life, as in pnl, less those on the amounts of each time; absent = see gaps.',
    ).optional(),
    gaps: z.array(gapRow).describe('Reasons of the absent values.'),
  })
  .meta({
    id: 'PnlDifference',
    description:
      'Excess of pnl of the positions row over pnlSplit: pnl.baseResultUsd is pnlSplit.result.usd, paidDirectlyUsd and recordUsd; pnl.totalUsd is pnlSplit.total.usd and all three.',
  });

const past = {
  completeFrom: dateTime('Time from which no event is missing; absent = no block was read yet.').optional(),
  completeFromBlock: wholeNumber('Number of that block.').optional(),
  readTo: z
    .object({ blockNumber: largeNumber('Number of the block.'), blockTime: dateTime('Its time.') })
    .meta({ id: 'ReadToBlock', description: 'The newest block that was read.' })
    .optional()
    .describe('The newest block that was read; absent = none yet.'),
  complete: z.boolean().describe('Whether the events are all from the opening until now.'),
  count: wholeNumber('Number of events, on all pages.'),
  next: z.string().nullable().describe('Send it as "after" for the next page; null = this is the last one.'),
  events: z.array(positionEvent).describe('Oldest first.'),
  equity: z.array(equityPoint).describe('At events, at hourly samples and now, oldest first.'),
  pnlSplit: pnlSplit
    .optional()
    .describe('Profit and loss by its parts; absent = the market is not known, or not measured yet.'),
  gaps: z.array(gapRow).describe('Reasons of absent values, and why the events are not complete.'),
};

export const positionHistoryBody = z
  .object({
    chainId: chainIdNumber('The chain.'),
    address: addressString('The owner, checksummed.'),
    id: wholeNumber('Index of the position on chain.'),
    positionId: z.string().describe('{chainId}-{marketId}-{id}.'),
    status: z.enum(['open', 'closed', 'liquidated']).describe('State of the position.'),
    ...past,
    pnlDifference: pnlDifference
      .optional()
      .describe(
        'Excess of pnl of the positions row over pnlSplit; absent = the market is not known, or not measured yet.',
      ),
  })
  .meta({ id: 'PositionHistory', description: 'Recorded events, equity and profit and loss of a position.' });

export const stockLegHistoryBody = z
  .object({
    chainId: chainIdNumber('The chain.'),
    address: addressString('The owner, checksummed.'),
    strategyId: z.string().describe('Id of the vault.'),
    open: z.boolean().describe('Whether the wallet has stock or debt in it now.'),
    stockSymbol: z.string().describe('The stock: the collateral of the events.'),
    depositSymbol: z.string().describe('The token that is borrowed: the loan token of the events.'),
    ...past,
  })
  .meta({
    id: 'StockLegHistory',
    description: 'Recorded events, equity and profit and loss of the stock leg of a vault.',
  });

export const walletStatement = z
  .object({
    address: addressString('The wallet, checksummed.'),
    csv: z
      .string()
      .describe(
        'Every event of its positions by RFC 4180, with a header, oldest first. Texts that a spreadsheet would run begin with an apostrophe.',
      ),
  })
  .meta({ id: 'WalletStatement', description: 'The statement of a wallet as CSV.' });
