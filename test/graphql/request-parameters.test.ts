import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

const QUERY = '{chains{chainId}}';
const JSON_TYPE = { 'content-type': 'application/json' };

describe('the parameters of a GraphQL request', () => {
  test.each([
    ['variables as text', { query: QUERY, variables: '{}' }, 'body.variables'],
    ['variables as a list', { query: QUERY, variables: [] }, 'body.variables'],
    ['extensions as text', { query: QUERY, extensions: 'x' }, 'body.extensions'],
    ['the name of an operation as a number', { query: QUERY, operationName: 5 }, 'body.operationName'],
    ['a query as a list', { query: [QUERY] }, 'body.query'],
    ['an unknown parameter', { query: QUERY, querry: QUERY }, 'body.querry'],
  ])('error: bad_request for %s', async (_name, body, field) => {
    const answer = await front.send('/graphql', { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions).toMatchObject({ code: 'bad_request', details: { field } });
  });

  test('error: bad_request for variables by GET that are no object', async () => {
    const { status, body } = await front.send(`/graphql?query=${QUERY}&variables=[1]`);
    expect([status, body.errors[0].extensions.details.field]).toEqual([400, 'query.variables']);
  });

  test('error: not_found names the id of an unknown persisted operation', async () => {
    const id = 'f'.repeat(64);
    for (const params of [{ documentId: id }, { extensions: { persistedQuery: { version: 1, sha256Hash: id } } }]) {
      const { body } = await front.send('/graphql', {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify(params),
      });
      expect(body.errors[0].extensions).toMatchObject({
        code: 'not_found',
        details: { resource: 'persisted operation', id },
      });
    }
  });

  test('behavior: null is an absent parameter', async () => {
    const body = { query: QUERY, variables: null, operationName: null, extensions: null };
    const { status } = await front.send('/graphql', { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
    expect(status).toBe(200);
  });
});
