import { z } from 'zod';
import type { DriftKind, DriftSeverity } from '../../domain/drift/types.ts';
import { PORTFOLIO_ORDERS, type PortfolioOrder } from '../../domain/portfolio/query.ts';
import type { UnresolvedReason } from '../../domain/portfolio/types.ts';
import { EQUITY_PREFIX } from '../../shared/ids.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { PositionStatusRef } from '../position/position.ts';
import { DirectionRef } from '../strategy/strategy-inputs.ts';

/** More than a page holds; keeps a filter from becoming a scan of megabytes. */
const MAX_LISTED = 500;
const TOO_MANY = `lists more than ${MAX_LISTED} values; send at most ${MAX_LISTED}`;
const listed = z.array(z.unknown()).max(MAX_LISTED, TOO_MANY).nullish();
const listedVaults = z
  .array(
    z
      .string()
      .startsWith(EQUITY_PREFIX, `lists an id that is no equity vault; send ids that begin with ${EQUITY_PREFIX}`),
  )
  .max(MAX_LISTED, TOO_MANY)
  .nullish();

const KINDS: Record<DriftKind, string> = {
  no_db_row: 'The chain has the position, and the register has no row for it.',
  db_open_chain_closed: 'The register says open, and on chain it was closed or liquidated.',
  db_closed_chain_open: 'The register says closed, and on chain it is open.',
};

export const DriftKindRef = builder.enumType('DriftKind', {
  description: 'Kind of a disagreement between register and chain.',
  values: enumValues(KINDS),
});

const SEVERITIES: Record<DriftSeverity, string> = {
  high: 'Money at work that the register does not show, or lost money that it does.',
  medium: 'The register shows a position as open that was closed regularly.',
  low: 'Only the past is incomplete.',
};

export const DriftSeverityRef = builder.enumType('DriftSeverity', {
  description: 'Weight of a disagreement between register and chain.',
  values: enumValues(SEVERITIES),
});

const REASONS: Record<UnresolvedReason, string> = {
  market_not_configured: 'The market of the row is in no catalog.',
  no_chain_position: 'The wallet has no position of this index on this chain.',
  chain_mismatch: 'The market of the row is on another chain, or the position of the index is on another market.',
};

export const UnresolvedReasonRef = builder.enumType('UnresolvedReason', {
  description: 'Reason for a row of the register without a position on chain.',
  values: enumValues(REASONS),
});

export const PortfolioFilterRef = builder.inputType('PortfolioFilter', {
  description:
    'Conditions on loops and vaults; all given ones must hold of one loop or vault. An unknown value meets no limit. A wallet is listed when one of its loops or vaults matches.',
  fields: (t) => ({
    statuses: t.field({ type: [PositionStatusRef], validate: listed, description: 'With one of these statuses.' }),
    wallets: t.field({ type: ['Address'], validate: listed, description: 'Of one of these wallets.' }),
    marketIds: t.field({
      type: ['MarketId'],
      validate: listed,
      description: 'In one of these markets; of a vault its stock market counts.',
    }),
    strategyIds: t.field({ type: ['StrategyId'], validate: listed, description: 'Of one of these strategies.' }),
    vaultIds: t.field({
      type: ['StrategyId'],
      validate: listedVaults,
      description: 'One of these equity vaults, or a loop that belongs to one.',
    }),
    driftKinds: t.field({
      type: [DriftKindRef],
      validate: listed,
      description: 'Register and chain disagree in one of these ways.',
    }),
    minValueUsd: t.field({ type: 'Decimal', description: 'Least net value. USD.' }),
    minHeadroomPct: t.field({
      type: 'Decimal',
      description: 'Least points of LTV before liquidation; of a vault `leastLtvHeadroomPct`.',
    }),
    maxHeadroomPct: t.field({
      type: 'Decimal',
      description: 'Most points of LTV before liquidation; of a vault `leastLtvHeadroomPct`.',
    }),
  }),
});

const ORDERS: Record<PortfolioOrder, readonly [name: string, description: string]> = {
  value: ['VALUE_USD', 'By net value; of a wallet the sum of its matching items.'],
  pnl: ['PNL_USD', 'By total P&L; of a wallet the sum of its matching items.'],
  headroom: [
    'HEADROOM',
    'By points of LTV before liquidation, of a vault the fewest of its parts; of a wallet the fewest.',
  ],
  age: ['OPENED_AT', 'By when it was registered; of a wallet the first.'],
  ltv: ['LTV', 'By LTV, of a vault that of its stock leg; of a wallet the least.'],
  return: ['RETURN_ON_EQUITY', 'By return on equity; of a wallet the least.'],
  status: ['STATUS', 'By status in the order of the enum; of a wallet the first.'],
  wallet: ['WALLET', 'By address of the wallet.'],
  chain: ['CHAIN', 'By id of the chain.'],
  name: ['NAME', 'By symbols of collateral and loan, of a vault its stock; of a wallet the first.'],
  drift: ['DRIFT_SEVERITY', 'By severity of the disagreement; those without one come last; of a wallet the least.'],
};

const PortfolioOrderFieldRef = builder.enumType('PortfolioOrderField', {
  description: 'Value that portfolios are ordered by.',
  values: Object.fromEntries(
    PORTFOLIO_ORDERS.map((order) => [ORDERS[order][0], { value: order, description: ORDERS[order][1] }]),
  ) as Record<string, { value: PortfolioOrder; description: string }>,
});

export const PortfolioOrderRef = builder.inputType('PortfolioOrder', {
  description: 'Order of a list of portfolios; unknown values come last, ties are broken by address.',
  fields: (t) => ({
    field: t.field({ type: PortfolioOrderFieldRef, required: true, description: 'Value to order by.' }),
    direction: t.field({ type: DirectionRef, required: true, defaultValue: 'desc', description: 'Direction.' }),
  }),
});

export const DriftFilterRef = builder.inputType('DriftFilter', {
  description: 'Conditions on disagreements; all given ones must hold.',
  fields: (t) => ({
    kinds: t.field({ type: [DriftKindRef], validate: listed, description: 'Of one of these kinds.' }),
    severities: t.field({ type: [DriftSeverityRef], validate: listed, description: 'Of one of these severities.' }),
    wallets: t.field({ type: ['Address'], validate: listed, description: 'Of one of these wallets.' }),
    marketIds: t.field({ type: ['MarketId'], validate: listed, description: 'In one of these markets.' }),
    vaultIds: t.field({
      type: ['StrategyId'],
      validate: listedVaults,
      description: 'Of a loop of one of these equity vaults.',
    }),
  }),
});

export type PortfolioFilter = typeof PortfolioFilterRef.$inferInput;
export type PortfolioOrderInput = typeof PortfolioOrderRef.$inferInput;
export type DriftFilterInput = typeof DriftFilterRef.$inferInput;
