import type { YieldLoopMatch } from '../../domain/equity/loops.ts';
import type { EquityPosition, StockPosition } from '../../domain/equity/position.ts';
import { MAX_WARNINGS } from '../../domain/plausibility/types.ts';
import { equityPositionGaps } from '../../resolvers/position/position-gaps.ts';
import { findEquityPosition, strategyOf, vaultOf } from '../../resolvers/position/positions.ts';
import { vaultPnlOf } from '../../resolvers/position/wallet-totals.ts';
import { MAX_WALLET_POSITIONS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { gapsOf } from '../common/gaps.ts';
import { defineNode } from '../common/node.ts';
import { ORACLE_PRICE_AS_OF, ReadAtRef } from '../common/stamp.ts';
import { WarningRef } from '../common/warning.ts';
import { PnlRef } from '../position/pnl.ts';
import { HEALTH_FACTOR, PositionFreshnessRef, PositionRef } from '../position/position.ts';
import { StrategyRef, TokenRef } from '../refs.ts';

const LoopMatchRef = builder.enumType('YieldLoopMatch', {
  description: 'The way in which the yield loops of a vault are known.',
  values: enumValues<YieldLoopMatch>({
    tagged: 'The app registered the loops for this vault.',
    basis: 'One combination of loops explains the debt of the stock leg.',
    ambiguous:
      'Several combinations of loops explain the debt, or another vault would need the same loop: see `yieldPositionIds`.',
    none: 'No loop of the wallet explains the debt.',
  }),
});

const usd = (description: string) => ({ type: 'Decimal' as const, nullable: true as const, description });

const StockRef = builder.objectRef<StockPosition>('StockPosition').implement({
  description:
    'The stock leg of a vault: holdings and debt of the wallet itself on the stock market. `gaps` of the vault explain a field that is `null`, e.g. `stock.priceUsd`.',
  fields: (t) => ({
    collateralAmount: t.expose('collateral', { type: 'Decimal', description: 'Stock posted. Whole tokens.' }),
    collateralUsd: t.expose('collateralUsd', usd('Value of the stock. USD with 2 places.')),
    priceUsd: t.expose('priceUsd', usd('Oracle price in USD, which decides on liquidation.')),
    debtAmount: t.expose('debtUsdg', usd('Debt with interest. Whole deposit tokens.')),
    ltvPct: t.expose('ltvPct', usd('Debt over collateral value. Percent with 2 places.')),
    liquidationLtvPct: t.expose('liquidationLtvPct', {
      type: 'Decimal',
      description: 'LTV at which the stock leg can be liquidated. Percent.',
    }),
    ltvHeadroomPct: t.expose('ltvHeadroomPct', usd('Percentage points of LTV left before liquidation. Signed.')),
    healthFactor: t.expose('healthFactor', usd(HEALTH_FACTOR)),
    liquidationPriceUsd: t.expose(
      'liquidationPriceUsd',
      usd('Stock price at which the stock leg can be liquidated. USD.'),
    ),
    priceDropToLiquidationPct: t.expose(
      'priceDropToLiquidationPct',
      usd('Fall of the stock price until liquidation. Percent with 2 places. Signed.'),
    ),
    borrowApyPct: t.expose('borrowApyPct', usd('APY of the debt. Percent with 2 places.')),
  }),
});

export const EquityPositionRef = builder.objectRef<EquityPosition>('EquityPosition');
defineNode(EquityPositionRef, {
  key: ['chainId', 'address', 'strategyId'],
  keyOf: ({ chainId, wallet, strategyId }) => [chainId, wallet, strategyId],
  load: ([chainId, wallet, strategyId], ctx) => findEquityPosition({ chainId, wallet, strategyId }, ctx),
  scope: 'partner',
});

EquityPositionRef.implement({
  description:
    'An open equity vault of a wallet, read live: its stock leg, and the yield loops that are known to belong to it.',
  fields: (t) => ({
    strategyId: t.expose('strategyId', { type: 'StrategyId', description: 'Id of the vault.' }),
    strategy: t.field({
      type: StrategyRef,
      nullable: true,
      description: 'The vault as a strategy; `null` = it is not measured yet.',
      resolve: (position, _args, ctx) => strategyOf(position, ctx),
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'The owner.' }),
    curator: t.exposeString('curator', { description: 'Partner that curates the stock market.' }),
    stockToken: t.field({
      type: TokenRef,
      description: 'The stock.',
      resolve: (position, _args, ctx) => vaultOf(position, ctx).stock,
    }),
    depositToken: t.field({
      type: TokenRef,
      description: 'The token that the vault takes and pays out.',
      resolve: (position, _args, ctx) => vaultOf(position, ctx).depositToken,
    }),
    stock: t.expose('stock', { type: StockRef, description: 'The stock leg.' }),
    yieldLoops: t.expose('yieldLoops', {
      type: [PositionRef],
      complexity: { field: 1, multiplier: 2 },
      description: `Loops of the vault, newest first, one entry per loop of the wallet, at most ${MAX_WALLET_POSITIONS}; none of them is among the plain positions.`,
    }),
    yieldLoopMatch: t.expose('yieldLoopMatch', {
      type: LoopMatchRef,
      description: 'The way in which the loops are known.',
    }),
    yieldPositionIds: t.exposeIntList('ambiguousYieldLoopIds', {
      nullable: true,
      description: `Indexes of the plain positions that may be loops of the vault, one per loop of the wallet, at most ${MAX_WALLET_POSITIONS}; \`null\` = the match is not ambiguous.`,
    }),
    netValueUsd: t.expose(
      'netValueUsd',
      usd(
        'Collateral less debt of the stock leg, plus that of each loop, before costs of an exit, USD with 2 places; a loop under water counts as 0, because its debt is not owed beyond its collateral. Signed.',
      ),
    ),
    pnl: t.field({
      type: PnlRef,
      nullable: true,
      complexity: 5,
      description:
        'Profit and loss of the vault. The chain keeps no deposits of a vault: those that the app registered count. `gaps` of it explain every unknown part; `null` = the vault has ended.',
      resolve: (position, _args, ctx) => vaultPnlOf(position, ctx),
    }),
    netApyPct: t.expose(
      'currentNetApyPct',
      usd('LTV x (APY of the loops - borrow APY of the stock leg). Percent with 2 places. Signed.'),
    ),
    freshness: t.expose('freshness', {
      type: PositionFreshnessRef,
      nullable: true,
      description: 'Age of the values of the stock market; `null` = there are none.',
    }),
    readAt: t.expose('readAt', {
      type: ReadAtRef,
      description:
        'Block of the reading: of holdings and debt, and of the prices that value them unless `freshness` names an older one.',
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}, of the stock.`,
      resolve: ({ oraclePriceAsOfMs }) => oraclePriceAsOfMs ?? null,
    }),
    warnings: t.expose('warnings', {
      type: [WarningRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Warnings about the values that the stock leg is valued with, at most ${MAX_WARNINGS}.`,
    }),
    gaps: t.field(gapsOf<EquityPosition>(equityPositionGaps)),
  }),
});
