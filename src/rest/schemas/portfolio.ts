import { z } from 'zod';
import { addressString, dateTime, decimalString, marketIdString, pct } from './common.ts';
import { equityPositionSchema, positionSchema } from './position.ts';

const exactUsd = (description: string) => decimalString(`${description} Exact USD, decimal string.`);
const count = (description: string) => z.int().min(0).describe(description);

const pnlSchema = z
  .object({
    depositedUsd: exactUsd('All that was put in.').optional(),
    returnedUsd: exactUsd('All that was taken out.').optional(),
    netValueUsd: exactUsd(
      'What is left now; 0 once it has ended, and while it owes more than its collateral is worth.',
    ).optional(),
    badDebtUsd: exactUsd('What its loans owe beyond their collateral, which nobody has to pay.').optional(),
    divergentUsd: exactUsd(
      'The part of the net value that stands on an oracle far from what it can be compared with, see warnings of the position.',
    ).optional(),
    baseResultUsd: exactUsd(
      'Net value + returned - deposited; absent also where a part was sold before: what of the deposit went with it is not kept on chain.',
    ).optional(),
    incentivesUsd: exactUsd('Accrued by incentives over its registered life; not part of the net value.').optional(),
    totalUsd: exactUsd('Base result + incentives, before the fee of closing what is open.').optional(),
    yieldFeeUsd: exactUsd('What closing everything that is open would pay as yield fee today.').optional(),
    baseResultAfterFeeUsd: exactUsd('Base result - yield fee.').optional(),
    totalAfterFeeUsd: exactUsd('Total - yield fee.').optional(),
    returnOnEquityPct: pct('Total over deposited; null = nothing was deposited.').nullable().optional(),
  })
  .meta({ id: 'Pnl', description: 'What something has brought. What is not known is absent.' });

const registeredSchema = z
  .object({
    isOpen: z.boolean().describe('Whether the row says that it is open.'),
    depositedUsd: exactUsd('Put in when it was opened.'),
    addedUsd: exactUsd('Put in later.'),
    removedUsd: exactUsd('Taken out while it was open.'),
    returnedUsd: exactUsd('Taken out when it was closed.'),
    collateralApyPctAtOpen: pct('APY of the collateral at the opening.').nullable(),
    borrowApyPctAtOpen: pct('Borrow APY at the opening.').nullable(),
    leverageApyPctAtOpen: pct('Leveraged APY at the opening.').nullable(),
    desiredLtvPct: pct('LTV asked for.').nullable(),
    entryPrice: decimalString('Price at the opening.').nullable(),
    exitPrice: decimalString('Price at the closing.').nullable(),
    equityVaultId: z.string().nullable().describe('Equity vault that it is the yield loop of.'),
    createdAt: dateTime('When it was registered; a time that lies ahead is shown as now.'),
    updatedAt: dateTime('Latest change of the row; a time that lies ahead is shown as now.'),
    closedAt: dateTime('When it was registered as closed; null = it was not, or at a time that lies ahead.').nullable(),
  })
  .meta({ id: 'Registration', description: 'A row of the register; null = the app did not say.' });

const driftKind = z.enum(['no_db_row', 'db_open_chain_closed', 'db_closed_chain_open']);
const statusSchema = z.enum(['open', 'closed', 'liquidated']).describe('Where it stands on chain.');

const driftSchema = z
  .object({
    kind: driftKind.describe('How they disagree.'),
    severity: z.enum(['high', 'medium', 'low']).describe('How soon to look at it.'),
    message: z.string().describe('What it is and what to do, in a sentence.'),
    firstSeen: dateTime('When the service first met it.'),
    chain: z
      .object({
        status: statusSchema,
        blockNumber: z.string().describe('Block at which the chain was read.'),
        blockTime: dateTime('Time of the block.'),
        proxy: addressString('Contract that holds the position.'),
        collateral: decimalString('Whole tokens.').optional(),
        debt: decimalString('Whole tokens.').optional(),
        netValueUsd: decimalString('USD.').optional(),
      })
      .describe('What the chain says.'),
    database: z
      .object({
        isOpen: z.boolean().describe('Whether the row says that it is open.'),
        depositedUsd: exactUsd('All that was put in.'),
        returnedUsd: exactUsd('All that was taken out.'),
        createdAt: dateTime('When it was registered; a time that lies ahead is shown as now.'),
        updatedAt: dateTime('Latest change of the row; a time that lies ahead is shown as now.'),
        closedAt: dateTime(
          'When it was registered as closed; null = it was not, or at a time that lies ahead.',
        ).nullable(),
      })
      .nullable()
      .describe('null = there is no row.'),
  })
  .meta({ id: 'Drift', description: 'Where the register and the chain disagree, with both sides.' });

const dbDrift = driftKind.nullable().describe('How register and chain disagree; null = they agree.');

const loopSchema = positionSchema
  .omit({ freshness: true, manualModeCalls: true })
  .extend({
    proxy: addressString('Contract that holds it.'),
    collateralUsd: decimalString('Collateral, USD.').optional(),
    debtUsd: decimalString('Debt, USD.').optional(),
    amountReturnedInLoanToken: decimalString(
      'What closing, of a part too, has paid out, whole loan tokens.',
    ).optional(),
    pnl: pnlSchema,
    registered: registeredSchema.nullable().describe('Its row; null = there is none.'),
    dbDrift,
    drift: driftSchema.optional(),
  })
  .meta({ id: 'PortfolioPosition', description: 'A position with what the register knows of it.' });

const vaultSchema = equityPositionSchema
  .omit({ freshness: true })
  .partial({ curator: true, stock: true, yieldLoopMatch: true })
  .extend({
    status: statusSchema,
    stockSymbol: z.string().optional().describe('Symbol of the stock.'),
    yieldLoops: z.array(loopSchema).describe('Loops of the vault, newest first.'),
    pnl: pnlSchema,
    dbDrift,
  })
  .meta({ id: 'PortfolioVault', description: 'An equity vault; the legs are absent once it has ended.' });

export const portfolioEntry = z
  .object({
    address: addressString('The wallet, checksummed.'),
    chainId: z.int().describe('The chain.'),
    failure: z
      .object({
        reason: z.string().describe('Why.'),
        message: z.string().describe('What it is and what to do, in a sentence.'),
      })
      .optional()
      .describe('Present when this wallet cannot be told: then nothing else is there.'),
    header: z
      .object({
        totalDepositedUsd: exactUsd('Deposits of everything open; absent while one is not known.').optional(),
        openCount: count('Open loops and vaults.'),
      })
      .optional()
      .describe('Totals of what is open.'),
    pnl: pnlSchema.optional().describe('Sums over everything of the wallet.'),
    leftAuthorizations: z
      .array(addressString('Router.'))
      .optional()
      .describe('Routers that may still act on its own lending positions: a batch was broken off; absent = not known.'),
    positions: z.array(loopSchema).optional().describe('Open plain loops, newest first.'),
    equityPositions: z.array(vaultSchema).optional().describe('Open equity vaults.'),
    closed: z
      .array(
        z.union([
          loopSchema.extend({ kind: z.literal('position').describe('A plain loop.') }),
          vaultSchema.extend({ kind: z.literal('equity').describe('An equity vault.') }),
        ]),
      )
      .optional()
      .describe('What was closed or liquidated, newest first; a closed vault stands as the vault.'),
    unresolved: z
      .array(
        z.object({
          reason: z
            .enum(['market_not_configured', 'no_chain_position', 'chain_mismatch'])
            .describe('Why nothing is behind it.'),
          message: z.string().describe('What it is and what to do, in a sentence.'),
          marketId: marketIdString('Market of the row.'),
          positionIndex: z.int().describe('Index of the position on chain, as registered.'),
          registered: registeredSchema,
        }),
      )
      .optional()
      .describe('Rows of the register with nothing behind them on chain.'),
  })
  .meta({ id: 'Portfolio', description: 'Everything of a wallet on one chain.' });

export const opsPortfolios = z
  .object({
    chainId: z.int().describe('The chain.'),
    asOf: dateTime('Time of the block at which everything was read.'),
    stale: z.boolean().describe('Older than 60 seconds.'),
    degraded: z.boolean().describe('The latest recompute failed: these are the last good numbers.'),
    computedAt: dateTime('When it was computed.'),
    counts: z
      .object({
        users: count('Wallets.'),
        open: count('Open plain loops.'),
        equity: count('Open equity vaults.'),
        closed: count('Loops and vaults that have ended.'),
        unresolved: count('Rows with nothing behind them on chain.'),
        drift: count('Disagreements between register and chain.'),
        failed: count('Wallets that cannot be told.'),
      })
      .describe('How many of everything.'),
    users: z.array(portfolioEntry).describe('Wallet by wallet, ordered by address.'),
  })
  .describe('Every wallet of a chain.');
