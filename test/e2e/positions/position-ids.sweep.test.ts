import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';

/** A wallet with positions on the second chain. */
const WALLET = '0x976EA74026E726554dB657fA54763abd0C3a0aa9';
const CHAIN = 4663;

let service: TestService;
let held: Json;
beforeAll(async () => {
  service = await startService();
  const { body } = await service.get(`/v1/partner/positions/${WALLET}?chainId=${CHAIN}`, PARTNER);
  held = body.positions.find(({ status }: Json) => status === 'open');
});
afterAll(() => service.stop());

describe.each(['history', 'deleverage-options'])('GET /v1/partner/positions/{address}/{id}/%s', (row) => {
  const read = (id: string | number, query = '') =>
    service.get(`/v1/partner/positions/${WALLET}/${id}/${row}${query}`, PARTNER);

  test('default: takes the positionId of the list, which names the chain', async () => {
    const { status, body } = await read(held.positionId);
    const { id, positionId } = held;
    expect([status, body]).toEqual([200, expect.objectContaining({ chainId: CHAIN, id, positionId })]);
    expect((await read(held.positionId, `?chainId=${CHAIN}`)).body).toEqual(body);
    expect((await read(held.id, `?chainId=${CHAIN}`)).body).toEqual(body);
    const [chainId, marketId, index] = held.positionId.split('-');
    const upper = `${chainId}-0x${marketId.slice(2).toUpperCase()}-${index}`;
    expect((await read(upper)).body).toEqual(body);
  });

  test('error: BadRequest for a chainId that contradicts it, naming the right one', async () => {
    const { status, body } = await read(held.positionId, '?chainId=1');
    expect([status, body.error.code, body.error.details]).toEqual([
      400,
      'bad_request',
      { field: 'query.chainId', value: '1', limit: { oneOf: [CHAIN] } },
    ]);
    expect(body.error.message).toContain(`Send chainId ${CHAIN}, or none.`);
  });

  test('error: BadRequest for a positionId of a chain that is not served', async () => {
    const other = held.positionId.replace(/^\d+/, '8453');
    const { status, body } = await read(other);
    expect([status, body.error.details]).toEqual([
      400,
      { field: 'path.id', value: other, limit: { oneOf: [1, CHAIN] } },
    ]);
  });

  test('error: BadRequest for a positionId of another market, naming its own', async () => {
    const other = held.positionId.replace(/0x[0-9a-f]{64}/, `0x${'1'.repeat(64)}`);
    const { status, body } = await read(other);
    expect([status, body.error.details]).toEqual([400, { field: 'path.id', value: other }]);
    expect(body.error.message).toContain(`positionId ${held.positionId}`);
  });

  test.each([
    ['by its index', () => '77', 1],
    ['by its index on a named chain', () => '77', CHAIN],
    ['by its positionId', () => held.positionId.replace(/\d+$/, '77'), undefined],
  ])('error: NotFound %s names the chain and the next step', async (_how, idOf, chainId) => {
    const id = idOf();
    const { status, body } = await read(id, chainId === CHAIN ? `?chainId=${CHAIN}` : '');
    expect([status, body.error.details]).toEqual([404, { resource: 'position', id }]);
    const chain = chainId ?? CHAIN;
    expect(body.error.message).toContain(`has no position 77 on chain ${chain}.`);
    expect(body.error.message).toContain(`/v1/partner/positions/${WALLET}?chainId=${chain}`);
    // Only a default can be meant for another chain.
    expect(body.error.message.includes('on another chain, send its positionId')).toBe(chainId === 1);
  });

  test.each(['-1', '2.5', '0x2', '2147483648', '1-0', `4663-0x${'1'.repeat(63)}-0`, '04663-2', 'x'])(
    'error: BadRequest for %s, naming both forms',
    async (id) => {
      const { status, body } = await read(id);
      expect([status, body.error.details.field, body.error.details.value]).toEqual([400, 'path.id', id]);
      expect(body.error.message).toMatch(
        /a positionId, \{chainId\}-\{marketId\}-\{id\}, or a whole number from 0 to 2147483647/,
      );
      expect(body.error.details.limit).toEqual({ min: 0, max: 2_147_483_647 });
    },
  );
});
