import { zeroAddress } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { createKyberswap } from '../../src/upstreams/kyberswap/client.ts';
import { createOpenocean } from '../../src/upstreams/openocean/client.ts';
import { createPendle } from '../../src/upstreams/pendle/client.ts';
import { checkSwap, quoteExpiry, slippageBps } from '../../src/upstreams/quotes.ts';
import { ptRequest, stranger, swapRequest } from './cases/swaps.ts';
import { type FakeProvider, startFakeProvider } from './support/server.ts';
import { change, fixture, NOW_MS, robinhood, type TestDeps, testDeps, token } from './support/world.ts';

const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';
const native = { ...swapRequest, tokenIn: zeroAddress };
const route = fixture('kyberswap-route');
const build = fixture('kyberswap-build');

let provider: FakeProvider;
let deps: TestDeps;
beforeEach(async () => {
  provider = await startFakeProvider();
  deps = testDeps(provider.url);
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});

describe('createKyberswap', () => {
  const respond = (routeJson = route, buildJson = build) =>
    provider.respond({ 'GET /ethereum/api/v1/routes': routeJson, 'POST /ethereum/api/v1/route/build': buildJson });

  it('behavior: sends fee, slippage and the unchanged summary', async () => {
    respond();
    await createKyberswap(deps).quotes.quote(swapRequest);
    expect(provider.requests[0]?.query).toEqual({
      tokenIn: swapRequest.tokenIn,
      tokenOut: swapRequest.tokenOut,
      amountIn: '1000000000',
      isInBps: 'true',
      chargeFeeBy: 'currency_in',
      feeReceiver: stranger,
      feeAmount: '5',
    });
    expect(provider.requests[1]?.body).toEqual({
      routeSummary: (route as { data: { routeSummary: object } }).data.routeSummary,
      sender: swapRequest.sender,
      recipient: swapRequest.recipient,
      slippageTolerance: 50,
    });
  });

  it('behavior: sends no fee without a rate or a receiver, and never for a sweep', async () => {
    respond();
    const { quotes, routes } = createKyberswap(deps);
    const { feeReceiver: _, ...withoutReceiver } = swapRequest;
    await quotes.quote({ ...swapRequest, feeBps: 0 });
    await quotes.quote(withoutReceiver);
    await routes.route(swapRequest);
    for (const { query } of provider.requests) expect(Object.keys(query).filter((key) => /fee/i.test(key))).toEqual([]);
  });

  it("behavior: uses the provider's alias of the native token, with its amount as value", async () => {
    respond(
      change(route, ['data', 'routeSummary', 'tokenIn'], NATIVE.toLowerCase()),
      change(build, ['data', 'transactionValue'], '1000000000'),
    );
    const quote = await createKyberswap(deps).quotes.quote(native);
    expect(provider.requests[0]?.query.tokenIn).toBe(NATIVE);
    expect(quote?.value).toBe(1_000_000_000n);
  });

  it.each([
    ['another token', ['data', 'routeSummary', 'tokenOut'], stranger],
    ['another amount', ['data', 'routeSummary', 'amountIn'], '999'],
  ])('error: UpstreamError `implausible` for a route of %s', async (_, path, value) => {
    respond(change(route, path, value));
    await expect(createKyberswap(deps).quotes.quote(swapRequest)).rejects.toMatchObject({ reason: 'implausible' });
    expect(provider.requests).toHaveLength(1);
  });

  it('behavior: retries an overloaded venue until it answers, in either step', async () => {
    respond();
    const { quotes } = createKyberswap(deps);
    provider.fault({ status: 503 }, (_, index) => index < 5 || (index > 5 && index < 9));
    expect(await quotes.quote(swapRequest)).toMatchObject({ source: 'AggregatorOne' });
    expect(provider.requests).toHaveLength(10);
  });

  it('behavior: code 50301 with status 200 counts as overloaded and is retried', async () => {
    respond({ code: 50_301, message: 'service overloaded' });
    await expect(createKyberswap(deps).quotes.quote(swapRequest)).rejects.toMatchObject({ reason: 'overloaded' });
    expect(provider.requests).toHaveLength(9);
  });

  it('behavior: tries a sweep at most three times', async () => {
    respond();
    provider.fault({ status: 503 });
    await expect(createKyberswap(deps).routes.route(swapRequest)).rejects.toMatchObject({ reason: 'overloaded' });
    expect(provider.requests).toHaveLength(3);
  });

  it('behavior: the quote has the time before its request', async () => {
    respond();
    const slow: typeof fetch = async (...args) => {
      deps.clock.advance(2_000);
      return fetch(...args);
    };
    const quote = await createKyberswap({ ...deps, fetch: slow }).quotes.quote(swapRequest);
    expect(quote?.expiresAtMs).toBe(NOW_MS + 60_000);
  });

  it('behavior: serves its chains of the catalog', () => {
    const { quotes } = createKyberswap(deps);
    expect(quotes.serves(swapRequest)).toBe(true);
    expect(quotes.serves({ ...swapRequest, chain: robinhood })).toBe(true);
    expect(quotes.serves({ ...swapRequest, chain: { ...robinhood, providers: {} } })).toBe(false);
  });
});

describe('createOpenocean', () => {
  const swap = fixture('openocean-swap');

  it('behavior: sends slippage and fee in percent, payer and receiver', async () => {
    provider.respond({ 'GET /v4/eth/swap': swap });
    await createOpenocean(deps).quote(swapRequest);
    const sent = {
      inTokenAddress: swapRequest.tokenIn,
      outTokenAddress: swapRequest.tokenOut,
      amountDecimals: '1000000000',
      gasPriceDecimals: '1000000000',
      slippage: '0.5',
      account: swapRequest.recipient,
      referrer: stranger,
      referrerFee: '0.06',
    };
    expect(provider.requests[0]?.query).toEqual(sent);
    await createOpenocean(deps).quote({ ...swapRequest, sender: stranger, feeBps: 0 });
    const { referrer: _, referrerFee: __, ...withoutFee } = sent;
    expect(provider.requests[1]?.query).toEqual({ ...withoutFee, sender: stranger });
  });

  it.each([
    // 80 % arrives: never more than disclosed.
    [5, '0.06', 6],
    [25, '0.31', 31],
    [1, '0.01', 1],
  ])(
    'behavior: a referral fee of %s bps is sent as %s percent, and the quote has the charged fee',
    async (bps, percent, taken) => {
      provider.respond({ 'GET /v4/eth/swap': swap });
      const quote = await createOpenocean(deps).quote({ ...swapRequest, feeBps: bps });
      expect(provider.requests[0]?.query.referrerFee).toBe(percent);
      expect(quote?.feeBps).toBe(taken);
      expect(taken * 0.8).toBeLessThanOrEqual(bps);
    },
  );

  it('behavior: sends the gas price of the chain; 1 gwei while it is unknown', async () => {
    provider.respond({ 'GET /v4/eth/swap': swap });
    await createOpenocean({ ...deps, gasPriceOf: async () => 37_123_456_789n }).quote(swapRequest);
    await createOpenocean({ ...deps, gasPriceOf: async () => undefined }).quote(swapRequest);
    expect(provider.requests.map(({ query }) => query.gasPriceDecimals)).toEqual(['37123456789', '1000000000']);
  });

  it("behavior: uses the provider's alias of the native token", async () => {
    provider.respond({ 'GET /v4/eth/swap': change(swap, ['data', 'value'], '1000000000') });
    expect((await createOpenocean(deps).quote(native))?.value).toBe(1_000_000_000n);
    expect(provider.requests[0]?.query.inTokenAddress).toBe(NATIVE);
  });

  it('behavior: serves chain 1 only', () => {
    expect(createOpenocean(deps).serves(swapRequest)).toBe(true);
    expect(createOpenocean(deps).serves({ ...swapRequest, chain: robinhood })).toBe(false);
  });
});

describe('createPendle', () => {
  it('behavior: sends the parameters of the converter, the native token as the zero address', async () => {
    provider.respond({
      'POST /v3/sdk/1/convert': change(fixture('pendle-convert'), ['routes', 0, 'tx', 'value'], '1000000000'),
    });
    await createPendle(deps).quotes.quote({ ...ptRequest, tokenIn: zeroAddress });
    expect(provider.requests[0]?.body).toEqual({
      receiver: ptRequest.recipient,
      slippage: 0.005,
      enableAggregator: true,
      aggregators: ['kyberswap'],
      kyberSwapParams: {
        routes: { chargeFeeBy: 'currency_in', feeAmount: '5', feeReceiver: stranger, isInBps: true },
      },
      inputs: [{ token: zeroAddress, amount: '1000000000' }],
      outputs: [ptRequest.tokenOut],
    });
  });

  it('behavior: names one aggregator, and no fee without a receiver', async () => {
    provider.respond({ 'POST /v3/sdk/1/convert': fixture('pendle-convert') });
    const { feeReceiver: _, ...withoutReceiver } = ptRequest;
    const { quotes } = createPendle(deps);
    expect((await quotes.quote({ ...ptRequest, feeBps: 0 }))?.feeBps).toBe(0);
    expect((await quotes.quote(withoutReceiver))?.feeBps).toBe(0);
    for (const { body } of provider.requests) {
      expect(body).toMatchObject({ aggregators: ['kyberswap'] });
      expect(body).not.toHaveProperty('kyberSwapParams');
    }
  });

  it.each([
    ['KYBERSWAP', 5],
    ['VOID', 0],
  ])('behavior: a conversion through %s pays %s bps', async (aggregatorType, feeBps) => {
    const answer = change(fixture('pendle-convert'), ['routes', 0, 'data', 'aggregatorType'], aggregatorType);
    provider.respond({ 'POST /v3/sdk/1/convert': answer });
    expect((await createPendle(deps).quotes.quote(ptRequest))?.feeBps).toBe(feeBps);
  });

  it.each([
    [400, { message: 'No route found' }, null],
    [400, { message: ['property kyberSwapParams should not exist'] }, 'rejected'],
    [404, { message: 'Cannot POST /v3/sdk/1/convert' }, 'rejected'],
    [422, {}, 'rejected'],
  ])('behavior: a refusal with %s and %j is %s', async (status, body, reason) => {
    provider.respond({ 'POST /v3/sdk/1/convert': fixture('pendle-convert') });
    provider.fault({ status, body });
    const quote = createPendle(deps).quotes.quote(ptRequest);
    if (reason === null) expect(await quote).toBeNull();
    else await expect(quote).rejects.toMatchObject({ reason });
  });

  it('error: UpstreamError `implausible` for another output token', async () => {
    provider.respond({ 'POST /v3/sdk/1/convert': fixture('pendle-convert') });
    const other = { ...ptRequest, tokenOut: token('PT-apyUSD-5NOV2026').address };
    await expect(createPendle(deps).quotes.quote(other)).rejects.toMatchObject({ reason: 'implausible' });
  });

  it('behavior: serves pairs with a principal token on either side', () => {
    const { quotes } = createPendle(deps);
    expect(quotes.serves(ptRequest)).toBe(true);
    expect(quotes.serves({ ...ptRequest, tokenIn: ptRequest.tokenOut, tokenOut: ptRequest.tokenIn })).toBe(true);
    expect(quotes.serves(swapRequest)).toBe(false);
    expect(quotes.serves({ ...ptRequest, chain: robinhood })).toBe(false);
  });

  it('behavior: a chain without the provider is not configured and not requested', async () => {
    const { failures } = await createPendle(deps).apys.apys(robinhood, [token('USDG', robinhood)]);
    expect([...failures.values()]).toEqual(['not_configured']);
    expect(provider.requests).toEqual([]);
  });
});

describe('createKyberswap budget', () => {
  it('behavior: a sweep with an exhausted share leaves the share of quotes', async () => {
    provider.respond({
      'GET /ethereum/api/v1/routes': fixture('kyberswap-route'),
      'POST /ethereum/api/v1/route/build': fixture('kyberswap-build'),
    });
    const { routes, quotes } = createKyberswap(
      testDeps(provider.url, { rules: { limits: { minute: 20 }, shares: { background: 0.1 } } }),
    );
    const { chain, tokenIn, tokenOut, amountIn } = swapRequest;
    await routes.route({ chain, tokenIn, tokenOut, amountIn });
    await expect(routes.route({ chain, tokenIn, tokenOut, amountIn })).rejects.toMatchObject({
      reason: 'throttled',
    });
    expect(await quotes.quote(swapRequest)).toMatchObject({ source: 'AggregatorOne' });
    expect(provider.requests).toHaveLength(3);
  });
});

describe('createPendle budget', () => {
  it('behavior: reads and quotes share one budget of computing units, and a quote names its aggregator', async () => {
    provider.respond({
      'GET /v2/markets/all': fixture('pendle-markets'),
      'POST /v3/sdk/1/convert': fixture('pendle-convert'),
    });
    const { apys, quotes } = createPendle(testDeps(provider.url, { rules: { limits: { minute: 14 } } }));
    await apys.apys(ptRequest.chain, [token('PT-apyUSD-5NOV2026')]);
    expect(await quotes.quote(ptRequest)).toMatchObject({ source: 'YieldMarket' });
    await expect(quotes.quote(ptRequest)).rejects.toMatchObject({ reason: 'throttled' });
    const bodies = provider.requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
    expect(bodies).toMatchObject([{ aggregators: ['kyberswap'] }]);
  });
});

describe('checkSwap', () => {
  const raw = { to: '0x6131b5fae19ea4f9d964eac0408e4408b66337b5', data: '0x12345678', amountOut: '5' };

  it('default', () => {
    expect(checkSwap('AggregatorOne', swapRequest, raw, 1)).toEqual({
      source: 'AggregatorOne',
      amountIn: 1_000_000_000n,
      amountOut: 5n,
      feeBps: 5,
      router: '0x6131B5fae19EA4f9D964eAc0408E4408b66337b5',
      calldata: '0x12345678',
      value: 0n,
      expiresAtMs: 1,
    });
  });

  it.each([
    ['implausible', { to: stranger }],
    // Allowed, but for another venue.
    ['implausible', { to: '0x6352a56caadC4F1E25CD6c75970Fa768A3304e64' }],
    ['missing', { to: undefined }],
    ['malformed', { to: '0x1' }],
    ['malformed', { data: '0x' }],
    ['malformed', { data: '0x1234567' }],
    ['malformed', { data: undefined }],
    ['missing', { amountOut: undefined }],
    ['implausible', { amountOut: '0' }],
    ['implausible', { value: '1' }],
    ['implausible', { value: '0x1' }],
    ['implausible', { amountIn: '1' }],
  ])('behavior: %s for %j', (reason, over) => {
    expect(checkSwap('AggregatorOne', swapRequest, { ...raw, ...over }, 1)).toBe(reason);
  });

  it('behavior: the native value may be hex', () => {
    expect(checkSwap('AggregatorOne', native, { ...raw, value: '0x3b9aca00' }, 1)).toMatchObject({ value: 10n ** 9n });
  });
});

describe('quoteExpiry', () => {
  it('behavior: the earlier of 60 s and the provider’s own', () => {
    expect(quoteExpiry(1_000)).toBe(61_000);
    expect(quoteExpiry(1_000, 20_000)).toBe(20_000);
    expect(quoteExpiry(1_000, 200_000)).toBe(61_000);
  });
});

describe('slippageBps', () => {
  it.each([
    ['0.005', 50],
    ['0.01', 100],
    ['0.00129', 12],
    ['0.00005', 0],
  ])('behavior: %s is %s, never looser', (slippage, bps) => {
    expect(slippageBps({ ...swapRequest, slippage: new Decimal(slippage) })).toBe(bps);
  });
});
