import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import { createFaults } from '../http/faults.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';

const faults = createFaults();
let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED, faults });
});
afterAll(() => front.stop());

const OPEN =
  'openLeveragePlan(wallet:"0x1111111111111111111111111111111111111111",input:{strategyId:"0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5",payToken:"0x1111111111111111111111111111111111111111",amount:"1",target:{leverage:"2"}}){__typename}';
const BOTH = `query Read {chains{chainId}} mutation Write {${OPEN}}`;
const get = (params: Record<string, string>, headers: Record<string, string> = {}) =>
  front.send(`/graphql?${new URLSearchParams(params)}`, { headers: { ...PARTNER_KEY, ...headers } });

describe('a mutation by GET', () => {
  const id = `sha256:${manifest.LeverageBuild.sha256}`;
  const persistedQuery = { version: 1, sha256Hash: manifest.LeverageBuild.sha256 };
  test.each([
    ['a document', { query: `mutation {${OPEN}}` }],
    ['one operation of two', { query: BOTH, operationName: 'Write' }],
    ['a persisted operation by its id', { documentId: id, variables: '{}' }],
    ['a persisted operation by its hash', { extensions: JSON.stringify({ persistedQuery }), variables: '{}' }],
  ])('error: method_not_allowed for %s, and nothing is executed', async (_name, params) => {
    for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream', '*/*']) {
      let status = 0;
      const calls = await faults.countDuring(async () => {
        const answer = await get(params as Record<string, string>, { accept });
        status = answer.status;
        const error =
          accept === 'text/event-stream' ? JSON.parse(eventIn(answer.text)).errors[0] : answer.body.errors[0];
        expect(error.extensions).toMatchObject({
          code: 'method_not_allowed',
          status: 405,
          details: { allow: ['POST'] },
        });
        expect(answer.headers.get('allow')).toBe('POST');
      });
      expect(status).toBe(405);
      expect(calls).not.toContain('createContext');
    }
  });

  test('default: a query of the same document is answered by GET, and the mutation by POST', async () => {
    const { status, body } = await get({ query: BOTH, operationName: 'Read' });
    expect([status, body.errors]).toEqual([200, undefined]);
    const posted = await front.send('/graphql', {
      method: 'POST',
      headers: { ...PARTNER_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ query: BOTH, operationName: 'Write' }),
    });
    expect(posted.status).not.toBe(405);
  });

  test.each([
    ['none of its operations', { query: BOTH, operationName: 'Other' }],
    ['no operation of several', { query: BOTH }],
    ['no operation', { query: 'fragment F on Chain {chainId}' }],
  ])('error: bad_request for a document of which the request names %s', async (_name, params) => {
    const { status, body } = await get(params as Record<string, string>);
    expect([status, body.errors[0].message]).toEqual([400, 'Could not determine what operation to execute.']);
  });
});

function eventIn(text: string): string {
  return /^data: (.+)$/m.exec(text)?.[1] ?? '';
}
