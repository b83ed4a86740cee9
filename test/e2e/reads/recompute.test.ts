import type { MarketId as SdkMarketId } from '@morpho-org/blue-sdk';
import { fetchMarket } from '@morpho-org/blue-sdk-viem';
import { BigNumber } from 'bignumber.js';
import { parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Market, Token } from '../../../src/catalog/index.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { SUSDE_PYUSD } from '../known.ts';

/*
 * One loop strategy and one equity vault, computed again from the chain (by the protocol's SDK) and from the answers of the
 * providers to a plain request. Nothing of the service's own arithmetic is used.
 */

const Exact = BigNumber.clone({ DECIMAL_PLACES: 60, ROUNDING_MODE: BigNumber.ROUND_HALF_UP, EXPONENTIAL_AT: 1e9 });
type Exact = BigNumber;
const DAY_MS = 86_400_000;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const shown = (value: Exact, places = 2) => value.toFixed(places, BigNumber.ROUND_HALF_UP);
const ask = async (url: string, init?: RequestInit): Promise<Json> => (await fetch(url, init)).json();

/** Yearly yield by the source that the catalog names, percent, with its daily history. */
async function collateralApy(token: Token): Promise<{ apy: Exact; days: [number, Exact][] }> {
  const { urls } = service.world.upstreams;
  if (token.apySource === 'stableindex') {
    const { data } = await ask(`${urls.stablewatch}/pools?api_key=any`);
    const pool = data.find(({ id }: Json) => id === token.stableIndexId);
    const { data: history } = await ask(`${urls.stablewatch}/history/${pool.id}?api_key=any`);
    const days = history.data.map(({ timestamp, apy }: Json) => [new Date(timestamp).getTime(), new Exact(apy)]);
    return { apy: new Exact(pool.metrics.apy.avg7d), days };
  }
  if (token.apySource === 'aggregator') {
    const { data } = await ask(`${urls['defillama-yields']}/chart/${token.defillamaId}`);
    const days = data.map(({ timestamp, apy }: Json) => [new Date(timestamp).getTime(), new Exact(apy)]);
    return { apy: new Exact(data.at(-1).apy), days };
  }
  throw new Error(`${token.symbol} has another source`);
}

/** Rates of running campaigns for borrowers of a market, percent, from every page of the list. */
async function borrowIncentive({ chainId, id }: Market): Promise<Exact> {
  const { merkl } = service.world.upstreams.urls;
  let sum = new Exact(0);
  for (let page = 0; ; page++) {
    const rows: Json[] = await ask(
      `${merkl}/campaigns?type=MORPHOBORROW&chainId=${chainId}&items=100&page=${page}&status=LIVE`,
    );
    for (const { params, apr } of rows) if (params.market.toLowerCase() === id) sum = sum.plus(apr);
    if (rows.length < 100) return sum;
  }
}

async function usdPrice(token: Token): Promise<Exact> {
  const body = await ask(
    `${service.world.upstreams.urls.coingecko}/simple/price?vs_currencies=usd&ids=${token.coingeckoId}`,
  );
  return new Exact(body[token.coingeckoId ?? ''].usd);
}

/** The market accrued to the block that the service read. */
async function onChain(market: Market) {
  const { client } = service.world.chains.on(market.chainId);
  const { body } = await service.graphql(`{ market(id: "${market.id}") { state { readAt { blockNumber } } } }`);
  const blockNumber = BigInt(body.data.market.state.readAt.blockNumber);
  const { timestamp } = await client.getBlock({ blockNumber });
  const stored = await fetchMarket(market.id as string as SdkMarketId, client, {
    chainId: market.chainId,
    blockNumber,
  });
  return {
    market: stored.accrueInterest(timestamp),
    borrowApy: new Exact(stored.getBorrowApy(timestamp)).times(100),
  };
}

/** Percent lost selling that many USD for the chain's stable. */
async function exitLoss(market: Market, usd: number): Promise<Exact> {
  const { chain } = service.world.chains.on(market.chainId);
  const [price, stablePrice] = [await usdPrice(market.collateral), await usdPrice(chain.stable)];
  const unit = new Exact(10).pow(market.collateral.decimals);
  const amountIn = new Exact(usd).div(price).times(unit).integerValue(BigNumber.ROUND_DOWN);
  const url = `${service.world.upstreams.urls.kyberswap}/ethereum/api/v1/routes?tokenIn=${market.collateral.address}&tokenOut=${chain.stable.address}&amountIn=${amountIn.toFixed(0)}`;
  const { data } = await ask(url);
  const soldUsd = amountIn.div(unit).times(price);
  const gotUsd = new Exact(data.routeSummary.amountOut).shiftedBy(-chain.stable.decimals).times(stablePrice);
  return soldUsd.minus(gotUsd).div(soldUsd).times(100);
}

const leverageAt = (ltvPct: Exact) => new Exact(shown(new Exact(100).div(new Exact(100).minus(ltvPct)), 1));
const carry = (earned: Exact, paid: Exact, leverage: Exact) =>
  earned.times(leverage).minus(paid.times(leverage.minus(1)));

const marketOf = (chainId: number, id: string): Market => service.world.chains.on(chainId).market(id);

describe('a loop strategy', () => {
  test('every number follows from the chain and the providers', async () => {
    const market = marketOf(1, SUSDE_PYUSD);
    const { body } = await service.get(`/v1/strategies/${SUSDE_PYUSD}`);
    const { market: accrued, borrowApy } = await onChain(market);
    const { apy, days } = await collateralApy(market.collateral);
    const incentive = await borrowIncentive(market);
    const net = borrowApy.minus(incentive);
    const [collateralUsd, loanUsd] = [await usdPrice(market.collateral), await usdPrice(market.loan)];
    const usd = (units: bigint) => new Exact(String(units)).shiftedBy(-market.loan.decimals).times(loanUsd);
    const liquidation = new Exact(String(market.lltv)).shiftedBy(-16);
    const max = liquidation.minus('0.25');
    const safe = max.minus('0.75');
    const rung = (leverage: Exact, ltvPct: Exact) => ({
      leverage: shown(leverage, 1),
      ltvPct: shown(ltvPct, 1),
      leverageApyPct: shown(carry(apy, net, leverage)),
    });
    const steps = Array.from({ length: Math.floor(leverageAt(max).toNumber()) }, (_, i) => new Exact(i + 1));
    const ladder = steps.map((step) => rung(step, new Exact(1).minus(new Exact(1).div(step)).times(100)));
    if (!leverageAt(max).isInteger()) ladder.push(rung(leverageAt(max), max));

    const freshness = Date.parse(body.freshness.collateralApy.asOf);
    const mean = (window: number) => {
      const inside = days.filter(([atMs]) => {
        const day = Math.floor(atMs / DAY_MS) * DAY_MS;
        return day > freshness - window * DAY_MS && day <= freshness;
      });
      return shown(inside.reduce((sum, [, value]) => sum.plus(value), new Exact(0)).div(inside.length));
    };
    const { data: shared } = await ask(service.world.upstreams.urls.morpho, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `{ marketById(marketId: "${market.id}", chainId: 1) { publicAllocatorSharedLiquidity { assets } } }`,
      }),
    });
    const brought = shared.marketById.publicAllocatorSharedLiquidity.map(({ assets }: Json) => BigInt(assets));

    expect(body).toMatchObject({
      id: market.id,
      chainId: 1,
      collateral: { address: market.collateral.address, priceUsd: collateralUsd.toFixed() },
      loan: { address: market.loan.address, priceUsd: loanUsd.toFixed() },
      collateralApyPct: shown(apy),
      yieldSustainabilityPct: { avg30d: mean(30), avg60d: mean(60), avg90d: mean(90) },
      borrowApyPct: shown(borrowApy),
      borrowIncentive: { aprPct: shown(incentive) },
      netBorrowApyPct: shown(net),
      supplyUsd: Number(shown(usd(accrued.totalSupplyAssets))),
      liquidityUsd: Number(shown(usd(accrued.liquidity))),
      publicAllocatorLiquidityUsd: Number(
        shown(usd(brought.reduce((sum: bigint, assets: bigint) => sum + assets, accrued.liquidity))),
      ),
      utilizationPct: shown(new Exact(String(accrued.utilization)).shiftedBy(-16)),
      maxLeverage: shown(leverageAt(max), 1),
      ltvPct: { liquidation: shown(liquidation), max: shown(max) },
      defaultLeverage: rung(leverageAt(safe), safe),
    });
    expect(body.leverageLadder).toEqual(ladder);
    for (const size of [100_000, 500_000, 1_000_000, 5_000_000]) {
      const loss = await exitLoss(market, size);
      expect([size, body.exitLiquidity.slippagePct[size]]).toEqual([size, shown(loss)]);
    }
  });
});

describe('an equity vault', () => {
  const VAULTS = `{ strategies(chainIds: [4663], filter: { kinds: [EQUITY_VAULT], listedOnly: false }) { nodes {
    strategyId marketId curator correlated apyPct borrowApyPct ltvLimits { liquidationPct maxPct } liquidityUsd
    collateralPrice { usd } loanPrice { usd }
    ... on EquityVaultStrategy {
      yieldStrategyId targetLtvPct yieldLegApyPct
    }
    maxLeverage defaultLeverage { leverage ltvPct leverageApyPct } leverageLadder { leverage ltvPct leverageApyPct }
  } } }`;

  test('every number follows from its two markets', async () => {
    const { body } = await service.graphql(VAULTS);
    const vaults = body.data.strategies.nodes;
    expect(vaults.length).toBe(3);
    for (const vault of vaults) {
      const stockMarket = marketOf(4663, vault.marketId);
      const yieldMarket = marketOf(4663, vault.yieldStrategyId);
      expect(vault.strategyId).toBe(`equity-${stockMarket.id}`);
      const stock = await onChain(stockMarket);
      const leg = await onChain(yieldMarket);
      const { apy } = await collateralApy(yieldMarket.collateral);
      const legNet = leg.borrowApy.minus(await borrowIncentive(yieldMarket));
      const safe = new Exact(String(yieldMarket.lltv)).shiftedBy(-16).minus('1');
      const legApy = carry(apy, legNet, leverageAt(safe));
      const liquidation = new Exact(String(stockMarket.lltv)).shiftedBy(-16);
      const cap = liquidation.times('0.88');
      const rung = (ltvPct: Exact) => ({
        leverage: shown(ltvPct.div(100).plus(1), 1),
        ltvPct: shown(ltvPct, 1),
        leverageApyPct: shown(ltvPct.div(100).times(legApy.minus(stock.borrowApy))),
      });
      const loanUsd = await usdPrice(stockMarket.loan);
      const oracle = await service.world.chains.on(4663).client.readContract({
        address: stockMarket.oracle,
        abi: parseAbi(['function price() view returns (uint256)']),
        functionName: 'price',
      });
      const places = stockMarket.collateral.decimals - stockMarket.loan.decimals - 36;
      const target = new Exact('50');
      expect(vault).toMatchObject({
        curator: 'Longbow',
        correlated: false,
        apyPct: rung(target).leverageApyPct,
        maxLeverage: rung(cap).leverage,
        borrowApyPct: shown(stock.borrowApy),
        yieldLegApyPct: shown(legApy),
        targetLtvPct: '50.00',
        ltvLimits: { liquidationPct: shown(liquidation), maxPct: shown(cap) },
        defaultLeverage: rung(target),
        leverageLadder: [rung(new Exact(0)), rung(target), rung(cap)],
        loanPrice: { usd: loanUsd.toFixed() },
        liquidityUsd: shown(
          new Exact(String(stock.market.liquidity)).shiftedBy(-stockMarket.loan.decimals).times(loanUsd),
        ),
      });
      const byOracle = new Exact(String(oracle)).times(loanUsd).shiftedBy(places);
      expect(new Exact(vault.collateralPrice.usd).minus(byOracle).abs().lte('1e-12')).toBe(true);
    }
  });
});
