import type { Provider, SimulatedProvider } from '../types.ts';
import { coingecko } from './coingecko.ts';
import { defillamaCoins } from './defillama-coins.ts';
import { defillamaYields } from './defillama-yields.ts';
import { geckoterminal } from './geckoterminal.ts';
import { kyberswap } from './kyberswap.ts';
import { merkl } from './merkl.ts';
import { morpho } from './morpho.ts';
import { openocean } from './openocean.ts';
import { pendle } from './pendle.ts';
import { royco } from './royco.ts';
import { stablewatch } from './stablewatch.ts';

export const providers: Readonly<Record<Provider, SimulatedProvider>> = {
  pendle,
  'defillama-yields': defillamaYields,
  'defillama-coins': defillamaCoins,
  stablewatch,
  royco,
  merkl,
  coingecko,
  geckoterminal,
  kyberswap,
  openocean,
  morpho,
};
