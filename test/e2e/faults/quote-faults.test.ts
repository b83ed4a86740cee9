import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FAULT_KINDS, type Fault, type Provider } from '../../../devnet/upstreams/index.ts';
import { captureLogs } from '../../support/log-capture.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { createWaitTimeouts } from '../../support/wait-timeouts.ts';
import { marketOf, tokenOf } from '../leverage/support.ts';

/*
 * Requests to quote venues during a preview, failing in every way: the preview is either as without the fault, or refused. The
 * failure of one venue of two changes only the venue of the swap.
 */

const SECRET = 'oo-secret-9';
const waitTimeouts = createWaitTimeouts();
const STEP_SEC = 61;
const logs = captureLogs();
let service: TestService;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    logger: logs.logger,
    timeouts: waitTimeouts.timeouts,
    env: { OPENOCEAN_API_KEY: SECRET },
  });
});
afterAll(() => service?.stop());

/** Collateral of both previews without a fault, from the start of the file: later ones are compared within `TOLERANCE`. */
const healthy = { direct: Number.NaN, principal: Number.NaN };
beforeAll(async () => {
  for (const request of ['direct', 'principal'] as const) healthy[request] = collateralOf(await simulate(request));
});

/** The clock may run this far ahead of the chain: market state is fresh for five minutes. */
const MAX_LAG_SEC = 200;

/** Nothing is left of the case before: no spent budget, no resting provider, and market state is fresh. */
beforeEach(async () => {
  waitTimeouts.restore();
  service.world.upstreams.faults.clear();
  service.clock.advance(STEP_SEC * 1_000);
  const local = service.world.chains.on(1);
  const { timestamp } = await local.client.getBlock();
  const lagSec = Math.floor(service.clock.now() / 1_000) - Number(timestamp);
  if (lagSec > MAX_LAG_SEC) {
    await local.increaseTime(lagSec);
    await service.refresh('lending-state:1');
  }
  logs.take();
});

const faultOf = (kind: Fault['kind']): Fault => {
  if (kind === 'latency') return { kind, ms: 10 };
  if (kind === 'fields') return { kind, set: {} };
  return kind === 'status' || kind === 'answer' ? { kind, status: 500 } : { kind };
};
const direct = marketOf(1, 'sUSDe/PYUSD 91.5');
const principal = marketOf(1, 'PT-sUSDe/USDC 91.5');
const ASKED = {
  direct: { strategyId: direct.id, payToken: direct.collateral.address, amount: '100', leverage: 3 },
  principal: { strategyId: principal.id, payToken: tokenOf(1, 'USDC').address, amount: '100', leverage: 3 },
};
/** Allowed difference between a preview and an undisturbed one, of the collateral: the venues quote differently. */
const TOLERANCE = 0.02;

async function simulate(requested: keyof typeof ASKED): Promise<{ status: number; body: Json }> {
  const { status, body, text } = await service.post('/v1/partner/leverage/simulate', ASKED[requested], PARTNER);
  const { origin } = service.world.upstreams;
  const output = [text, ...logs.take()].join('\n');
  for (const marker of [SECRET, origin, origin.replace('http://', ''), 'Just a moment', 'Simulated', 'NaN']) {
    expect(output.includes(marker), marker).toBe(false);
  }
  return { status, body };
}
const collateralOf = ({ body }: { body: Json }) => Number(body.positionPreview.amountLeveragedCollateral);

async function expectTrue(request: keyof typeof ASKED, answer: { status: number; body: Json }) {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(Math.abs(collateralOf(answer) / healthy[request] - 1), request).toBeLessThan(TOLERANCE);
}

const VENUES: readonly (readonly [Provider, source: string, other: string])[] = [
  ['kyberswap', 'AggregatorOne', 'AggregatorTwo'],
  ['openocean', 'AggregatorTwo', 'AggregatorOne'],
];
const HARMLESS: readonly Fault['kind'][] = ['latency', 'fields', 'duplicate', 'future', 'frozen'];

describe.each(VENUES)('%s', (provider, _, other) => {
  test.each(FAULT_KINDS)('behavior: %s leaves the other venue usable', async (kind) => {
    service.world.upstreams.faults.set(provider, faultOf(kind));
    waitTimeouts.endFor(kind);
    const during = await simulate('direct');
    waitTimeouts.restore();
    await expectTrue('direct', during);
    if (!HARMLESS.includes(kind)) expect(during.body.positionPreview.swapSource).toBe(other);
    service.world.upstreams.faults.clear();
    await expectTrue('direct', await simulate('direct'));
  });
});

test.each(FAULT_KINDS)('%s of both aggregators gives a true preview or none', async (kind) => {
  for (const [provider] of VENUES) service.world.upstreams.faults.set(provider, faultOf(kind));
  waitTimeouts.endFor(kind);
  const during = await simulate('direct');
  if (during.status === 200) await expectTrue('direct', during);
  else {
    expect(during.status).toBe(503);
    expect(during.body.error.code).toMatch(/^(no_route|upstream_unavailable)$/);
    expect(HARMLESS).not.toContain(kind);
  }
});

test.each(FAULT_KINDS)('%s of the yield market gives a true preview or none', async (kind) => {
  service.world.upstreams.faults.set('pendle', faultOf(kind));
  waitTimeouts.endFor(kind);
  const during = await simulate('principal');
  if (during.status === 200) await expectTrue('principal', during);
  else {
    expect(during.status).toBe(503);
    expect(during.body.error.code).toMatch(/^(no_route|upstream_unavailable)$/);
    expect(HARMLESS).not.toContain(kind);
  }
});
