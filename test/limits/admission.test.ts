import { afterEach, describe, expect, test } from 'vitest';
import { type AdmissionDeps, type ApiSurface, createAdmission } from '../../src/limits/admission.ts';
import { type Budgets, createBudgets } from '../../src/limits/budgets.ts';
import { createMemoryLimiters } from '../../src/limits/limiters.ts';
import { openRequestContext, type RequestContext } from '../../src/limits/request-context.ts';
import { createLimits } from '../../src/limits/tier-limits.ts';
import { UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { silentLogger } from '../../src/shared/logger.ts';

const ADDRESS = '192.0.2.1';
const BUDGET = { anonymous: 100, partner: 1_000, ops: 5_000 };
const limits = createLimits(BUDGET);
const clock = { now: () => 1_000_000 };
const KEYS: Readonly<Record<string, { keyId: string; tier: 'partner' | 'ops' }>> = {
  'Bearer partner': { keyId: 'key-partner', tier: 'partner' },
  'Bearer ops': { keyId: 'key-ops', tier: 'ops' },
};
const AWAY = new UpstreamUnavailableError('keys', 'unreachable', {});

let budgets: Budgets;
/** Whether a charge may go on while the shared store is away, in the order of the charges. */
let modes: string[] = [];
afterEach(() => {
  modes = [];
});

function admissionOf(deps: Partial<AdmissionDeps> = {}) {
  const own = createBudgets({ limits, limiters: createMemoryLimiters({ limits, clock }), clock, logger: silentLogger });
  budgets = {
    ...own,
    charge: (requestContext, points, whenStoreFails) => {
      modes.push(whenStoreFails);
      return own.charge(requestContext, points, whenStoreFails);
    },
  };
  return createAdmission({ verify: async (header) => KEYS[header] ?? null, budgets, ...deps });
}

const contextOf = (authorization?: string): RequestContext =>
  openRequestContext({ correlationId: 'c', authorization, clientIp: ADDRESS });

/** Points that the address has used. */
async function usedByAddress(): Promise<number> {
  const requestContext = contextOf();
  await budgets.charge(requestContext, 0, 'open');
  return BUDGET.anonymous - (requestContext.rateLimit?.remaining ?? Number.NaN);
}

const admit = async (admission: ReturnType<typeof admissionOf>, surface: ApiSurface, header?: string, points = 7) => {
  const requestContext = contextOf(header);
  const error = await Promise.resolve(admission.admit(requestContext, surface, points)).then(
    () => null,
    (thrown) => thrown.code,
  );
  const { rateLimit, caller, refusedKey } = requestContext;
  return { error, rateLimit, caller, refusedKey };
};

describe('a request without a key', () => {
  test.each([['Public'], ['GraphQL'], ['Status']] as const)('default: pays on %s from its address', async (surface) => {
    const { error, rateLimit, caller } = await admit(admissionOf(), surface);
    expect([error, rateLimit?.policy, rateLimit?.remaining, caller.kind]).toEqual([null, 'anonymous', 93, 'anonymous']);
  });

  test('default: costs one point where no price is given', async () => {
    const requestContext = contextOf();
    await admissionOf().admit(requestContext, 'Public');
    expect(requestContext.rateLimit?.remaining).toBe(99);
  });

  test.each([['Partner'], ['Ops']] as const)(
    'error: unauthorized on %s, for one point, without the budget',
    async (surface) => {
      const { error, rateLimit } = await admit(admissionOf(), surface);
      expect([error, rateLimit, await usedByAddress()]).toEqual(['unauthorized', null, 1]);
    },
  );
});

describe('a request with a key', () => {
  test.each([
    ['Bearer partner', 'GraphQL', null],
    ['Bearer partner', 'Public', null],
    ['Bearer partner', 'Partner', null],
    ['Bearer partner', 'Ops', 'unauthorized'],
    ['Bearer ops', 'Partner', null],
    ['Bearer ops', 'Ops', null],
  ] as const)('default: %s on %s: %s', async (header, surface, expected) => {
    const { error, rateLimit, caller } = await admit(admissionOf(), surface, header);
    const { keyId, tier } = KEYS[header] ?? { keyId: '', tier: 'partner' as const };
    expect([error, caller]).toEqual([expected, { kind: 'key', keyId, tier }]);
    expect(rateLimit).toEqual(
      expected === null ? { policy: tier, limit: BUDGET[tier], remaining: BUDGET[tier] - 7, resetSec: 60 } : null,
    );
  });

  test('behavior: a refusal of the tier costs the key one point, at any price', async () => {
    const admission = admissionOf();
    await admit(admission, 'Ops', 'Bearer partner', 50);
    const { rateLimit } = await admit(admission, 'Partner', 'Bearer partner', 1);
    expect(rateLimit?.remaining).toBe(998);
  });

  test.each([
    ['not yet known', undefined],
    ['known', () => true],
  ])('behavior: a valid key that is %s costs its address nothing', async (_name, knows) => {
    const admission = admissionOf({ knows });
    expect((await admit(admission, 'Partner', 'Bearer partner')).error).toBeNull();
    expect(await usedByAddress()).toBe(0);
  });

  test('behavior: only the public surface goes on while the shared store of the budgets is away', async () => {
    const admission = admissionOf();
    for (const surface of ['Public', 'GraphQL', 'Partner'] as const) await admit(admission, surface, 'Bearer partner');
    expect(modes).toEqual(['open', 'closed', 'closed']);
  });
});

describe('a key that is not valid', () => {
  test.each([
    ['Partner', undefined],
    ['Partner', false],
    ['Ops', true],
  ] as const)('error: unauthorized on %s, for exactly one point of the address', async (surface, known) => {
    const knows = known === undefined ? undefined : (): boolean => known;
    const { error, rateLimit, caller, refusedKey } = await admit(admissionOf({ knows }), surface, 'Bearer guess');
    expect([error, rateLimit, caller.kind, refusedKey]).toEqual(['unauthorized', null, 'anonymous', false]);
    expect(await usedByAddress()).toBe(1);
  });

  test.each([
    ['Public', undefined],
    ['Public', false],
    ['Status', true],
    ['GraphQL', true],
  ] as const)('behavior: reads on %s without a key, for a point more than one without', async (surface, known) => {
    const knows = known === undefined ? undefined : (): boolean => known;
    const { error, rateLimit, caller, refusedKey } = await admit(admissionOf({ knows }), surface, 'Bearer guess');
    expect([error, rateLimit?.policy, rateLimit?.remaining]).toEqual([null, 'anonymous', 92]);
    expect([caller.kind, refusedKey]).toEqual(['anonymous', true]);
  });

  test('error: rate_limited after as many guesses as the address has points, before a key is looked up', async () => {
    let lookUps = 0;
    const admission = admissionOf({
      verify: async () => {
        lookUps += 1;
        return null;
      },
    });
    const results: unknown[] = [];
    for (let i = 0; i <= BUDGET.anonymous; i += 1) {
      const { error } = await admit(admission, 'Partner', `Bearer ${i}`);
      results.push(error);
    }
    expect(new Set(results.slice(0, -1))).toEqual(new Set(['unauthorized']));
    expect([results.at(-1), lookUps]).toEqual(['rate_limited', BUDGET.anonymous]);
  });
});

describe('while keys cannot be checked', () => {
  const away = { verify: () => Promise.reject(AWAY) };

  test('behavior: public reads go on and are paid once, by the address', async () => {
    const { error, caller } = await admit(admissionOf(away), 'Public', 'Bearer partner');
    expect([error, caller.kind, await usedByAddress()]).toEqual([null, 'anonymous', 7]);
  });

  test.each([['GraphQL'], ['Partner'], ['Ops']] as const)(
    'error: upstream_unavailable on %s, which costs nothing',
    async (surface) => {
      const { error } = await admit(admissionOf(away), surface, 'Bearer partner');
      expect([error, await usedByAddress()]).toEqual(['upstream_unavailable', 0]);
    },
  );

  test('error: a fault of our own is not taken for an outage, on no surface', async () => {
    const admission = admissionOf({ verify: () => Promise.reject(new TypeError('a fault')) });
    await expect(admission.admit(contextOf('Bearer partner'), 'Public')).rejects.toThrow(TypeError);
    expect(await usedByAddress()).toBe(0);
  });
});

describe('follow', () => {
  const watched: string[] = [];
  const watch = (header: string) => {
    watched.push(header);
    return () => void watched.pop();
  };

  test('default: watches the header of a valid key until it is stopped', async () => {
    const admission = admissionOf({ watch });
    const requestContext = contextOf('Bearer ops');
    await admission.admit(requestContext, 'GraphQL');
    const stop = admission.follow(requestContext, () => {});
    expect(watched).toEqual(['Bearer ops']);
    stop();
    expect(watched).toEqual([]);
  });

  test('behavior: watches nothing for a caller without a key, or where keys never end', async () => {
    admissionOf({ watch }).follow(contextOf('Bearer partner'), () => {})();
    expect(watched).toEqual([]);
    const admission = admissionOf();
    const requestContext = contextOf('Bearer ops');
    await admission.admit(requestContext, 'GraphQL');
    expect(admission.follow(requestContext, () => {})()).toBeUndefined();
  });
});

test('charge and refund: of the admitted client, closed while the store is away', async () => {
  const admission = admissionOf();
  const requestContext = contextOf('Bearer partner');
  await admission.admit(requestContext, 'Partner', 10);
  expect(await admission.charge(requestContext, 40)).toBe(40);
  expect(requestContext.rateLimit?.remaining).toBe(950);
  await admission.refund(requestContext, 30);
  expect([requestContext.rateLimit?.remaining, modes]).toEqual([980, ['closed', 'closed']]);
});

describe('a connection that is one too many without a key', () => {
  test.each([
    ['no key', undefined],
    ['a wrong key', 'Bearer wrong'],
  ])('error: not_ready with %s', async (_, authorization) => {
    const info = { correlationId: 'c', authorization, clientIp: ADDRESS, needsKey: true };
    const error = await Promise.resolve(admissionOf().admit(openRequestContext(info), 'Public')).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'not_ready', details: { waitingFor: [expect.any(String)] } });
  });

  test('default: answers a valid key', async () => {
    const info = { correlationId: 'c', authorization: 'Bearer partner', clientIp: ADDRESS, needsKey: true };
    await expect(admissionOf().admit(openRequestContext(info), 'Public')).resolves.toBeUndefined();
  });
});
