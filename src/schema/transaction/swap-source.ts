import type { SWAP_SOURCES } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';

export const SwapSourceRef = builder.enumType('SwapSource', {
  description: 'The venue of a swap.',
  values: enumValues<(typeof SWAP_SOURCES)[number]>({
    AggregatorOne: 'The first swap aggregator.',
    AggregatorTwo: 'The second swap aggregator, on chain 1 only.',
    YieldMarket: 'The converter of principal tokens.',
  }),
});
