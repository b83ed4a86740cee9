import { z } from 'zod';
import { DRIFT_KINDS, DRIFT_SEVERITIES, type DriftKind, type DriftSeverity } from '../../domain/drift/types.ts';
import { PORTFOLIO_ORDERS, type PortfolioOrder } from '../../domain/portfolio/query.ts';
import { UNRESOLVED_REASONS, type UnresolvedReason } from '../../domain/portfolio/types.ts';
import { builder } from '../builder.ts';
import { PositionStatusRef } from '../position/position.ts';
import { DirectionRef } from '../strategy/strategy-inputs.ts';

/** More than a page holds; keeps a filter from becoming a scan of megabytes. */
const MAX_LISTED = 500;
const listed = z
  .array(z.unknown())
  .max(MAX_LISTED, `lists more than ${MAX_LISTED} values; send at most ${MAX_LISTED}`)
  .nullish();

const KINDS: Record<DriftKind, string> = {
  no_db_row: 'The chain has the position, and the register has no row for it.',
  db_open_chain_closed: 'The register says open, and on chain it was closed or liquidated.',
  db_closed_chain_open: 'The register says closed, and on chain it is open.',
};

export const DriftKindRef = builder.enumType('DriftKind', {
  description: 'How register and chain disagree. Lower case as in the v1 contract.',
  values: Object.fromEntries(DRIFT_KINDS.map((kind) => [kind, { value: kind, description: KINDS[kind] }])) as {
    [K in DriftKind]: { value: K; description: string };
  },
});

const SEVERITIES: Record<DriftSeverity, string> = {
  high: 'Money at work that the register does not show, or lost money that it does.',
  medium: 'The register shows something that was closed in good order.',
  low: 'Only the past is incomplete.',
};

export const DriftSeverityRef = builder.enumType('DriftSeverity', {
  description: 'How much a disagreement matters.',
  values: Object.fromEntries(
    DRIFT_SEVERITIES.map((severity) => [severity, { value: severity, description: SEVERITIES[severity] }]),
  ) as { [S in DriftSeverity]: { value: S; description: string } },
});

const REASONS: Record<UnresolvedReason, string> = {
  market_not_configured: 'Its market is in no catalog.',
  no_chain_position: 'The wallet has no position of this index on this chain.',
  chain_mismatch: 'Its market is configured on another chain, or is not that of the position of this index.',
};

export const UnresolvedReasonRef = builder.enumType('UnresolvedReason', {
  description: 'Why a row of the register has nothing behind it on chain. Lower case as in the v1 contract.',
  values: Object.fromEntries(
    UNRESOLVED_REASONS.map((reason) => [reason, { value: reason, description: REASONS[reason] }]),
  ) as { [R in UnresolvedReason]: { value: R; description: string } },
});

export const PortfolioFilterRef = builder.inputType('PortfolioFilter', {
  description:
    'Conditions on loops and vaults; all that are given must hold of one and the same. A value that is not known meets no limit. A wallet is listed when something of it matches.',
  fields: (t) => ({
    chainIds: t.field({
      type: ['ChainId'],
      validate: listed,
      description: 'On one of these chains; all when left out.',
    }),
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
      validate: listed,
      description: 'One of these equity vaults, or a loop that belongs to one.',
    }),
    driftKinds: t.field({
      type: [DriftKindRef],
      validate: listed,
      description: 'Register and chain disagree in one of these ways.',
    }),
    minValueUsd: t.field({ type: 'Decimal', description: 'Least net value, USD.' }),
    minLtvHeadroomPct: t.field({ type: 'Decimal', description: 'Least points of LTV before liquidation.' }),
    maxLtvHeadroomPct: t.field({ type: 'Decimal', description: 'Most points of LTV before liquidation.' }),
  }),
});

const ORDERS: Record<PortfolioOrder, readonly [name: string, description: string]> = {
  value: ['VALUE_USD', 'By net value; of a wallet the sum of what matches.'],
  pnl: ['PNL_USD', 'By total P&L; of a wallet the sum of what matches.'],
  headroom: ['LTV_HEADROOM', 'By points of LTV before liquidation; of a wallet the fewest.'],
  age: ['OPENED_AT', 'By when it was registered; of a wallet the first.'],
};

const PortfolioOrderFieldRef = builder.enumType('PortfolioOrderField', {
  description: 'What portfolios are ordered by.',
  values: Object.fromEntries(
    PORTFOLIO_ORDERS.map((order) => [ORDERS[order][0], { value: order, description: ORDERS[order][1] }]),
  ) as Record<string, { value: PortfolioOrder; description: string }>,
});

export const PortfolioOrderRef = builder.inputType('PortfolioOrder', {
  description: 'Order of a list of portfolios; what is not known comes last, ties are broken by address.',
  fields: (t) => ({
    field: t.field({ type: PortfolioOrderFieldRef, required: true, description: 'What to order by.' }),
    direction: t.field({ type: DirectionRef, required: true, defaultValue: 'desc', description: 'Direction.' }),
  }),
});

export const DriftFilterRef = builder.inputType('DriftFilter', {
  description: 'Conditions on disagreements; all that are given must hold.',
  fields: (t) => ({
    chainIds: t.field({
      type: ['ChainId'],
      validate: listed,
      description: 'On one of these chains; all when left out.',
    }),
    kinds: t.field({ type: [DriftKindRef], validate: listed, description: 'Of one of these kinds.' }),
    severities: t.field({ type: [DriftSeverityRef], validate: listed, description: 'Of one of these severities.' }),
    wallets: t.field({ type: ['Address'], validate: listed, description: 'Of one of these wallets.' }),
    marketIds: t.field({ type: ['MarketId'], validate: listed, description: 'In one of these markets.' }),
  }),
});
