import { isStaleIn } from '../../resolvers/common/age.ts';
import { listPrices, type PriceList, type TokenPrice } from '../../resolvers/market/tokens.ts';
import { builder } from '../builder.ts';
import { FreshnessRef, GapRef } from '../common/stamp.ts';
import { TokenRef } from '../refs.ts';

export const TokenPriceRef = builder.objectRef<TokenPrice>('TokenPrice');

TokenPriceRef.implement({
  description: 'Latest USD price of one token, or why it is not known.',
  fields: (t) => ({
    token: t.expose('token', { type: TokenRef, description: 'The priced token.' }),
    usd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'USD per whole token; `null` = not known, see `gap`.',
      resolve: ({ measured }) => measured?.usd ?? null,
    }),
    source: t.string({
      nullable: true,
      description:
        'Public name of the provider; `oracle` = oracle price x loan price; `null` when the price is not known.',
      resolve: ({ measured }) => measured?.source ?? null,
    }),
    freshness: t.field({
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the price; `null` when the price is not known.',
      resolve: ({ measured }) => measured?.stamp ?? null,
    }),
    gap: t.expose('gap', {
      type: GapRef,
      nullable: true,
      description: 'Why the price is not known; `null` when it is.',
    }),
  }),
});

const PriceListRef = builder.objectRef<PriceList>('TokenPrices').implement({
  description: 'Prices of all curated tokens of the asked chains.',
  fields: (t) => ({
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest price in the list was measured; `null` when none is known.',
      resolve: ({ oldest }) => oldest?.asOfMs ?? null,
    }),
    stale: t.boolean({
      description: 'Whether the oldest price is past its budget, or none is known.',
      resolve: ({ oldest }, _args, ctx) => oldest === null || isStaleIn(oldest, ctx),
    }),
    items: t.expose('items', {
      type: [TokenPriceRef],
      complexity: { field: 1, multiplier: 50 },
      description: 'One entry per curated token, priced or not.',
    }),
  }),
});

builder.queryField('prices', (t) =>
  t.field({
    type: PriceListRef,
    description:
      'Latest believed USD prices of the curated tokens, the same that strategies and markets show: measured, or by the oracle of a market. Serves the last good price with its age when the providers fail.',
    args: { chainIds: t.arg({ type: ['ChainId'], description: 'Only of these chains; all when left out.' }) },
    resolve: (_root, args, ctx) => listPrices(args, ctx),
  }),
);
