import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callTool } from '../../src/mcp/call-tool.ts';
import { createTools } from '../../src/mcp/tools.ts';
import { createRouter } from '../../src/rest/router.ts';
import type { AnyRoute } from '../../src/rest/types.ts';

const base = {
  surface: 'Public' as const,
  summary: 'A thing',
  description: 'One thing.',
  operation: 'Thing',
  errors: [],
  variables: () => ({}),
  project: () => ({}),
  response: { derive: () => ({ type: 'object' }), deprecations: () => [] },
  examples: [],
} as const;
const one: AnyRoute = {
  ...base,
  method: 'GET',
  path: '/v1/things/{id}',
  params: z.object({ id: z.string() }),
  tool: { name: 'get_thing' },
} as never;
const other: AnyRoute = { ...base, method: 'GET', path: '/v1/things/secret', params: z.object({}) };
const origin = { headers: {}, correlationId: 'correlation', clientIp: '192.0.2.1' };

/** Call the tool of `one`; the answer is the row that was asked. */
async function pathOf(id: unknown, rows: readonly AnyRoute[] = [one, other]) {
  const bound = createTools(rows).get('get_thing');
  if (!bound) throw new Error('no tool');
  const router = createRouter(rows);
  const { result } = await callTool(bound, { id }, origin, {
    routeOf: router.templateOf,
    answerBriefly: () => Promise.reject(new Error('the tool has no brief')),
    answer: async ({ path, method }) => {
      const { route, pathParams } = router.match(method, path);
      return { status: 200, headers: {}, body: JSON.stringify({ row: route.path.slice('/v1/'.length), pathParams }) };
    },
  });
  return result.structuredContent;
}

describe(callTool, () => {
  test.each(['x', '..', 'a/b', 'a%2fb', '%73ecret', 'x?chainId=1', 'x#y', '%', '{id}', 'é'])(
    'behavior: the id %s stays one part of the path',
    async (id) => {
      expect(await pathOf(id)).toEqual({ row: 'things/{id}', pathParams: { id } });
    },
  );

  test('error: bad_request: an argument cannot name another row', async () => {
    await expect(pathOf('secret')).rejects.toMatchObject({ code: 'bad_request', details: { field: 'id' } });
  });

  test.each([
    ['', 'missing'],
    [null, 'missing'],
    [{ a: 1 }, 'one value'],
    [['x'], 'one value'],
  ])('error: bad_request: the id %j', async (id, why) => {
    await expect(pathOf(id)).rejects.toMatchObject({ code: 'bad_request', message: expect.stringContaining(why) });
  });
});

describe(createTools, () => {
  test('error: two rows cannot be one tool, and arguments of pages cannot be those of the row', () => {
    expect(() => createTools([one, one])).toThrow('get_thing');
    const list = { fields: ['things'], limit: 1 };
    const clash = { ...one, params: z.object({ limit: z.string() }), tool: { name: 'x', list } };
    expect(() => createTools([clash])).toThrow('limit');
  });
});
