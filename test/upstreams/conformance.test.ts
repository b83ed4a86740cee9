import { defillamaYields, pendleApys, royco, stablewatch } from './cases/apys.ts';
import { merklHistory, merklLive, morphoHistory, morphoShared } from './cases/lending.ts';
import {
  coingeckoChart,
  coingeckoPrices,
  defillamaCoins,
  geckoterminalCandles,
  geckoterminalPool,
} from './cases/prices.ts';
import { kyberQuote, kyberRoute, openoceanQuote, pendleQuote } from './cases/swaps.ts';
import { describeAdapter } from './conformance.ts';

for (const adapter of [
  pendleApys,
  pendleQuote,
  defillamaYields,
  defillamaCoins,
  stablewatch,
  royco,
  merklLive,
  merklHistory,
  coingeckoPrices,
  coingeckoChart,
  geckoterminalPool,
  geckoterminalCandles,
  kyberRoute,
  kyberQuote,
  openoceanQuote,
  morphoShared,
  morphoHistory,
]) {
  describeAdapter(adapter);
}
