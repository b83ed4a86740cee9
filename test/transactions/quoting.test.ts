import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/catalog/types.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import type { Address } from '../../src/shared/ids.ts';
import type { Timers } from '../../src/shared/timers.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import type { BuilderDeps } from '../../src/transactions/deps.ts';
import { NoRouteError, SimulationRevertedError } from '../../src/transactions/errors.ts';
import { withVenues } from '../../src/transactions/quote/attempts.ts';
import { createQuoter, type QuoterDeps } from '../../src/transactions/quote/quoter.ts';
import { rankQuotes } from '../../src/transactions/quote/rank.ts';
import { createVenueStatistics, type VenueStatistics } from '../../src/transactions/quote/statistics.ts';
import type { SwapQuote, SwapQuotePort } from '../../src/upstreams/types.ts';
import { address, catalog, RUNS } from './world.ts';

const chain = catalog.chain(1);
if (!chain) throw new Error('chain 1 is curated');
const [USDC, SUSDE] = ['USDC', 'sUSDe'].map(
  (symbol) => chain.tokens.find((token) => token.symbol === symbol)?.address,
) as [Address, Address];
const servedChain = chain;
const routerOf = (source: SwapQuote['source']) => chain.swapRouters[source]?.[0] as Address;

function quoteOf(source: SwapQuote['source'], amountOut: bigint, router = routerOf(source)): SwapQuote {
  return { source, amountIn: 100n, amountOut, feeBps: 0, router, calldata: '0x12345678', value: 0n, expiresAtMs: 0 };
}

type Answer = SwapQuote | null | Error | 'hangs';
function venue(source: SwapQuote['source'], answer: Answer, serves = true): SwapQuotePort {
  return {
    source,
    serves: () => serves,
    quote: async (_request, options) => {
      if (answer === 'hangs') {
        return new Promise((_resolve, reject) => {
          options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
        });
      }
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

/** Timers that fire at once: every deadline has passed. */
const impatient: Timers = {
  setTimeout: (callback) => setImmediate(callback),
  clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate),
};
let statistics: VenueStatistics;
/** Of all requests: `venue outcome`. */
let outcomes: string[];
beforeEach(() => {
  outcomes = [];
  statistics = createVenueStatistics(({ venue: name, outcome }) => outcomes.push(`${name} ${outcome}`));
});
const request = {
  chain: servedChain,
  tokenIn: USDC,
  tokenOut: SUSDE,
  amountIn: 100n,
  sender: USDC,
  recipient: USDC,
  slippage: undefined as never,
  feeBps: 0,
};
const ask = (
  venues: readonly SwapQuotePort[],
  timers: Timers = systemTimers,
  isRouterAllowed: QuoterDeps['isRouterAllowed'] = () => undefined,
  on: Chain = servedChain,
) => createQuoter({ venues, timers, statistics, isRouterAllowed }).quote({ ...request, chain: on });

/** Request quotes with a contract that allows or refuses some routers. */
const askAllowing = (allowed: ReadonlyMap<Address, boolean>, ...venues: readonly SwapQuotePort[]) =>
  ask(venues, systemTimers, (_chain, router) => allowed.get(router));

describe('refused routers', () => {
  const one = venue('AggregatorOne', quoteOf('AggregatorOne', 1_000n));
  const two = venue('AggregatorTwo', quoteOf('AggregatorTwo', 900n));
  const forbidden = (...sources: SwapQuote['source'][]) =>
    new Map(sources.flatMap((source) => (chain.swapRouters[source] ?? []).map((router) => [router, false] as const)));

  it('behavior: does not ask their venue while another one is left', async () => {
    expect((await askAllowing(forbidden('AggregatorOne'), one, two)).source).toBe('AggregatorTwo');
    const silent = venue('AggregatorOne', new Error('it was asked'));
    expect((await askAllowing(forbidden('AggregatorOne'), silent, two)).source).toBe('AggregatorTwo');
  });

  it('behavior: asks all venues if none is left, and the simulation decides', async () => {
    expect((await askAllowing(forbidden('AggregatorOne', 'AggregatorTwo'), one, two)).source).toBe('AggregatorOne');
    expect((await askAllowing(new Map(), one, two)).source).toBe('AggregatorOne');
  });

  it('error: refuses a quote through a refused router of a venue', async () => {
    const [first] = chain.swapRouters.AggregatorOne ?? [];
    const other = '0x00000000000000000000000000000000000000A1' as const;
    const both = { ...chain, swapRouters: { ...chain.swapRouters, AggregatorOne: [first as Address, other] } };
    const allowed = new Map([[first as Address, false]]);
    await expect(ask([one], systemTimers, (_chain, router) => allowed.get(router), both)).rejects.toMatchObject({
      details: { venues: [{ source: 'AggregatorOne', reason: 'not_allowed' }] },
    });
  });
});

describe('rankQuotes', () => {
  const one = (amountOut: bigint) => quoteOf('AggregatorOne', amountOut);
  const two = (amountOut: bigint) => quoteOf('AggregatorTwo', amountOut);

  it('default: the best output comes first by any margin', () => {
    expect(rankQuotes([one(1_000n), two(1_010n)])).toEqual([two(1_010n), one(1_000n)]);
    expect(rankQuotes([one(500n), two(1_000n)])).toEqual([two(1_000n), one(500n)]);
    expect(rankQuotes([two(7n), one(7n)])).toEqual([two(7n), one(7n)]);
    expect(rankQuotes([])).toEqual([]);
  });

  it('property: orders all quotes by output', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(1n, 10n ** 24n), { maxLength: 5 }), (outputs) => {
        const ranked = rankQuotes(outputs.map(one)).map(({ amountOut }) => amountOut);
        expect(ranked).toEqual(outputs.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0)));
      }),
      RUNS,
    );
  });
});

describe('createQuoter', () => {
  it('behavior: never uses a router outside the allow-list', async () => {
    await fc.assert(
      fc.asyncProperty(address, fc.bigInt(901n, 1_099n), async (router, amountOut) => {
        const stranger = quoteOf('AggregatorTwo', amountOut, router);
        const chosen = await ask([
          venue('AggregatorOne', quoteOf('AggregatorOne', 1_000n)),
          venue('AggregatorTwo', stranger),
        ]);
        expect(chosen.router).toBe(routerOf('AggregatorOne'));
      }),
      RUNS,
    );
  });

  it('behavior: asks only the yield market for its pairs', async () => {
    const venues = [
      venue('AggregatorOne', quoteOf('AggregatorOne', 1_005n)),
      venue('YieldMarket', quoteOf('YieldMarket', 1_000n)),
    ];
    expect((await ask(venues)).source).toBe('YieldMarket');
  });

  it('behavior: a build has the patience of a venue that checks its routes; a preview has that of a reader', async () => {
    const waits = new Map<string, readonly number[]>();
    for (const purpose of ['preview', 'build'] as const) {
      const started: number[] = [];
      const timers: Timers = {
        setTimeout: (_callback, ms) => started.push(ms),
        clearTimeout: () => {},
      };
      let received: unknown;
      const port = venue('AggregatorOne', quoteOf('AggregatorOne', 5n));
      const noting: SwapQuotePort = {
        ...port,
        quote: (asked, options) => {
          received = options?.purpose;
          return port.quote(asked, options);
        },
      };
      await createQuoter({ venues: [noting], timers, statistics, purpose }).quote(request);
      expect(received).toBe(purpose);
      waits.set(purpose, started);
    }
    expect(Object.fromEntries(waits)).toEqual({ preview: [5_000, 1_500], build: [22_000, 1_500] });
  });

  it('behavior: uses the other venue when one fails or hangs', async () => {
    const good = venue('AggregatorOne', quoteOf('AggregatorOne', 1_000n));
    const failing = venue('AggregatorTwo', new UpstreamUnavailableError('AggregatorTwo', 'server_error'));
    expect((await ask([good, failing])).source).toBe('AggregatorOne');
    expect((await ask([good, venue('AggregatorTwo', 'hangs')], impatient)).source).toBe('AggregatorOne');
  });

  it('error: NoRoute with the answer of every venue', async () => {
    const failing = venue('AggregatorTwo', new UpstreamUnavailableError('AggregatorTwo', 'server_error'));
    const error = await ask([venue('AggregatorOne', null), failing]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NoRouteError);
    expect((error as NoRouteError).details).toEqual({
      chainId: 1,
      tokenIn: USDC,
      tokenOut: SUSDE,
      amountIn: '100',
      venues: [
        { source: 'AggregatorOne', reason: 'no_route' },
        { source: 'AggregatorTwo', reason: 'server_error' },
      ],
    });
  });

  it('error: NoRoute for a single quote at a refused router, and without a venue for the pair', async () => {
    const stranger = quoteOf('AggregatorOne', 500n, SUSDE);
    await expect(ask([venue('AggregatorOne', stranger)])).rejects.toMatchObject({
      code: 'no_route',
      details: { venues: [{ source: 'AggregatorOne', reason: 'implausible' }] },
    });
    await expect(ask([venue('AggregatorOne', null, false)])).rejects.toMatchObject({ details: { venues: [] } });
  });

  it('error: UpstreamUnavailable when no venue answered', async () => {
    const failing = venue('AggregatorOne', new UpstreamUnavailableError('AggregatorOne', 'rate_limited'));
    await expect(ask([failing, venue('AggregatorTwo', 'hangs')], impatient)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
  });

  it('behavior: an internal error does not count as a failure of a venue', async () => {
    await expect(ask([venue('AggregatorOne', new TypeError('ours'))])).rejects.toThrow(TypeError);
  });
});

describe('withVenues', () => {
  const both = [
    venue('AggregatorOne', quoteOf('AggregatorOne', 101n)),
    venue('AggregatorTwo', quoteOf('AggregatorTwo', 100n)),
  ];
  const reverted = new SimulationRevertedError({ reason: 'Slippage', args: [], callIndex: 0 }, true);
  /** Which venues each run of a build of three swaps goes with, and whether its minimums rest on the reference. */
  async function runsOf(venues: readonly SwapQuotePort[], fail: (run: number) => Error | undefined) {
    const runs: string[] = [];
    const quoter = createQuoter({ venues, timers: systemTimers, statistics });
    const built = withVenues({ quoter, venueStatistics: statistics } as BuilderDeps, async (deps) => {
      const quotes = [];
      for (const tokenOut of [SUSDE, USDC, routerOf('AggregatorOne')]) {
        const fixed = { chain: servedChain, tokenIn: USDC, tokenOut, amountIn: 100n, sender: USDC, recipient: USDC };
        quotes.push(await deps.quoter.quote({ ...fixed, slippage: undefined as never, feeBps: 0 }));
      }
      const sources = quotes.map(({ source }) => source).filter((source, i, all) => source !== all[i - 1]);
      runs.push([...sources, deps.quoter.capped].join(' '));
      const error = fail(runs.length);
      if (error) throw error;
      return 'built';
    });
    return { result: await built.catch((error: unknown) => error), runs };
  }

  it('behavior: plans a failing build three times and throws the last failure', async () => {
    expect(await runsOf(both, () => reverted)).toEqual({
      result: reverted,
      runs: ['AggregatorOne false', 'AggregatorTwo false', 'AggregatorOne true'],
    });
  });

  it('behavior: asks a single venue twice, and plans once for failures independent of venues', async () => {
    const alone = await runsOf(both.slice(0, 1), () => reverted);
    expect(alone.runs).toEqual(['AggregatorOne false', 'AggregatorOne true']);
    const other = new NoRouteError({ chainId: 1, tokenIn: USDC, tokenOut: SUSDE, amountIn: '1', venues: [] });
    expect((await runsOf(both, () => other)).runs).toEqual(['AggregatorOne false']);
  });

  it('behavior: skips only the venue of the failed swap, then the next one', async () => {
    const failing = [
      'FlashLeverageRouter__MinTokenOutNotMet',
      'FlashLeverage__SwapRouterCallFailed',
      'FlashLeverage__SwapRouterCallFailed',
    ].map((reason) => new SimulationRevertedError({ reason, args: [], callIndex: 0 }, true));
    // Of three swaps the first is the router's, and the last the one in FlashLeverage.
    const { runs, result } = await runsOf(both, (run) => failing[run - 1]);
    expect(runs).toEqual([
      'AggregatorOne false',
      'AggregatorTwo AggregatorOne false',
      'AggregatorTwo AggregatorOne AggregatorTwo true',
    ]);
    expect(result).toBe(failing[2]);
  });

  it('behavior: stops at the first successful plan', async () => {
    const { result, runs } = await runsOf(both, (run) => (run === 1 ? reverted : undefined));
    expect([result, runs.length]).toEqual(['built', 2]);
  });
});

describe('createVenueStatistics', () => {
  it('default: notes every request as a quote, no route or a refusal, and the best quote as chosen', async () => {
    await ask([
      venue('AggregatorOne', quoteOf('AggregatorOne', 100n)),
      venue('AggregatorTwo', quoteOf('AggregatorTwo', 101n)),
    ]);
    await ask([venue('AggregatorOne', quoteOf('AggregatorOne', 100n)), venue('AggregatorTwo', null)]);
    expect(outcomes.toSorted()).toEqual([
      'AggregatorOne chosen',
      'AggregatorOne quoted',
      'AggregatorOne quoted',
      'AggregatorTwo chosen',
      'AggregatorTwo no_route',
      'AggregatorTwo quoted',
    ]);
  });

  it('behavior: notes a refusal by its reason, and a router outside the allow-list as implausible', async () => {
    const stranger = quoteOf('AggregatorTwo', 500n, USDC);
    const failing = new UpstreamUnavailableError('AggregatorOne', 'overloaded');
    await expect(ask([venue('AggregatorOne', failing), venue('AggregatorTwo', stranger)])).rejects.toThrow();
    expect(outcomes.toSorted()).toEqual(['AggregatorOne overloaded', 'AggregatorTwo implausible']);
  });
});
