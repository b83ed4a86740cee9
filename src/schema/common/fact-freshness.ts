import { builder } from '../builder.ts';
import { FreshnessRef, type StampView } from './stamp.ts';

/** Ages of the facts that an object is made from; an absent one is not among them, or was never measured. */
interface FactStamps {
  readonly borrow: StampView;
  readonly oracle: StampView;
  readonly collateralApy?: StampView | undefined;
  readonly exitLiquidity?: StampView | undefined;
  readonly prices?: StampView | undefined;
  readonly incentives?: StampView | undefined;
}

export const FactFreshnessRef = builder.objectRef<FactStamps>('FactFreshness').implement({
  description:
    'Age of the facts that an object is made from, by group. A group that the object does not use is `null`; one that it uses and that was never measured has an entry in `gaps`.',
  fields: (t) => ({
    borrow: t.expose('borrow', {
      type: FreshnessRef,
      description: 'Age of the market state: borrow rate, supply, debt and liquidity.',
    }),
    oracle: t.expose('oracle', { type: FreshnessRef, description: 'Age of the reading of the oracle.' }),
    collateralApy: t.expose('collateralApy', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the APY of the collateral; of an equity vault of the APY of its yield leg.',
    }),
    exitLiquidity: t.expose('exitLiquidity', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the exit quotes.',
    }),
    prices: t.expose('prices', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the older of the prices of collateral and loan.',
    }),
    incentives: t.expose('incentives', { type: FreshnessRef, nullable: true, description: 'Age of the incentives.' }),
  }),
});
