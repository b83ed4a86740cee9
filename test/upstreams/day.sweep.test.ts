import { expect, it } from 'vitest';
import { createLimiter } from '../../devnet/upstreams/limits.ts';
import { providers } from '../../devnet/upstreams/providers/index.ts';
import { fieldsOf } from '../../devnet/upstreams/respond.ts';
import { PROVIDERS, type Provider, type SimRequest, type SimResponse } from '../../devnet/upstreams/types.ts';
import { createWorld } from '../../devnet/upstreams/world.ts';
import { cadencesOf } from '../../src/app/cadences.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { parseEnv } from '../../src/config/config.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import { groupHealth } from '../../src/domain/freshness/health.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { createMemoryLease } from '../../src/snapshot/lease.ts';
import { createUpstreams, upstreamsConfig } from '../../src/upstreams/index.ts';
import type { SwapRequest } from '../../src/upstreams/types.ts';
import { createWarmerRunner } from '../../src/warmers/runner/runner.ts';
import { BUDGETS, PARAMS } from '../domain/world.ts';
import { atPar, world } from '../warmers/world.ts';
import { ptRequest, stranger, swapRequest } from './cases/swaps.ts';

/*
 * A day of the warmers, of thirty quotes a minute, and of callers that ask for as many charts as they can, at the limits of the
 * real providers. No time is waited for: the clock is moved from timer to timer.
 */

const DAY_MS = 86_400_000;
/** The markets of the warmers' world hold a hundred dollars. */
const LISTING = { ...PARAMS.listing, minLiquidityUsd: new Decimal(10) };
const CALLDATA = `0x${'12'.repeat(36)}`;
const catalog = createCatalog(curatedChains);

/** Answers of the swap venues, which need no chain. */
function venue(name: Provider, { method, path, query, body }: SimRequest, nowMs: number): SimResponse | undefined {
  const chain = catalog.chains.find(({ providers: known }) => path.includes(`/${known.kyberswap ?? '-'}/`));
  if (name === 'kyberswap' && method === 'GET' && chain) {
    const [tokenIn, amountIn] = [query.get('tokenIn') ?? '', query.get('amountIn') ?? ''];
    const amountOut = atPar(chain, tokenIn, BigInt(amountIn)).toString();
    const routeSummary = { tokenIn, tokenOut: query.get('tokenOut'), amountIn, amountOut, timestamp: nowMs / 1_000 };
    return { status: 200, body: { code: 0, data: { routeSummary, routerAddress: stranger } } };
  }
  if (name === 'kyberswap' && chain) {
    const { amountIn, amountOut } = fieldsOf(fieldsOf(body).routeSummary);
    const routerAddress = chain.swapRouters.AggregatorOne?.[0];
    return { status: 200, body: { code: 0, data: { routerAddress, data: CALLDATA, amountIn, amountOut } } };
  }
  if (name === 'pendle' && method === 'POST') {
    const to = catalog.chain(1)?.swapRouters.YieldMarket?.[0];
    const route = { tx: { to, data: CALLDATA }, outputs: [{ token: ptRequest.tokenOut, amount: '5' }] };
    return { status: 200, body: { routes: [route] } };
  }
  return undefined;
}

it('behavior: a day at the real limits', { timeout: 900_000 }, async () => {
  const w = world();
  const { time, snapshot, ports } = w;
  const { clock, timers } = time;
  const limiter = createLimiter(clock);
  const simulated = createWorld({ catalog, clock, rpcUrls: {}, vaults: [] });
  const counts = new Map<string, number>();
  const refused: string[] = [];

  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    const name = PROVIDERS.find((known) => known === url.hostname);
    if (name === undefined) throw new Error(`no provider ${url.hostname}`);
    const request: SimRequest = {
      method: init?.method ?? 'GET',
      path: url.pathname === '/' ? '' : url.pathname,
      query: url.searchParams,
      headers: (init?.headers ?? {}) as Record<string, string>,
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
    };
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const { isRefused, headers } = limiter.take(name, request);
    if (isRefused) refused.push(`${name} at ${(clock.now() - startMs) / 1_000} s`);
    const good = () => venue(name, request, clock.now()) ?? providers[name].handle(request, simulated);
    const { status, body } = isRefused ? { status: 429, body: providers[name].refusal(429, 'no') } : await good();
    return Response.json(body, { status, headers });
  };
  const at = (name: Provider, apiKey?: string) => ({ baseUrl: `http://${name}`, ...(apiKey ? { apiKey } : {}) });
  const upstreams = createUpstreams({
    config: upstreamsConfig({
      pendle: at('pendle'),
      defillamaYields: at('defillama-yields'),
      defillamaCoins: at('defillama-coins'),
      stablewatch: at('stablewatch', 'key'),
      royco: at('royco', 'key'),
      merkl: at('merkl'),
      coingecko: at('coingecko', 'demo'),
      geckoterminal: at('geckoterminal'),
      kyberswap: at('kyberswap', 'spiral-gateway'),
      openocean: at('openocean'),
      morphoApi: at('morpho'),
    }),
    fetch,
    clock,
    logger: silentLogger,
    random: () => 0.5,
    sleep: (ms) => new Promise((resolve) => timers.setTimeout(resolve, ms)),
    timeouts: { setTimeout: () => null, clearTimeout: () => {} },
  });
  // The lending indexer needs a chain; all others answer as in the local world.
  Object.assign(ports, { ...upstreams, indexer: ports.indexer });

  const cadences = cadencesOf({ env: parseEnv({ COINGECKO_API_KEY: 'demo' }) });
  const everyOf: Readonly<Record<string, number>> = { prices: cadences.prices };
  const warmers = w.warmers.map((warmer) => ({ ...warmer, everySec: everyOf[warmer.name] ?? warmer.everySec }));
  const runner = createWarmerRunner({
    warmers,
    clock,
    timers,
    logger: silentLogger,
    lease: createMemoryLease(),
    random: () => 0.5,
  });

  const startMs = clock.now();
  const quotes = { asked: 0, refused: [] as unknown[] };
  const ask = (source: string, request: SwapRequest): void => {
    const port = upstreams.quotes.find((one) => one.source === source);
    quotes.asked += 1;
    port?.quote(request).catch((error: unknown) => quotes.refused.push([source, clock.now() - startMs, error]));
  };
  const charts = { asked: 0, answered: 0 };
  const chart = (coinId: string, isUnlisted: boolean): void => {
    charts.asked += 1;
    upstreams.charts.chart(coinId, 7, 'usd', { isUnlisted }).then(
      () => (charts.answered += 1),
      () => {},
    );
  };
  /** Five quotes at once every ten seconds, one of ten by the yield market; a catalog coin and an invented one each second turn. */
  const turn = (n: number): void => {
    for (let i = 0; i < 5; i += 1) {
      if (n % 2 === 0 && i === 0) ask('YieldMarket', ptRequest);
      else ask('AggregatorOne', swapRequest);
    }
    chart('weth', false);
    chart(`invented-${n}`, true);
    timers.setTimeout(() => turn(n + 1), 10_000);
  };

  const started = runner.start();
  turn(0);
  /** Listed strategies, and values past their freshness budget or held back by a limit. */
  const stateOf = (): { readonly listed: number; readonly stale: readonly string[] } => {
    let listed = 0;
    const stale: string[] = [];
    for (const chain of catalog.chains) {
      const facts = snapshot.facts(chain.chainId);
      const { strategies } = composeChain(chain, facts, { ...PARAMS, listing: LISTING, nowMs: clock.now() });
      listed += strategies.filter(({ visibility }) => visibility.visible).length;
      for (const { group, source, status, items } of groupHealth(chain, facts, BUDGETS, clock.now())) {
        if (items > 0 && status === 'stale') stale.push(`${chain.chainId} ${group} ${source}`);
      }
      for (const group of FACT_GROUPS) {
        for (const { reason } of facts.groups[group].failures.values()) {
          if (reason === 'throttled' || reason === 'rate_limited') stale.push(`${chain.chainId} ${group} ${reason}`);
        }
      }
    }
    return { listed, stale };
  };
  const states: ReturnType<typeof stateOf>[] = [];
  for (let quarter = 0; quarter < 96; quarter += 1) {
    await time.advance(DAY_MS / 96);
    states.push(stateOf());
  }
  await started;
  await runner.stop();

  const swept = catalog.chains.map(({ chainId }) => snapshot.facts(chainId).groups.exitLiquidity);
  const quotas = upstreams.seenQuotas();
  const forecasts = quotas.flatMap(({ publicName, windows }) =>
    windows.flatMap(({ window, limit, forecast }) =>
      forecast === undefined ? [] : [[publicName, window, forecast, limit]],
    ),
  );
  expect(quotes.asked).toBe(43_200 + 5);
  expect(quotes.refused).toEqual([]);
  expect(refused).toEqual([]);
  expect(states[0]?.listed).toBeGreaterThan(0);
  expect(new Set(states.map(({ listed }) => listed)).size).toBe(1);
  expect([...new Set(states.flatMap(({ stale }) => stale))]).toEqual([]);
  // Charts may use a third of the daily part of the month's requests, and the reserve of the first day.
  expect(charts.asked).toBeGreaterThan(17_000);
  expect(charts.answered).toBeGreaterThan(150);
  expect(charts.answered).toBeLessThan(210);
  // Of all days the first is the dearest.
  expect(counts.get('coingecko')).toBeLessThan(10_000 / 24);
  expect(swept.map(({ items, failures }) => [items.size > 0, failures.size])).toEqual([
    [true, 0],
    [true, 0],
  ]);
  for (const [name, window, forecast, limit] of forecasts) {
    expect([name, window, Number(forecast) < Number(limit)]).toEqual([name, window, true]);
  }
});
