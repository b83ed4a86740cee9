import { Decimal } from '../../../src/shared/decimal.ts';
import { createCoingecko } from '../../../src/upstreams/coingecko/client.ts';
import { createDefillamaCoins } from '../../../src/upstreams/defillama-coins/client.ts';
import { createGeckoterminal } from '../../../src/upstreams/geckoterminal/client.ts';
import { priceKey } from '../../../src/upstreams/types.ts';
import { type AdapterCase, one } from '../conformance.ts';
import { at, change, ethereum, fixture, type Json, plain, token } from '../support/world.ts';

const [usdc, usdt, weth] = [token('USDC'), token('USDT'), token('WETH')];
/** Has no id at the provider. */
const unlisted = token('ETH');
const tokens = [usdc, unlisted, usdt, weth];
const notConfigured = { [priceKey(unlisted)]: 'not_configured' } as const;
const withoutUsdc = (reason: 'missing' | 'implausible') => ({
  same: [priceKey(usdt), priceKey(weth)],
  failures: { [priceKey(usdc)]: reason, ...notConfigured },
});

const noneOf = (reason: 'missing' | 'implausible') => ({
  ...Object.fromEntries([usdc, usdt, weth].map((one) => [priceKey(one), reason])),
  ...notConfigured,
});

const simple = fixture('coingecko-price');
const simpleWith = (json: Json) => ({ 'GET /simple/price': json });

export const coingeckoPrices: AdapterCase = {
  name: 'coingecko: prices',
  publicName: 'coingecko',
  keyed: true,
  create: (deps) => (signal) => createCoingecko(deps).prices.usdPrices(tokens, signal && { signal }),
  routes: simpleWith(simple),
  absent: { throws: 'rejected' },
  dated: {
    fields: ['last_updated_at'],
    future: { same: [], failures: noneOf('implausible') },
  },
  variants: {
    missingField: {
      routes: simpleWith(change(simple, ['usd-coin', 'usd'], undefined)),
      expect: withoutUsdc('missing'),
    },
    empty: {
      routes: simpleWith({}),
      expect: {
        same: [],
        failures: noneOf('missing'),
      },
    },
    partial: { routes: simpleWith(change(simple, ['usd-coin'], undefined)), expect: withoutUsdc('missing') },
    duplicate: {
      // Asked under one id by two tokens: see the price tests; an object cannot repeat a key.
      routes: simpleWith({ ...(simple as object), unasked: { usd: 5 } } as Json),
      expect: { same: [usdc, usdt, weth].map(priceKey), failures: notConfigured },
    },
    nan: { routes: simpleWith(change(simple, ['usd-coin', 'usd'], 'NaN')), expect: withoutUsdc('implausible') },
    negative: { routes: simpleWith(change(simple, ['usd-coin', 'usd'], -1)), expect: withoutUsdc('implausible') },
    absurd: { routes: simpleWith(change(simple, ['usd-coin', 'usd'], 1e9)), expect: withoutUsdc('implausible') },
  },
};

const coins = fixture('defillama-prices');
const coinsWith = (json: Json) => ({
  'GET /prices/current/coingecko:tether,coingecko:usd-coin,coingecko:weth': json,
});
const usdCoin = ['coins', 'coingecko:usd-coin'] as const;

export const defillamaCoins: AdapterCase = {
  name: 'defillama-coins',
  publicName: 'defillama',
  keyed: false,
  create: (deps) => (signal) => createDefillamaCoins(deps).usdPrices(tokens, signal && { signal }),
  routes: coinsWith(coins),
  absent: { throws: 'rejected' },
  dated: {
    fields: ['timestamp'],
    future: { same: [], failures: noneOf('implausible') },
  },
  variants: {
    missingField: {
      routes: coinsWith(change(coins, [...usdCoin, 'confidence'], undefined)),
      expect: withoutUsdc('missing'),
    },
    empty: {
      routes: coinsWith({ coins: {} }),
      expect: {
        same: [],
        failures: noneOf('missing'),
      },
    },
    partial: { routes: coinsWith(change(coins, usdCoin, undefined)), expect: withoutUsdc('missing') },
    duplicate: {
      routes: coinsWith({
        coins: { ...(at(coins, ['coins']) as object), unasked: { price: 5, confidence: 1 } },
      } as Json),
      expect: { same: [usdc, usdt, weth].map(priceKey), failures: notConfigured },
    },
    nan: { routes: coinsWith(change(coins, [...usdCoin, 'price'], 'NaN')), expect: withoutUsdc('implausible') },
    negative: { routes: coinsWith(change(coins, [...usdCoin, 'price'], -0.1)), expect: withoutUsdc('implausible') },
    absurd: {
      routes: coinsWith(change(coins, [...usdCoin, 'confidence'], 0.69)),
      expect: withoutUsdc('implausible'),
    },
  },
};

const chart = fixture('coingecko-chart');
const chartWith = (json: Json) => ({ 'GET /coins/weth/market_chart': json });
const goodChart = {
  prices: at(chart, ['prices']),
  marketCaps: at(chart, ['market_caps']),
  totalVolumes: at(chart, ['total_volumes']),
};
const withoutLastPrice = { value: { ...goodChart, prices: (goodChart.prices as Json[]).slice(0, 2) } };

export const coingeckoChart: AdapterCase = {
  name: 'coingecko: chart',
  publicName: 'coingecko',
  keyed: true,
  create: (deps) => (signal) => one(createCoingecko(deps).charts.chart('weth', 1, 'usd', signal && { signal })),
  routes: chartWith(chart),
  absent: { throws: 'rejected' },
  dated: { fields: [] },
  variants: {
    missingField: { routes: chartWith(change(chart, ['prices'], undefined)), expect: { throws: 'malformed' } },
    empty: { routes: chartWith(change(chart, ['prices'], [])), expect: { throws: 'missing' } },
    partial: { routes: chartWith(change(chart, ['prices', 2, 1], null)), expect: withoutLastPrice },
    duplicate: {
      routes: chartWith(change(chart, ['prices'], [[1795176000000, 1], ...(goodChart.prices as Json[])])),
      expect: { value: goodChart },
    },
    nan: { routes: chartWith(change(chart, ['prices', 2, 1], 'NaN')), expect: withoutLastPrice },
    negative: { routes: chartWith(change(chart, ['prices', 2, 1], -3201)), expect: withoutLastPrice },
    absurd: { routes: chartWith(change(chart, ['prices', 2, 0], 17)), expect: withoutLastPrice },
  },
};

const pools = fixture('geckoterminal-pools');
const poolsPath = `GET /networks/eth/tokens/${weth.address.toLowerCase()}/pools`;
const poolsWith = (json: Json) => ({ [poolsPath]: json });
const reserve = ['data', 0, 'attributes', 'reserve_in_usd'] as const;
const second = {
  value: {
    address: '0x72331fcb696b0151904c03584b66dc8365bc63f8a144d89a773384e3a579ca73',
    name: 'USDT / WETH 0.05%',
    dex: 'uniswap-v4-ethereum',
    reserveUsd: '54334455.01',
    side: 'quote',
  },
};
const first = {
  value: {
    address: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
    name: 'WETH / USDC 0.05%',
    dex: 'uniswap_v3',
    reserveUsd: '112334455.6677',
    side: 'base',
  },
};

export const geckoterminalPool: AdapterCase = {
  name: 'geckoterminal: deepest pool',
  publicName: 'geckoterminal',
  keyed: false,
  create: (deps) => (signal) =>
    one(createGeckoterminal(deps).deepestPool(ethereum, weth.address, signal && { signal })),
  routes: poolsWith(pools),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: { routes: poolsWith(change(pools, reserve, undefined)), expect: second },
    empty: { routes: poolsWith({ data: [] }), expect: { value: null } },
    partial: { routes: poolsWith({ data: [{ id: 'eth_0x' }] }), expect: { throws: 'malformed' } },
    duplicate: {
      routes: poolsWith({ data: [...(at(pools, ['data']) as Json[]).toReversed(), at(pools, ['data', 0])] }),
      expect: first,
    },
    nan: { routes: poolsWith(change(pools, reserve, 'NaN')), expect: second },
    negative: { routes: poolsWith(change(pools, reserve, '-1')), expect: second },
    absurd: { routes: poolsWith(change(pools, reserve, '1e15')), expect: second },
  },
};

const ohlcv = fixture('geckoterminal-ohlcv');
const list = ['data', 'attributes', 'ohlcv_list'] as const;
const pool = {
  address: '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640',
  name: 'WETH / USDC 0.05%',
  dex: 'uniswap_v3',
  reserveUsd: new Decimal(112_334_455),
  side: 'base' as const,
};
const candlesWith = (json: Json) => ({
  'GET /networks/eth/pools/0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640/ohlcv/hour': json,
});
const goodCandles = (at(ohlcv, list) as number[][])
  .map(([t, o, h, l, c, v]) => ({ t, o, h, l, c, v, isUnbacked: false }))
  .toReversed();
const withoutNewest = { value: plain({ candles: goodCandles.slice(0, 2), dropped: 1 }) };

export const geckoterminalCandles: AdapterCase = {
  name: 'geckoterminal: candles',
  publicName: 'geckoterminal',
  keyed: false,
  create: (deps) => (signal) =>
    one(
      createGeckoterminal(deps).candles(
        ethereum,
        pool,
        { timeframe: 'hour', aggregate: 1, limit: 100 },
        signal && { signal },
      ),
    ),
  routes: candlesWith(ohlcv),
  absent: { throws: 'rejected' },
  dated: { fields: [], future: { value: plain({ candles: goodCandles, dropped: 1 }) } },
  variants: {
    missingField: { routes: candlesWith({ data: { attributes: {} } }), expect: { throws: 'malformed' } },
    empty: { routes: candlesWith(change(ohlcv, list, [])), expect: { value: { candles: [], dropped: 0 } } },
    partial: { routes: candlesWith(change(ohlcv, [...list, 0, 5], undefined)), expect: withoutNewest },
    duplicate: {
      routes: candlesWith(change(ohlcv, list, [...(at(ohlcv, list) as Json[]), [1795172400, 1, 1, 1, 1, 1]])),
      expect: { value: { candles: goodCandles, dropped: 1 } },
    },
    nan: { routes: candlesWith(change(ohlcv, [...list, 0, 4], 'NaN')), expect: withoutNewest },
    negative: { routes: candlesWith(change(ohlcv, [...list, 0, 3], -3195)), expect: withoutNewest },
    // A high below the open, a high beyond every price, and a volume beyond every market.
    absurd: {
      routes: candlesWith(
        change(ohlcv, list, [
          change(at(ohlcv, [...list, 0]), [2], 12),
          change(at(ohlcv, [...list, 1]), [2], 1e30),
          at(ohlcv, [...list, 2]),
          [1795161600, 1, 1, 1, 1, 1e30],
        ]),
      ),
      expect: { value: plain({ candles: goodCandles.slice(0, 1), dropped: 3 }) },
    },
  },
};
