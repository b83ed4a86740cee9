import type { Fact, UsdPrice } from '../../domain/facts.ts';
import { builder } from '../builder.ts';
import { FreshnessRef } from '../common/stamp.ts';

export const TokenPriceRef = builder.objectRef<Fact<UsdPrice>>('TokenPrice').implement({
  description: 'Latest believed USD price of one token: measured, or made by the oracle of a market.',
  fields: (t) => ({
    usd: t.field({
      type: 'Decimal',
      description: 'USD per whole token at full precision.',
      resolve: ({ value }) => value.usd,
    }),
    source: t.exposeString('source', {
      description: 'Public name of the provider; `oracle` = price of the oracle x price of the loan token.',
    }),
    freshness: t.field({
      type: FreshnessRef,
      description: 'Age of the price.',
      resolve: ({ asOfMs }, _args, ctx) => ({ asOfMs, staleAfterSec: ctx.services.budgets.price }),
    }),
  }),
});
