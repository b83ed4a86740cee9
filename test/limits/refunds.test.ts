import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAccount } from '../../src/limits/account.ts';
import { createMemoryCounters } from '../../src/limits/counters.ts';
import { openRequestContext } from '../../src/limits/request-context.ts';
import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import { type Front, PARTNER_KEY, startTestGateway } from '../http/test-gateway.ts';
import type { Answer } from '../support/service.ts';

let front: Front;
beforeEach(async () => {
  front = await startTestGateway({ env: { RATE_LIMIT_ANONYMOUS: '10000', RATE_LIMIT_PARTNER: '10000' } });
});
afterEach(() => front.stop());

const remaining = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
const aliased = (count: number, field: string): string =>
  Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(' ');
const values = (count: number) => ({ c: Array.from({ length: count }, () => 1) });

/** The charge of an answer; its headers and extensions agree. */
async function charged(ask: () => Promise<Answer>, key: Record<string, string> = {}): Promise<number> {
  const before = remaining(await front.send('/v1/nowhere', { headers: key }));
  const answer = await ask();
  const after = remaining(await front.send('/v1/nowhere', { headers: key }));
  expect(remaining(answer)).toBe(after + 1);
  const results = Array.isArray(answer.body) ? answer.body.slice(-1) : [answer.body];
  for (const { extensions } of results) if (extensions) expect(extensions.rateLimit.remaining).toBe(after + 1);
  return before - after - 1;
}

describe('unused charges are returned', () => {
  const BY_CHAINS = 'query($c:[ChainId!]){strategies(chainIds:$c first:1){totalCount}}';

  test('behavior: charges parsing for a syntax error', async () => {
    const fields = 'chainId '.repeat(220);
    expect(await charged(() => front.graphql(`{chains{${fields}}}`))).toBeGreaterThan(1);
    expect(await charged(() => front.graphql(`{chains{${fields} name}`))).toBe(1);
  });

  test('behavior: charges validation for an invalid document, not its variables or execution', async () => {
    expect(await charged(() => front.graphql('{chains{chainId}}', { variables: values(1_900) }))).toBe(2);
    const invalid = `${BY_CHAINS.slice(0, -1)} nothing}`;
    expect(await charged(() => front.graphql(invalid, { variables: values(1_900) }))).toBe(1);
  });

  test('behavior: charges variables for an operation refused for its cost, not its execution', async () => {
    const one =
      'strategies(first:500){nodes{id ...on LoopStrategy{leverageLadder{leverage ltvPct}} gaps{field reason}}}';
    const query = `{${aliased(15, one)}}`;
    const refused = () => front.graphql(query, { variables: values(1_900) });
    expect((await refused()).body.errors[0].extensions.code).toBe('query_too_complex');
    expect(await charged(refused)).toBe(1);
  });

  test.each([
    ['an argument that does not fit its field', `${BY_CHAINS.slice(0, -1)} DEAR}`, values(101)],
    ['a default of a variable', 'query($n:String!="Query"){__type(name:$n){name} DEAR}', {}],
    ['a variable that is left out', 'query($f:Int){strategies(first:$f){totalCount} DEAR}', {}],
  ])('error: %s does not hide the cost of the rest', async (_name, query, variables) => {
    const dear = aliased(
      15,
      'strategies(first:500){nodes{id market{strategies{id ...on LoopStrategy{leverageLadder{leverage ltvPct}} gaps{field reason}}}}}',
    );
    const headers = { accept: 'application/graphql-response+json' };
    const { status, body } = await front.graphql(query.replace('DEAR', dear), { variables, headers });
    expect([status, body.data]).toEqual([400, undefined]);
    expect(body.errors[0].extensions.code).toMatch(/^(?:bad_request|query_too_complex)$/);
    expect((await front.graphql(query.replace('DEAR', ''), { variables })).status).toBe(200);
  });

  test('behavior: charges lists by their actual length', async () => {
    // Of a filter that leaves nothing the size is not known before.
    const none = '{strategies(filter:{minLiquidityUsd:"1000000000000"} first:500){nodes{id market{marketId}}}}';
    const { body } = await front.graphql(none);
    expect(body.extensions.cost).toMatchObject({ cost: expect.any(Number), points: 1 });
    expect(body.extensions.cost.cost).toBeGreaterThan(100);
    expect(body.data.strategies.nodes).toEqual([]);
    expect(await charged(() => front.graphql(none))).toBe(1);
    const full = '{strategies(first:20){nodes{id ...on LoopStrategy{leverageLadder{leverage ltvPct leverageApyPct}}}}}';
    const answer = await front.graphql(full);
    expect(answer.body.extensions.cost.points).toBeGreaterThan(1);
  });

  test('behavior: charges a cached answer for its bytes, not for execution', async () => {
    const query =
      '{strategies(first:20){nodes{id ...on LoopStrategy{leverageLadder{leverage ltvPct leverageApyPct}}}}}';
    const first = await charged(() => front.graphql(query));
    expect(first).toBeGreaterThan(1);
    await front.graphql(query);
    const { body } = await front.graphql(query);
    expect(body.extensions.cost).toMatchObject({ cost: expect.any(Number), points: 1 });
    expect(await charged(() => front.graphql(query))).toBe(1);
    // Also in a batch.
    const batch = () =>
      front.send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([{ query }, { query }]),
      });
    expect(await charged(batch)).toBe(2);
  });

  test('behavior: charges a persisted operation for another execution, and its fixed price for a cached answer', async () => {
    const { sha256: documentId } = manifest.BorrowApyHistories;
    const ask = (variables: object) => () =>
      front.send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ documentId, variables }),
      });
    expect(await charged(ask({ other: 0 }))).toBe(1);
    const { text } = await ask({ other: 1 })();
    const fields = text.match(/":/g)?.length ?? 0;
    expect(fields).toBeGreaterThan(2_000);
    const again = await charged(ask({ other: 2 }));
    expect(again).toBeGreaterThanOrEqual(2);
    expect(again).toBeLessThan(fields / 300);
    await ask({})();
    await ask({})();
    expect(await charged(ask({}))).toBe(1);
  });

  test('behavior: fields behind a key have their own prices', async () => {
    const query = `{wallet(address:"0x${'1'.repeat(40)}" chainIds:[1]){chainIds}}`;
    expect(await charged(() => front.graphql(query, { headers: PARTNER_KEY }), PARTNER_KEY)).toBeGreaterThanOrEqual(10);
  });

  test.each([
    ['input that is not valid', '{"amount":true}'],
    ['a body that is no JSON', '{'],
  ])('behavior: charges REST for a refusal, not for execution: %s', async (_name, body) => {
    const headers = { 'content-type': 'application/json', ...PARTNER_KEY };
    const ask = () => front.send('/v1/partner/leverage/build', { method: 'POST', headers, body });
    expect((await ask()).status).toBe(400);
    expect(await charged(ask, PARTNER_KEY)).toBe(1);
  });
});

describe('openAccount', () => {
  const requestContext = openRequestContext({ correlationId: 'c', authorization: undefined, clientIp: '192.0.2.1' });
  const open = (most: number) => {
    const counted: number[] = [];
    const account = openAccount(
      {
        charge: async (_visit, points) => {
          counted.push(Math.min(points, most));
          return Math.min(points, most);
        },
        refund: async (_visit, points) => void counted.push(-points),
      },
      requestContext,
    );
    return { account, counted };
  };

  test('default: one account from the first token to the last field', async () => {
    const { account, counted } = open(1_000);
    await account.pay({ reading: 250, execution: 0 });
    await account.pay({ reading: 250, execution: 1_000 });
    expect(account.points).toBe(12);
    account.settle({ reading: 250, execution: 150 });
    expect([account.points, counted]).toEqual([4, [1, 10, -8]]);
    // No refund twice, and none below the cost of a request.
    account.settle({ reading: 250, execution: 150 });
    account.settle({ reading: 0, execution: 0 });
    expect([account.points, counted]).toEqual([1, [1, 10, -8, -3]]);
  });

  test('behavior: never returns more than was charged', async () => {
    const { account, counted } = open(3);
    await account.pay({ reading: 0, execution: 5_000 });
    account.settle({ reading: 0, execution: 1_000 });
    expect(counted).toEqual([3]);
    account.settle({ reading: 0, execution: 0 });
    expect(counted).toEqual([3, -3]);
  });
});

test('createMemoryCounters: points returned after their window do not affect the next one', () => {
  let nowMs = 0;
  const counters = createMemoryCounters({ windowSec: 60, max: 10 }, { now: () => nowMs });
  counters.add('a', 10);
  nowMs = 61_000;
  expect(counters.add('a', -9).used).toBe(0);
  expect(counters.add('a', 4).used).toBe(4);
});
