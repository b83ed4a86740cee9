import { createDefillamaYields } from '../../../src/upstreams/defillama-yields/client.ts';
import { createPendle } from '../../../src/upstreams/pendle/client.ts';
import { createRoyco } from '../../../src/upstreams/royco/client.ts';
import { createStablewatch } from '../../../src/upstreams/stablewatch/client.ts';
import type { AdapterCase } from '../conformance.ts';
import { at, change, ethereum, fixture, type Json, token } from '../support/world.ts';

const [ptA, ptB] = [token('PT-apxUSD-5NOV2026'), token('PT-apyUSD-5NOV2026')];
const markets = fixture('pendle-markets');
const marketsWith = (json: Json) => ({ 'GET /v2/markets/all': json });
const impliedApy = ['markets', 0, 'details', 'impliedApy'] as const;
const onlyB = { same: [ptB.address] };

export const pendleApys: AdapterCase = {
  name: 'pendle: implied APYs',
  publicName: 'yieldmarket',
  keyed: true,
  create: (deps) => (signal) => createPendle(deps).apys.apys(ethereum, [ptA, ptB], signal && { signal }),
  routes: marketsWith(markets),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: {
      routes: marketsWith(change(markets, impliedApy, undefined)),
      expect: { ...onlyB, failures: { [ptA.address]: 'missing' } },
    },
    empty: {
      routes: marketsWith({ markets: [] }),
      expect: { same: [], failures: { [ptA.address]: 'missing', [ptB.address]: 'missing' } },
    },
    partial: {
      routes: marketsWith(change(markets, ['markets', 0], { unrelated: true })),
      expect: { ...onlyB, failures: { [ptA.address]: 'missing' } },
    },
    duplicate: {
      // A shallower market of the same principal token, before and after, changes nothing.
      routes: marketsWith({
        markets: [
          change(change(at(markets, ['markets', 0]), ['details', 'impliedApy'], 0.5), ['details', 'liquidity'], 10),
          at(markets, ['markets', 0]),
          at(markets, ['markets', 1]),
          change(change(at(markets, ['markets', 1]), ['details', 'impliedApy'], 0.5), ['details', 'liquidity'], 10),
        ],
      }),
      expect: { same: [ptA.address, ptB.address] },
    },
    nan: {
      routes: marketsWith(change(markets, impliedApy, 'NaN')),
      expect: { ...onlyB, failures: { [ptA.address]: 'implausible' } },
    },
    negative: {
      routes: marketsWith(change(markets, impliedApy, -1.2)),
      expect: { ...onlyB, failures: { [ptA.address]: 'implausible' } },
    },
    absurd: {
      routes: marketsWith(change(markets, impliedApy, 10.01)),
      expect: { ...onlyB, failures: { [ptA.address]: 'implausible' } },
    },
  },
};

const [siUsd, wstEth] = [token('siUSD'), token('wstETH')];
const chart = fixture('defillama-chart');
const charts = (first: Json) => ({
  [`GET /chart/${siUsd.defillamaId}`]: first,
  [`GET /chart/${wstEth.defillamaId}`]: chart,
});
const latestApy = ['data', 2, 'apy'] as const;
const onlyWstEth = (reason: 'missing' | 'implausible' | 'malformed') => ({
  same: [wstEth.address],
  failures: { [siUsd.address]: reason },
});

export const defillamaYields: AdapterCase = {
  name: 'defillama-yields',
  publicName: 'aggregator',
  keyed: false,
  create: (deps) => (signal) => createDefillamaYields(deps).apys(ethereum, [siUsd, wstEth], signal && { signal }),
  routes: charts(chart),
  absent: { throws: 'rejected' },
  dated: { fields: ['timestamp'] },
  variants: {
    missingField: { routes: charts(change(chart, latestApy, undefined)), expect: onlyWstEth('missing') },
    empty: { routes: charts({ status: 'success', data: [] }), expect: onlyWstEth('missing') },
    partial: { routes: charts({ status: 'success' }), expect: onlyWstEth('malformed') },
    duplicate: {
      // The row for one time that comes later in the answer is the provider's last word.
      routes: charts(
        change(
          chart,
          ['data'],
          [
            at(chart, ['data', 0]),
            change(at(chart, ['data', 1]), ['apy'], 1),
            at(chart, ['data', 1]),
            change(at(chart, ['data', 2]), ['apy'], 99),
            at(chart, ['data', 2]),
          ],
        ),
      ),
      expect: { same: [siUsd.address, wstEth.address] },
    },
    nan: { routes: charts(change(chart, latestApy, 'NaN')), expect: onlyWstEth('implausible') },
    negative: { routes: charts(change(chart, latestApy, -100)), expect: onlyWstEth('implausible') },
    absurd: { routes: charts(change(chart, latestApy, 1e9)), expect: onlyWstEth('implausible') },
  },
};

const pools = fixture('stablewatch-pools');
const history = fixture('stablewatch-history');
const [sUsde, syrup, sUsds] = [0, 1, 2].map((i) => String(at(pools, ['data', i, 'id']))) as [string, string, string];
const avg7d = ['data', 0, 'metrics', 'apy', 'avg7d'] as const;
const index = (list: Json, firstHistory: Json = history) => ({
  'GET /pools': list,
  [`GET /history/${sUsde}`]: firstHistory,
  [`GET /history/${syrup}`]: history,
});
const withoutSUsde = (reason: 'missing' | 'implausible' | 'malformed') => ({
  same: [syrup, sUsds],
  failures: { [sUsde]: reason },
});

export const stablewatch: AdapterCase = {
  name: 'stablewatch',
  publicName: 'stableindex',
  keyed: true,
  create: (deps) => (signal) => createStablewatch(deps).pools(({ asset }) => asset !== 'sUSDS', signal && { signal }),
  routes: index(pools),
  absent: { throws: 'rejected' },
  dated: { fields: ['timestamp'] },
  variants: {
    missingField: { routes: index(change(pools, avg7d, undefined)), expect: withoutSUsde('missing') },
    empty: { routes: index({ success: true, data: [] }), expect: { throws: 'missing' } },
    partial: { routes: index(pools, { success: true, data: {} }), expect: withoutSUsde('malformed') },
    duplicate: {
      routes: index({
        data: [
          ...[0, 0, 1, 2].map((i) => at(pools, ['data', i])),
          change(change(at(pools, ['data', 1]), ['id'], 'twice'), ['metrics', 'apy', 'avg7d'], 1),
          change(change(at(pools, ['data', 1]), ['id'], 'twice'), ['metrics', 'apy', 'avg7d'], 2),
        ],
      }),
      expect: { same: [sUsde, syrup, sUsds], failures: { twice: 'implausible' } },
    },
    nan: { routes: index(change(pools, avg7d, 'NaN')), expect: withoutSUsde('implausible') },
    negative: { routes: index(change(pools, avg7d, -100.5)), expect: withoutSUsde('implausible') },
    absurd: { routes: index(change(pools, avg7d, 1000.01)), expect: withoutSUsde('implausible') },
  },
};

const srRoy = token('srRoyUSDC');
/** A second vault at the same provider, so that there is a neighbour. */
const other = { ...srRoy, address: token('USDC').address };
const info = fixture('royco-info');
const vaultChart = fixture('royco-chart');
const vaults = (first: Json, firstChart: Json = vaultChart) => ({
  [`GET /vault/info/1/${srRoy.address.toLowerCase()}`]: first,
  [`GET /chart/vault/apy/1/${srRoy.address.toLowerCase()}/3m`]: firstChart,
  [`GET /vault/info/1/${other.address.toLowerCase()}`]: info,
  [`GET /chart/vault/apy/1/${other.address.toLowerCase()}/3m`]: vaultChart,
});
const onlyOther = (reason: 'missing' | 'implausible' | 'malformed') => ({
  same: [other.address],
  failures: { [srRoy.address]: reason },
});

export const royco: AdapterCase = {
  name: 'royco',
  publicName: 'incentivemarket',
  keyed: true,
  create: (deps) => (signal) => createRoyco(deps).apys(ethereum, [srRoy, other], signal && { signal }),
  routes: vaults(info),
  absent: { throws: 'rejected' },
  dated: { fields: ['blockTimestamp'] },
  variants: {
    missingField: { routes: vaults(change(info, ['apy7d'], undefined)), expect: onlyOther('missing') },
    empty: { routes: vaults({}), expect: onlyOther('missing') },
    partial: { routes: vaults(info, { count: 0 }), expect: onlyOther('malformed') },
    duplicate: {
      routes: vaults(
        info,
        change(
          vaultChart,
          ['data'],
          [
            change(at(vaultChart, ['data', 2]), ['value'], 0.5),
            ...[0, 1, 2, 3, 4].map((i) => at(vaultChart, ['data', i])),
          ],
        ),
      ),
      expect: { same: [srRoy.address, other.address] },
    },
    nan: { routes: vaults(change(info, ['apy7d'], 'NaN')), expect: onlyOther('implausible') },
    negative: { routes: vaults(change(info, ['apy7d'], -1)), expect: onlyOther('implausible') },
    absurd: { routes: vaults(change(info, ['apy7d'], 726)), expect: onlyOther('implausible') },
  },
};
