import { BigNumber } from 'bignumber.js';
import { parseEther, parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Market } from '../../../src/catalog/index.ts';
import { VISIBILITY_CHECKS } from '../../../src/domain/strategy/types.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { allNodes } from '../known.ts';

/** The client revives tags before use: the result has to equal the numbers of GraphQL. */
let service: TestService;
let markets: Json[];
let typed: Map<string, Json>;

const QUERY = `query ($first: Int!, $after: String) { markets(first: $first, after: $after) { pageInfo { hasNextPage endCursor } nodes {
  id: marketId chainId visible: listed correlated curator irm lltv: lltvWad
  oracle { address price: priceE36 }
  state { totalSupplyAssets totalSupplyShares totalBorrowAssets totalBorrowShares lastUpdate: lastAccrualAt fee: feeWad rateAtTarget: rateAtTargetWad borrowRate: borrowRateWad }
  totalSupplyAssets totalBorrowAssets totalSupplyShares totalBorrowShares liquidityAssets utilization: utilizationWad
  borrowApyPct netBorrowApyPct collateralApyPct effectiveCollateralApyPct
  supplyUsd liquidityUsd publicAllocatorLiquidityUsd
  borrowIncentive { aprPct campaigns { id: campaignId aprPct } } collateralIncentive { aprPct campaigns { id: campaignId aprPct } }
  collateralPrice { usd source } loanPrice { usd source }
  sharedLiquidity { vault: vaultAddress withdrawMarketId assets feeWei }
  trailing: means { collateralApyPct: collateralApy { avg30d: avg30dPct avg60d: avg60dPct avg90d: avg90dPct } leverageApyPct: leverageApy { avg30d: avg30dPct avg60d: avg60dPct avg90d: avg90dPct } }
  others: state { readAt { blockNumber blockTime: blockAt } }
  oracleReading: oracle { type readAt { blockNumber blockTime: blockAt } }
  kind collateralApySource quarterlyBorrowApyPct ltvLimits { liquidationPct maxPct safePct }
  priceAges: collateralPrice { freshness { asOf } }
  exitLiquidity { slippages { sizeUsd slippagePct } }
} } }`;

const at = ({ blockNumber, blockTime: asOf }: Json) => ({ blockNumber, asOf });

/** Turn the tags of section 2.5 into the numbers that they stand for. */
function revive(value: Json): Json {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === '$bn') return new BigNumber(value.$bn);
  if (keys.length === 1 && keys[0] === '$bigint') return BigInt(value.$bigint);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]));
}

const BORROWER = '0x00000000000000000000000000000000000b0119';
/** 27 digits. */
const LONG_PRICE = 987_654_321_012_345_678_901_234_567n;
/** Of a collateral with 18 decimals in a loan with 6 that is worth a dollar: 1e-18 USD a token. */
const TINY_PRICE = 1_000_000n;
const isPricedByOracle = ({ collateral }: Market) => collateral.coingeckoId === undefined && collateral.decimals === 18;

beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    before: async (world) => {
      const chain = world.chains.on(1);
      const usdc = chain.chain.markets.filter(({ loan }) => loan.symbol === 'USDC');
      const weth = chain.chain.markets.filter(({ loan }) => loan.symbol === 'WETH');
      const long = usdc.find((market) => !isPricedByOracle(market));
      const tiny = usdc.find(isPricedByOracle);
      const [huge] = weth;
      if (!long || !tiny || !huge) throw new Error('the catalog has these markets');
      await chain.setOraclePrice(long, LONG_PRICE);
      await chain.setOraclePrice(tiny, TINY_PRICE);
      await chain.supply(huge, parseUnits('1', 30));
      await chain.client.setBalance({ address: BORROWER, value: parseEther('1') });
      await chain.openMorphoPosition(huge, {
        account: BORROWER,
        collateral: parseEther('2'),
        borrowed: 1n,
      });
    },
  });
  markets = (await service.get('/v1/app/markets')).body.markets;
  typed = new Map((await allNodes(service, QUERY, 'markets')).map((market: Json) => [market.id, market]));
});
afterAll(() => service?.stop());

describe('/v1/app/markets', () => {
  test('has every market of both chains, listed or not', () => {
    const { chains } = service.world;
    const ids = [1, 4663].flatMap((chainId) => chains.on(chainId).chain.markets.map(({ id }) => id));
    expect(markets.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(typed.size).toBe(ids.length);
  });

  test('its tagged numbers equal those of GraphQL', () => {
    let numbers = 0;
    const compare = (revived: Json, exact: Json, path: string) => {
      if (revived instanceof BigNumber) {
        numbers += 1;
        expect(revived.toFixed(), path).toBe(exact);
      } else if (typeof revived === 'bigint') {
        numbers += 1;
        expect(String(revived), path).toBe(exact);
      } else if (Array.isArray(revived)) {
        expect(revived.length, path).toBe(exact.length);
        revived.forEach((item, i) => {
          compare(item, exact[i], `${path}[${i}]`);
        });
      } else if (typeof revived === 'object' && revived !== null) {
        for (const key of Object.keys(exact)) {
          // Absent is null there, and the reason stands in the gaps.
          if (exact[key] !== null || key in revived) compare(revived[key] ?? null, exact[key], `${path}.${key}`);
        }
      } else {
        expect(revived, path).toBe(exact);
      }
    };
    for (const market of markets) {
      const { others, oracleReading, kind, collateralApySource, ltvLimits, ...rest } = typed.get(market.id);
      const { priceAges, exitLiquidity, quarterlyBorrowApyPct, ...exact } = rest;
      const shown = revive(market);
      compare(shown, exact, market.id);
      compare(shown.trailing, { quarterlyBorrowApyPct }, 'trailing');
      const { liquidationPct: liquidationLtvPct, maxPct: maxLtvPct, safePct: safeLtvPct } = ltvLimits;
      compare(shown, { liquidationLtvPct, maxLtvPct, safeLtvPct }, 'limits');
      compare(shown.state, at(others.readAt), 'state');
      compare(shown.oracle, at(oracleReading.readAt), 'oracle');
      expect(shown.oracle.type).toBe(oracleReading.type?.toLowerCase());
      expect(shown.kind).toBe(kind.toLowerCase());
      expect(shown.collateralApySource).toBe(collateralApySource.replace('_', '').toLowerCase());
      expect(shown.collateralPrice?.asOf).toBe(priceAges?.freshness.asOf);
      const sizes = (exitLiquidity?.slippages ?? []).map((row: Json) => [row.sizeUsd, row.slippagePct]);
      const losses = Object.entries<Json>(shown.exitSlippage ?? {}).map(([size, loss]) => [
        size,
        loss?.toFixed() ?? null,
      ]);
      expect(new Map(losses as [string, Json][])).toEqual(new Map(sizes));
    }
    expect(numbers).toBeGreaterThan(1_000);
  });

  test('behavior: has no JSON numbers and no exponents', () => {
    const text = JSON.stringify(markets);
    const walk = (value: Json, path: string) => {
      if (typeof value === 'number') expect(path).toMatch(/\.(chainId|decimals|staleAfterSec|staleForSec)$/);
      else if (typeof value === 'object' && value !== null) {
        for (const [key, item] of Object.entries(value)) walk(item, `${path}.${key}`);
      }
    };
    for (const market of markets) walk(market, market.id);
    for (const [, digits] of text.matchAll(/"\$(?:bn|bigint)":"([^"]*)"/g)) expect(digits).toMatch(/^-?\d+(\.\d+)?$/);
  });

  test('behavior: keeps a 27-digit price, a price of 1e-18 and 10^30 base units exactly', () => {
    const ofChain = service.world.chains.on(1).chain.markets;
    const find = (wanted: (market: Market) => boolean) => {
      const market = ofChain.find(wanted);
      return revive(markets.find(({ id }) => id === market?.id));
    };
    expect(find((market) => market.loan.symbol === 'USDC' && !isPricedByOracle(market)).oracle.price).toBe(LONG_PRICE);

    const tiny = find((market) => market.loan.symbol === 'USDC' && isPricedByOracle(market));
    expect(tiny.oracle.price).toBe(TINY_PRICE);
    expect(tiny.collateralPrice.source).toBe('oracle');
    expect(tiny.collateralPrice.usd.toFixed()).toBe(tiny.loanPrice.usd.shiftedBy(-18).toFixed());
    expect(tiny.collateralPrice.usd.toFixed()).toMatch(/^0\.0{17,18}[1-9]/);

    const huge = find(({ loan }) => loan.symbol === 'WETH');
    expect(huge.totalSupplyAssets).toBeGreaterThan(10n ** 30n);
    expect(huge.utilization).toBeLessThan(10n ** 14n);
    expect(huge.totalSupplyAssets - huge.totalBorrowAssets).toBe(huge.liquidityAssets);
    expect(huge.supplyUsd.toFixed()).toBe(
      new BigNumber(String(huge.totalSupplyAssets)).shiftedBy(-18).times(huge.loanPrice.usd).toFixed(),
    );
  });

  test('behavior: `visible` decides the strategies list, and the checks have the reasons', async () => {
    const listed = new Set<string>();
    for (const chainId of [1, 4663]) {
      const { body } = await service.get(`/v1/strategies?chainId=${chainId}`);
      for (const { id } of body.strategies) listed.add(id.replace('equity-', ''));
    }
    for (const { id, visible } of markets) expect([id, visible]).toEqual([id, listed.has(id)]);
    const checked = await allNodes(
      service,
      `query ($first: Int!, $after: String) { strategies(filter: { listedOnly: false }, first: $first, after: $after) {
        pageInfo { hasNextPage endCursor } nodes { __typename marketId visibility { listed checks { rule passed value threshold } } }
      } }`,
      'strategies',
    );
    for (const { __typename: type, marketId, visibility } of checked) {
      expect(visibility.listed).toBe(listed.has(marketId));
      const rules = VISIBILITY_CHECKS.filter(
        (rule) => type === 'EquityVaultStrategy' || rule !== 'operator_not_approved',
      );
      expect(visibility.checks.map(({ rule }: Json) => rule.toLowerCase())).toEqual(rules);
      expect(visibility.checks.every(({ passed }: Json) => passed)).toBe(visibility.listed);
    }
  });
});
