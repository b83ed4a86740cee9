import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import { ALERT_ROWS } from '../../../src/features/alerts/test/rows.ts';
import { createRoutes } from '../../../src/rest/routes/index.ts';
import { sharedSchema } from '../../../src/schema/index.ts';
import { equityChainIds } from '../../../src/transactions/equity/index.ts';
import { sendRequest } from '../../support/http-client.ts';
import { noSleep, OPS, startService, type TestService } from '../../support/service.ts';
import { differencesOf } from './compare.ts';
import { HOLDING_ROWS } from './holdings.ts';
import { MORE_EXAMPLES } from './more-examples.ts';
import { READ_ROWS, type Row } from './reads.ts';

/*
 * Every row of /v1 and the same question to GraphQL, in a document as a client writes it and at one standing clock: each leaf of
 * one answer is a leaf of the other.
 */

const { chains, chainIds } = createCatalog(curatedChains);
const routes = createRoutes({ schema: sharedSchema(), chainIds, equityChainIds: equityChainIds(chains) });
/** By path; of paths with several methods, and those that change something, by method and path. */
const ROWS: Readonly<Record<string, Row>> = { ...READ_ROWS, ...HOLDING_ROWS, ...ALERT_ROWS };
const keyOfRow = ({ method, path }: { readonly method: string; readonly path: string }) =>
  `${method} ${path}` in ROWS ? `${method} ${path}` : path;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

test('every row has its table, and there is no other', () => {
  expect(Object.keys(ROWS).sort()).toEqual(routes.map(keyOfRow).sort());
});

const examples = routes.flatMap(({ path, method, examples }) =>
  [...examples, ...(MORE_EXAMPLES[path] ?? [])].map((example) => ({
    name: `${method} ${path}: ${example.summary}`,
    method,
    path,
    example,
  })),
);

describe('REST and GraphQL answer the same', () => {
  test.each(examples)('$name', async ({ method, path, example }) => {
    const row = ROWS[keyOfRow({ method, path })];
    if (!row) throw new Error(`${path} has no table`);
    const place = path.replace(/\{(\w+)\}/g, (_all, name: string) => example.params?.[name] ?? '');
    const query = example.query === undefined ? '' : `?${new URLSearchParams(example.query)}`;
    const key = row.key ?? OPS;
    const rest =
      method === 'POST'
        ? await service.post(`${place}${query}`, example.body, key)
        : await sendRequest(`${service.url}${place}${query}`, { method, headers: key });
    expect([rest.status, rest.body.error]).toEqual([200, undefined]);
    expect(differencesOf(rest.body, await row.ask(service, example), row)).toEqual([]);
  });
});

describe('the comparison', () => {
  const typed = { a: '1.50', at: '2026-01-01T00:00:00Z', kind: 'STABLE_PT', list: [{ b: '1' }] };
  const names = [[/^t$/, 'at', 'seconds']] as const;
  const rest = { a: 1.5, t: 1_767_225_600, kind: 'stable-PT', list: [{ b: '1' }] };

  test('default: the same by names and units', () => {
    expect(differencesOf(rest, typed, { names })).toEqual([]);
  });

  test.each([
    ['another number', { ...rest, a: 1.51 }],
    ['another text of a number', { ...rest, a: '1.5' }],
    ['another unit', { ...rest, t: 1_767_225_600_000 }],
    ['another word', { ...rest, kind: 'stable' }],
    ['a leaf too many', { ...rest, more: 0 }],
    ['an item too few', { ...rest, list: [] }],
  ])('error: %s is a difference', (_name, changed) => {
    expect(differencesOf(changed, typed, { names })).toHaveLength(1);
  });
});
