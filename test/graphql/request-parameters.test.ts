import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import type { Answer, Json } from '../support/http-client.ts';

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
    const { status, body } = await front.send('/graphql', {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ documentId: id }),
    });
    const [{ message, extensions }] = body.errors;
    expect([status, message]).toEqual([
      404,
      'No persisted operation has this documentId. Send the document as "query".',
    ]);
    expect(extensions).toMatchObject({ code: 'not_found', details: { resource: 'persisted operation', id } });
  });

  test('behavior: null is an absent parameter', async () => {
    const body = { query: QUERY, variables: null, operationName: null, extensions: null };
    const { status } = await front.send('/graphql', { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
    expect(status).toBe(200);
  });
});

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const persisted = (sha256Hash: unknown) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });

describe('automatic persisted queries', () => {
  const ask = (to: Front, body: object, headers: Record<string, string> = {}) =>
    to.send('/graphql', { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) });
  const messageOf = ({ status, body }: Answer) => [status, body.errors?.[0].message];

  test.each(['application/json', 'application/graphql-response+json, application/json;q=0.9'])(
    'default: unknown, then registered with its text, then known by its hash: %s',
    async (accept) => {
      const query = `query Asked { chains { chainId } } # ${accept}`;
      const unknown = await ask(front, persisted(hashOf(query)), { accept });
      expect(messageOf(unknown)).toEqual([200, 'PersistedQueryNotFound']);
      expect(unknown.headers.get('cache-control')).toBe('no-store');
      expect(unknown.body.errors[0].extensions).toMatchObject({ code: 'not_found', status: 404, retryable: false });
      for (const body of [{ query, ...persisted(hashOf(query)) }, persisted(hashOf(query))]) {
        const { status, body: answer } = await ask(front, body, { accept });
        expect([status, answer.data]).toEqual([200, { chains: [{ chainId: 1 }, { chainId: 4663 }] }]);
      }
      const byGet = await front.send(
        `/graphql?extensions=${encodeURIComponent(JSON.stringify(persisted(hashOf(query)).extensions))}`,
      );
      expect(byGet.body.data.chains).toHaveLength(2);
    },
  );

  test('behavior: in a batch each operation is known or not', async () => {
    const query = '{ chains { name } }';
    const batch = [persisted('0'.repeat(64)), { query, ...persisted(hashOf(query)) }, persisted(hashOf('other'))];
    const { status, body } = await ask(front, batch);
    expect([status, body.map(({ errors }: Json) => errors?.[0].message)]).toEqual([
      200,
      ['PersistedQueryNotFound', undefined, 'PersistedQueryNotFound'],
    ]);
  });

  test('behavior: a registered document has the limits of any other', async () => {
    const query = `{ chains { ${'chainId '.repeat(20)} ${Array.from({ length: 200 }, (_, i) => `a${i}: name`).join(' ')} } }`;
    for (const body of [{ query, ...persisted(hashOf(query)) }, persisted(hashOf(query))]) {
      const { body: answer } = await ask(front, body);
      expect(answer.errors[0].extensions.code).toBe('query_too_complex');
    }
  });

  test.each([
    ['of another text', hashOf('{a}')],
    ['in upper case', hashOf(QUERY).toUpperCase()],
    ['that is none', 'x'],
  ])('error: bad_request for a hash %s', async (_name, hash) => {
    const { status, body } = await ask(front, { query: QUERY, ...persisted(hash) });
    expect([status, body.errors[0].extensions.details]).toEqual([
      400,
      { field: 'extensions.persistedQuery.sha256Hash', value: hash },
    ]);
    expect(messageOf(await ask(front, persisted(hash)))[1]).toBe('PersistedQueryNotFound');
  });

  test.each([[persisted(5)], [{ extensions: { persistedQuery: null } }], [{ extensions: {} }], [{}], [{ query: '' }]])(
    'error: bad_request without a query: %j',
    async (body) => {
      expect((await ask(front, body)).body.errors[0].extensions).toMatchObject({
        code: 'bad_request',
        details: { field: 'query' },
      });
    },
  );

  test('behavior: PersistedQueryNotSupported where only persisted operations are allowed', async () => {
    const closed = await startTestGateway({ env: { ...UNLIMITED, PERSISTED_ONLY_FOR_ANONYMOUS: 'true' } });
    const own = { query: QUERY, ...persisted(hashOf(QUERY)) };
    expect(messageOf(await ask(closed, persisted(hashOf(QUERY))))).toEqual([200, 'PersistedQueryNotSupported']);
    expect((await ask(closed, own)).status).toBe(400);
    expect(messageOf(await ask(closed, persisted(hashOf(QUERY)), PARTNER_KEY))).toEqual([
      200,
      'PersistedQueryNotFound',
    ]);
    expect((await ask(closed, own, PARTNER_KEY)).body.data.chains).toHaveLength(2);
    expect((await ask(closed, persisted(hashOf(QUERY)), PARTNER_KEY)).body.data.chains).toHaveLength(2);
    // A document that a caller with a key has registered stays closed to others.
    expect(messageOf(await ask(closed, persisted(hashOf(QUERY))))).toEqual([200, 'PersistedQueryNotSupported']);
    const { sha256 } = manifest.StableApy;
    expect((await ask(closed, persisted(sha256))).body.data).toBeDefined();
    await closed.stop();
  });
});

test('behavior: no message of the sources names a file of the repository to a client', () => {
  const folder = new URL('../../src/', import.meta.url);
  const outside = ['config/', 'http/pages/', 'redis/', 'app/'];
  const named = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.ts') &&
        !/^features\/[^/]+\/test\//.test(file) &&
        !outside.some((part) => file.startsWith(part)),
    )
    .flatMap((file) =>
      readFileSync(new URL(file, folder), 'utf8')
        .split('\n')
        .filter((line) => /['"`].*\b(?:src|test|scripts|docs|packages)\/\w/.test(line))
        .filter((line) => !/^\s*(?:import|export|\*|\/\/|\/\*)|from '/.test(line)),
    );
  expect(named).toEqual([]);
});
