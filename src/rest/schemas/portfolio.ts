import { z } from 'zod';
import { addressString, dateTime, marketIdString } from './common.ts';
import { readMeta } from './fresh-reads.ts';
import { chainIdNumber, decimalString, pct, wholeNumber } from './numbers.ts';
import { exactUsd, pnlSchema } from './pnl.ts';
import { equityPositionSchema, positionSchema } from './position.ts';

const count = (what: string) => wholeNumber(`Number of ${what}.`);

const registeredSchema = z
  .object({
    isOpen: z.boolean().describe('Whether the row has it as open.'),
    depositedUsd: exactUsd('Deposit at the opening.'),
    addedUsd: exactUsd('Later deposits.'),
    removedUsd: exactUsd('Withdrawals before the closing.'),
    returnedUsd: exactUsd('Withdrawal at the closing.'),
    collateralApyPctAtOpen: pct('APY of the collateral at the opening.').nullable(),
    borrowApyPctAtOpen: pct('Borrow APY at the opening.').nullable(),
    leverageApyPctAtOpen: pct('Leveraged APY at the opening.').nullable(),
    desiredLtvPct: pct('Requested LTV.').nullable(),
    entryPrice: decimalString('Price at the opening as registered, loan tokens per collateral token.', {}).nullable(),
    exitPrice: decimalString('Price at the closing as registered, loan tokens per collateral token.', {}).nullable(),
    equityVaultId: z.string().nullable().describe('Equity vault of this yield loop.'),
    createdAt: dateTime('Time of the registration; a future time is returned as now.'),
    updatedAt: dateTime('Latest change of the row; a future time is returned as now.'),
    closedAt: dateTime('Time of the registered closing; null = none, or a future time.').nullable(),
  })
  .meta({ id: 'Registration', description: 'A row of the register; null = not provided by the app.' });

export const driftKind = z.enum(['no_db_row', 'db_open_chain_closed', 'db_closed_chain_open']);
export const driftSeverity = z.enum(['high', 'medium', 'low']);
const statusSchema = z.enum(['open', 'closed', 'liquidated']).describe('Status on chain.');

const driftSchema = z
  .object({
    kind: driftKind.describe('Kind of disagreement.'),
    severity: driftSeverity.describe('Urgency.'),
    message: z.string().describe('The problem and the next step, in a sentence.'),
    firstSeen: dateTime('First sighting by the service.'),
    lastSeen: dateTime('Time of the reading that shows it.').optional(),
    earlier: z
      .array(
        z.object({
          firstSeen: dateTime('First reading with it.'),
          lastSeen: dateTime('Last reading with it.'),
          goneAt: dateTime('First reading without it.'),
        }),
      )
      .max(10)
      .optional()
      .describe('Earlier times over which the position had the same disagreement, the latest first.'),
    suggestedSql: z
      .string()
      .nullable()
      .optional()
      .describe(
        'SQL for an operator that brings the row in line with the chain; the service never runs it. A missing row needs the psql variable deposited_usd. null = none can be suggested.',
      ),
    chain: z
      .object({
        status: statusSchema,
        blockNumber: z.string().describe('Block at which the chain was read.'),
        blockTime: dateTime('Time of the block.'),
        proxy: addressString('Contract that holds the position.'),
        collateral: decimalString('Whole tokens.').optional(),
        debt: decimalString('Whole tokens.').optional(),
        netValueUsd: decimalString(
          'Collateral less debt, USD rounded to 2 places, negative under water. pnl.netValueUsd of the loop is exact, and 0 under water.',
          {},
        ).optional(),
      })
      .describe('State on the chain.'),
    database: z
      .object({
        isOpen: z.boolean().describe('Whether the row has it as open.'),
        depositedUsd: exactUsd('Sum of deposits.'),
        returnedUsd: exactUsd('Sum of withdrawals.'),
        createdAt: dateTime('Time of the registration; a future time is returned as now.'),
        updatedAt: dateTime('Latest change of the row; a future time is returned as now.'),
        closedAt: dateTime('Time of the registered closing; null = none, or a future time.').nullable(),
      })
      .nullable()
      .describe('null = no row.'),
  })
  .meta({ id: 'Drift', description: 'A disagreement between register and chain, with both sides.' });

const dbDrift = driftKind.nullable().describe('Disagreement between register and chain; null = none.');

export const loopSchema = positionSchema
  .omit({ freshness: true, manualModeCalls: true })
  .extend({
    proxy: addressString('Contract of the position.'),
    collateralUsd: decimalString('Collateral, USD.').optional(),
    debtUsd: decimalString('Debt, USD.').optional(),
    amountReturnedInLoanToken: decimalString(
      'Payout of closings, partial ones included, whole loan tokens.',
    ).optional(),
    pnl: pnlSchema,
    registered: registeredSchema.nullable().describe('Its row; null = none.'),
    dbDrift,
    drift: driftSchema.optional(),
  })
  .meta({ id: 'PortfolioPosition', description: 'A position with its register row.' });

export const vaultSchema = equityPositionSchema
  .omit({ freshness: true })
  .partial({ curator: true, stock: true, yieldLoopMatch: true })
  .extend({
    status: statusSchema,
    stockSymbol: z.string().optional().describe('Symbol of the stock.'),
    yieldLoops: z.array(loopSchema).describe('Loops of the vault, newest first.'),
    pnl: pnlSchema,
    dbDrift,
  })
  .meta({ id: 'PortfolioVault', description: 'An equity vault; the legs are absent after its end.' });

export const portfolioEntry = z
  .object({
    address: addressString('The wallet, checksummed.'),
    chainId: chainIdNumber('The chain.'),
    meta: readMeta,
    failure: z
      .object({
        reason: z.string().describe('Why.'),
        message: z.string().describe('The problem and the next step, in a sentence.'),
      })
      .optional()
      .describe('Present when this wallet could not be read; all other data is then absent.'),
    header: z
      .object({
        totalDepositedUsd: exactUsd('Deposits of all open positions; absent while one is unknown.').optional(),
        openCount: count('open loops and vaults'),
      })
      .optional()
      .describe('Totals of open positions.'),
    pnl: pnlSchema.optional().describe('Sums over the wallet.'),
    leftAuthorizations: z
      .array(addressString('Router.'))
      .optional()
      .describe('Routers that may still act on its own lending positions after an incomplete batch; absent = unknown.'),
    positions: z.array(loopSchema).optional().describe('Open plain loops, newest first.'),
    equityPositions: z.array(vaultSchema).optional().describe('Open equity vaults.'),
    closed: z
      .array(
        z.union([
          loopSchema
            .extend({ kind: z.literal('position').describe('A plain loop.') })
            .meta({ id: 'ClosedPosition', description: 'An ended plain loop.' }),
          vaultSchema
            .extend({ kind: z.literal('equity').describe('An equity vault.') })
            .meta({ id: 'ClosedVault', description: 'An ended equity vault.' }),
        ]),
      )
      .optional()
      .describe('Closed or liquidated positions, newest first; a closed vault is one entry.'),
    unresolved: z
      .array(
        z.object({
          reason: z
            .enum(['market_not_configured', 'no_chain_position', 'chain_mismatch'])
            .describe('Reason for the missing position.'),
          message: z.string().describe('The problem and the next step, in a sentence.'),
          marketId: marketIdString('Market of the row.'),
          positionIndex: wholeNumber('Index of the position on chain, as registered.'),
          registered: registeredSchema,
        }),
      )
      .optional()
      .describe('Rows of the register without a position on chain.'),
  })
  .meta({ id: 'Portfolio', description: 'All positions of a wallet on one chain.' });

export const opsPortfolios = z
  .object({
    chainId: chainIdNumber('The chain.'),
    asOf: dateTime('Time of the block of the reading.'),
    stale: z.boolean().describe('Older than 60 seconds.'),
    degraded: z.boolean().describe('The latest recompute failed: these are the last good numbers.'),
    computedAt: dateTime('Time of the computation.'),
    counts: z
      .object({
        users: count('wallets'),
        open: count('open plain loops'),
        equity: count('open equity vaults'),
        closed: count('ended loops and vaults'),
        unresolved: count('rows without a position on chain'),
        drift: count('disagreements between register and chain'),
        failed: count('wallets that could not be read'),
      })
      .describe('Counts.'),
    users: z.array(portfolioEntry).describe('All wallets, ordered by address.'),
  })
  .meta({ id: 'Portfolios', description: 'Every wallet of a chain.' });
