import { z } from 'zod';
import { url } from './numbers.ts';
import { parseProviderLimits } from './provider-limits.ts';

const slug = z.stringFormat('slug', /^[a-z0-9][a-z0-9_-]{0,39}$/).optional();
const key = z.string().min(1).optional();
const providerLimits = z.string().superRefine((text, { addIssue }) => {
  try {
    parseProviderLimits(text);
  } catch (error) {
    addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'expected limits of providers' });
  }
});

/** Addresses, keys and limits of the providers. No key is required. */
export const providerSettings = {
  UPSTREAM_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(50)
    .max(120_000)
    .optional()
    .describe(
      'Timeout of one request to a provider, milliseconds. Without it each provider has its own, 10 to 20 s; a caller of a preview waits less.',
    ),
  UPSTREAM_LIMITS: providerLimits
    .optional()
    .describe(
      'Limits of providers whose plan is another than the public one: COINGECKO=500/minute,500000/month PENDLE=500/minute,1000000/week. The names are those of the settings; ALL is every other provider. Windows: 10s, minute, week, month; one that is not named has no limit. What a provider states can lower them, and does not raise them.',
    ),
  PENDLE_URL: url
    .default('https://api-v2.pendle.finance/core')
    .describe('Yield market: implied APY of principal tokens and swaps into them.'),
  PENDLE_API_KEY: key.describe('Key of the yield market, for a larger plan.'),
  DEFILLAMA_YIELDS_URL: url.default('https://yields.llama.fi').describe('Aggregator of pool yields.'),
  DEFILLAMA_COINS_URL: url.default('https://coins.llama.fi').describe('Fallback USD prices.'),
  STABLEWATCH_URL: url.default('https://api.stablewatch.io/api').describe('Stablecoin yield index.'),
  STABLEWATCH_API_KEY: key.describe('Key of the stablecoin yield index.'),
  ROYCO_URL: url.default('https://vault.api.royco.org/api/v1').describe('Incentive market: structured-vault yields.'),
  ROYCO_API_KEY: key.describe('Key of the incentive market.'),
  MERKL_URL: url.default('https://api.merkl.xyz/v4').describe('Borrow and collateral incentive campaigns.'),
  MERKL_API_KEY: key.describe('Key of the incentive campaigns, for a larger plan.'),
  MERKL_POSITION_REWARDS: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(false)
    .describe('Whether the rewards of a position are asked of the incentive provider, on demand. See the doctor.'),
  COINGECKO_URL: url.default('https://api.coingecko.com/api/v3').describe('USD prices and price charts.'),
  COINGECKO_API_KEY: key.describe(
    'Key of the price provider: a demo key, or with the address of its pro plan a pro key.',
  ),
  GECKOTERMINAL_URL: url.default('https://api.geckoterminal.com/api/v2').describe('DEX pools and candles.'),
  KYBERSWAP_URL: url.default('https://aggregator-api.kyberswap.com').describe('AggregatorOne: swap routes.'),
  KYBERSWAP_CLIENT_ID: z
    .string()
    .min(1)
    .default('spiral-gateway')
    .describe('Id with which this service names itself to AggregatorOne; a registered one has better limits.'),
  OPENOCEAN_URL: url.default('https://open-api-pro.openocean.finance').describe('AggregatorTwo: swap routes.'),
  OPENOCEAN_API_KEY: key.describe('Key of AggregatorTwo.'),
  OPENOCEAN_CHAIN_4663: slug.describe('Name of chain 4663 at AggregatorTwo; absent = not asked there. See the doctor.'),
  MORPHO_API_URL: url.default('https://api.morpho.org/graphql').describe('Lending indexer: rates, shared liquidity.'),
  MORPHO_API_KEY: key.describe('Key of the lending indexer, for a larger plan.'),
};
