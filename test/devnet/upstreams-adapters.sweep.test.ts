import { type Address, erc20Abi, parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalChains, startChains } from '../../devnet/chain/index.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { labelAddress } from '../../devnet/seed/accounts.ts';
import { tokenSeed } from '../../devnet/seed/tokens.ts';
import { createCatalog, curatedChains, type Market, type Token } from '../../src/catalog/index.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { type Batch, resolvePool, type Upstreams } from '../../src/upstreams/index.ts';
import { priceKey } from '../../src/upstreams/types.ts';
import { adaptersOf, must, NOW, startTestUpstreams, type TestUpstreams } from './upstreams-support.ts';

/** The service's adapters against the simulated providers: they read the seeded values. */
let chains: LocalChains;
let up: TestUpstreams;
let adapters: Upstreams;

beforeAll(async () => {
  const catalog = createCatalog(curatedChains, createOverlay(NOW));
  chains = await startChains({ chains: catalog.chains, mining: 'auto', clock: { now: () => NOW } });
  up = await startTestUpstreams({ catalog, rpcUrls: chains.rpcUrls });
  adapters = adaptersOf(up, { now: () => NOW });
});
afterAll(async () => {
  await up?.stop();
  await chains?.stop();
});

const tokens = (pick: (token: Token) => boolean): Token[] =>
  up.catalog.chains.flatMap((chain) => chain.tokens.filter(pick));
const whole = <T>(batch: Batch<T>): ReadonlyMap<string, T> => {
  expect([...batch.failures]).toEqual([]);
  return batch.values;
};
const seededApy = ({ chainId, symbol }: Token): number => Number(tokenSeed(chainId, symbol).apyPct);
const marketOf = (chainId: number, collateral: string, loan: string): Market =>
  must(
    up.chain(chainId).markets.find((m) => m.collateral.displaySymbol === collateral && m.loan.symbol === loan),
    `${collateral}/${loan}`,
  );

describe('yields', () => {
  test.each(['aggregator', 'incentivemarket', 'yieldmarket'] as const)('default: %s', async (source) => {
    const wanted = tokens(({ apySource, maturity }) => apySource === source && (maturity ?? Infinity) * 1000 > NOW);
    expect(wanted.length).toBeGreaterThan(0);
    for (const chain of up.catalog.chains) {
      const mine = wanted.filter(({ chainId }) => chainId === chain.chainId);
      const apys = whole(await adapters[source].apys(chain, mine));
      for (const token of mine) {
        const apy = must(apys.get(token.address), token.symbol);
        expect(apy.apyPct.toNumber()).toBeCloseTo(seededApy(token), 6);
        if (source !== 'yieldmarket') expect(apy.history?.length).toBeGreaterThanOrEqual(93);
      }
    }
  });

  test('default: stableindex', async () => {
    const wanted = tokens(({ apySource }) => apySource === 'stableindex');
    const pools = whole(await adapters.stableIndex.pools(() => true));
    for (const token of wanted) {
      const found = resolvePool(token, pools.values());
      if (!found.ok) throw new Error(`${token.symbol}: ${found.reason}`);
      expect(found.pool.avg7dPct.toNumber()).toBeCloseTo(seededApy(token), 6);
      expect(found.pool.history.length).toBeGreaterThanOrEqual(120);
    }
  });

  test('default: incentives, and their history', async () => {
    for (const chain of up.catalog.chains) {
      const ids = chain.markets.map(({ id }) => id);
      const live = whole(await adapters.incentives.live(chain, ids));
      const running = [...live.values()].flatMap(({ borrow, collateral }) => [...borrow, ...collateral]);
      expect(running.length).toBeGreaterThan(0);
      const histories = whole(await adapters.incentives.history(running.map(({ id }) => id)));
      for (const { id, aprPct } of running) {
        expect(must(histories.get(id), 'steps').at(-1)?.ratePct.toFixed()).toBe(aprPct.toFixed());
      }
    }
    const usde = marketOf(4663, 'USDe', 'USDG').id;
    const { values } = await adapters.incentives.live(up.chain(4663), [usde]);
    expect(values.get(usde)?.collateral.map(({ aprPct }) => aprPct.toFixed())).toEqual(['8.2']);
  });
});

describe('prices', () => {
  test('default: both sources return the seeded prices', async () => {
    const wanted = tokens(({ coingeckoId }) => coingeckoId !== undefined);
    const [first, second] = adapters.prices;
    const prices = whole(await first.usdPrices(wanted));
    for (const token of wanted) {
      expect(prices.get(priceKey(token))?.usd.toFixed()).toBe(
        new Decimal(tokenSeed(token.chainId, token.symbol).usdPrice).toFixed(),
      );
    }
    const others = await second.usdPrices(wanted);
    expect([...others.failures.keys()]).toEqual([priceKey(up.token('sNUSD'))]);
  });

  test('default: charts and candles', async () => {
    const chart = must((await adapters.charts.chart('weth', 30, 'usd')) ?? undefined, 'chart');
    if (chart === 'unknown_currency') throw new Error('The chart is in USD');
    expect(chart.prices.at(-1)).toEqual([NOW, 3200]);
    expect(await adapters.charts.chart('weth', 30, 'xxx')).toBe('unknown_currency');
    expect(await adapters.charts.chart('unknown', 30, 'usd')).toBeNull();
    for (const chain of up.catalog.chains) {
      const token = must(
        chain.markets.find(({ kind, correlated }) => kind === 'loop' && !correlated)?.collateral,
        'perp',
      );
      const pool = must((await adapters.ohlcv.deepestPool(chain, token.address)) ?? undefined, 'pool');
      const query = { timeframe: 'hour', aggregate: 4, limit: 200 } as const;
      const { candles, dropped } = await adapters.ohlcv.candles(chain, pool, query);
      expect([candles.length, dropped]).toEqual([200, 0]);
    }
    expect(await adapters.ohlcv.deepestPool(up.chain(1), up.token('PT-sUSDe').address)).toBeNull();
  });
});

describe('indexer', () => {
  test('default: shared liquidity and borrow histories of every market', async () => {
    for (const chain of up.catalog.chains) {
      const ids = chain.markets.map(({ id }) => id);
      expect(whole(await adapters.indexer.sharedLiquidity(chain, ids)).size).toBe(ids.length);
      const histories = whole(await adapters.indexer.borrowHistory(chain, ids));
      for (const id of ids) expect(histories.get(id)?.points.length).toBeGreaterThan(120);
    }
  });
});

describe('quotes', () => {
  const who: Address = labelAddress('trader through the adapters');
  const request = (chainId: number, from: string, to: string, amount: string) => {
    const [tokenIn, tokenOut] = [up.token(from, chainId), up.token(to, chainId)];
    const amountIn = parseUnits(amount, tokenIn.decimals);
    return { chain: up.chain(chainId), tokenIn: tokenIn.address, tokenOut: tokenOut.address, amountIn };
  };
  const swap = {
    sender: who,
    recipient: who,
    slippage: new Decimal('0.005'),
    feeBps: 5,
    feeReceiver: labelAddress('fees'),
  };

  test.each([
    ['AggregatorOne', 1, 'USDC', 'sUSDe', '5000'],
    ['AggregatorOne', 4663, 'USDG', 'NVDA', '5000'],
    ['AggregatorTwo', 1, 'USDC', 'sUSDe', '5000'],
    ['AggregatorTwo', 1, 'ETH', 'wstETH', '1'],
    ['YieldMarket', 1, 'USDC', 'PT-sUSDe', '5000'],
  ] as const)('default: %s on chain %i, %s to %s, fills its quote', async (source, chainId, from, to, amount) => {
    const requested = request(chainId, from, to, amount);
    const port = must(
      adapters.quotes.find((candidate) => candidate.source === source),
      source,
    );
    expect(port.serves(requested)).toBe(true);
    const quote = must((await port.quote({ ...requested, ...swap })) ?? undefined, 'quote');
    const local = chains.on(chainId);
    await local.mint(local.chain.native, who, parseUnits('10', 18));
    if (quote.value === 0n) {
      await local.mint(requested.tokenIn, who, requested.amountIn);
      await local.call(who, requested.tokenIn, 'TestToken', 'approve', [quote.router, requested.amountIn]);
    }
    const held = () =>
      local.client.readContract({ address: requested.tokenOut, abi: erc20Abi, functionName: 'balanceOf', args: [who] });
    const before = await held();
    await local.send({ from: who, to: quote.router, data: quote.calldata, value: quote.value });
    expect((await held()) - before).toBe(quote.amountOut);
  });

  test('behavior: no route is null', async () => {
    expect(await adapters.routes.route(request(1, 'sNUSD', 'USDC', '100'))).toBeNull();
    expect(await adapters.routes.route(request(1, 'sDOLA', 'USDC', '5000000'))).toBeNull();
    const sold = must((await adapters.routes.route(request(1, 'sUSDe', 'USDC', '100000'))) ?? undefined, 'route');
    expect(sold.amountOutUsd?.toNumber()).toBeCloseTo(122_307, -1);
  });
});
