import { expect } from 'vitest';
import { errorEnvelopeOf } from '../../src/rest/schemas/errors.ts';
import { type Answer, type Json, OPS, type TestService } from '../support/service.ts';

/** Rows of the catalog used by tests. */
export const SUSDE_PYUSD = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
export const SUSDE = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
export const UNKNOWN_ID = `0x${'0'.repeat(63)}1`;
export const UNKNOWN_ADDRESS = `0x${'0'.repeat(39)}1`;
export const CHAIN_IDS = [1, 4663] as const;

/** Every public read that answers 200 in a warm world. */
export const READS = [
  '/v1/strategies',
  '/v1/strategies?chainId=4663',
  `/v1/strategies/${SUSDE_PYUSD}`,
  '/v1/stable-apy',
  '/v1/app/markets',
  '/v1/markets/borrow-apy-history',
  `/v1/markets/${SUSDE_PYUSD}/borrow-apy-history`,
  '/v1/collateral/apy-history',
  `/v1/collateral/${SUSDE_PYUSD}/apy-history`,
  `/v1/markets/${SUSDE_PYUSD}/incentive-history`,
  '/v1/prices',
  '/v1/prices?chainId=4663',
] as const;

/** Assert that an answer is the error envelope of section 2.13 with that status and code, and the details of that code. */
export function expectEnvelope(answer: Answer, status: number, code: string): Json {
  expect({ status: answer.status, code: answer.body?.error?.code }).toEqual({ status, code });
  expect(Object.keys(answer.body)).toEqual(['error']);
  const { error } = answer.body;
  expect(Object.keys(error).filter((key) => !['code', 'message', 'correlationId', 'details'].includes(key))).toEqual(
    [],
  );
  expect(errorEnvelopeOf(error.code).safeParse(answer.body).error).toBeUndefined();
  expect(error.message).toMatch(/\S/);
  expect(error.correlationId).toBe(answer.headers.get('x-correlation-id'));
  expect(answer.headers.get('content-type')).toContain('application/json');
  return error;
}

/** Small enough that a page with every field stays below the limit on a query's cost. */
const PAGE = 30;

/** Read a whole connection page by page: the query takes `$first` and `$after`. */
export async function allNodes(
  service: TestService,
  query: string,
  field: string,
  variables: Record<string, unknown> = {},
): Promise<Json[]> {
  const nodes: Json[] = [];
  for (let after: string | null = null; ; ) {
    const { body }: Answer = await service.graphql(query, { ...variables, first: PAGE, after }, OPS);
    expect(body.errors).toBeUndefined();
    const page: Json = body.data[field];
    nodes.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return nodes;
    after = page.pageInfo.endCursor;
  }
}
