import type { NearestLiquidation, WalletTotals } from '../../domain/portfolio/wallet-totals.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { EquityPositionRef } from '../equity/equity-position.ts';
import { PnlRef } from './pnl.ts';
import { HEALTH_FACTOR, PositionRef } from './position.ts';

const NearestLiquidationRef = builder.objectRef<NearestLiquidation>('NearestLiquidation').implement({
  description:
    'The loop or stock leg of a vault that is nearest to its liquidation, by its LTV over its liquidation LTV.',
  fields: (t) => ({
    position: t.expose('position', {
      type: PositionRef,
      nullable: true,
      description: 'The loop, plain or of a vault; `null` = it is a stock leg.',
    }),
    equityPosition: t.expose('equityPosition', {
      type: EquityPositionRef,
      nullable: true,
      description: 'The vault whose stock leg it is; `null` = it is a loop.',
    }),
    priceDropToLiquidationPct: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Fall of the oracle price until liquidation, percent with 2 places; negative = it can be liquidated now, `null` = the collateral is worth nothing.',
      resolve: (nearest) => legOf(nearest)?.priceDropToLiquidationPct ?? null,
    }),
    ltvHeadroomPct: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Percentage points of LTV left before liquidation; `null` = the collateral is worth nothing. Signed.',
      resolve: (nearest) => legOf(nearest)?.ltvHeadroomPct ?? null,
    }),
    healthFactor: t.field({
      type: 'Decimal',
      description: HEALTH_FACTOR,
      resolve: (nearest) => legOf(nearest)?.healthFactor ?? '0',
    }),
  }),
});

function legOf({ position, equityPosition }: NearestLiquidation) {
  return position ?? equityPosition?.stock;
}

const usd = (description: string) => ({ type: 'Decimal' as const, nullable: true as const, description });

export const WalletTotalsRef = builder.objectRef<WalletTotals>('WalletTotals').implement({
  description:
    'Sums over the open loops and vaults of a wallet, each loop and stock leg once. A value or chain that is not known makes the sum `null`, with its reason in `gaps`: no sum leaves anything out.',
  fields: (t) => ({
    openCount: t.exposeInt('openCount', {
      nullable: true,
      description: 'Number of open loops and vaults; the loops of a vault are in the vault.',
    }),
    collateralUsd: t.expose('collateralUsd', usd('All collateral, that of stock legs included. USD with 2 places.')),
    debtUsd: t.expose('debtUsd', usd('All debt, that of stock legs included. USD with 2 places.')),
    equityUsd: t.expose(
      'equityUsd',
      usd(
        'Collateral less debt of each loop and stock leg; one under water counts as 0, because its debt is not owed beyond its collateral. It is `collateralUsd` - `debtUsd` + `badDebtUsd`. USD with 2 places.',
      ),
    ),
    badDebtUsd: t.expose(
      'badDebtUsd',
      usd(
        'Debt beyond the collateral of what is under water, which the owner does not have to pay. USD with 2 places.',
      ),
    ),
    pnl: t.expose('pnl', {
      type: PnlRef,
      description: 'Profit and loss over everything of the wallet, ended positions included.',
    }),
    netApyPct: t.expose('netApyPct', {
      type: 'Decimal',
      nullable: true,
      description:
        'Mean of the APYs of loops (`leverageApyPct`) and vaults (`netApyPct`), weighted by equity. Percent with 2 places. Signed.',
    }),
    nearestLiquidation: t.expose('nearestLiquidation', {
      type: NearestLiquidationRef,
      nullable: true,
      description: 'The loop or stock leg that is nearest to its liquidation.',
    }),
    gaps: t.field(gapsOf<WalletTotals>(({ gaps }) => gaps)),
  }),
});
