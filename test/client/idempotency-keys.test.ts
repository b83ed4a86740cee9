import { describe, expect, test } from 'vitest';
import { ConflictError, createClient, InputError, UnavailableError } from '../../packages/client/src/index.ts';

const answer = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
const made = () => answer(200, { secret: 's', alert: {} });
const refusal = (status: number, code: string) => () => answer(status, { error: { code, message: 'why' } });

/** A client whose service gives these answers in turn. */
function clientOf(answers: readonly (() => Response)[]) {
  const keys: (string | null)[] = [];
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async (_url, init) => {
      keys.push(new Headers(init.headers).get('idempotency-key'));
      const next = answers[keys.length - 1];
      if (next === undefined) throw new Error('no answer');
      return next();
    },
    wait: async () => {},
  });
  return { client, keys };
}

describe('idempotency keys', () => {
  const ALERT = { chainId: 1, condition: 'paused', strategyId: '0x1', webhookUrl: 'https://a.example/' } as const;
  test('default: a registration with a key is repeated under it, and without one it is not', async () => {
    const { client, keys } = clientOf([refusal(503, 'not_ready'), made]);
    await client.alertCreate(ALERT, { idempotencyKey: 'key-1' });
    expect(keys).toEqual(['key-1', 'key-1']);
    const without = clientOf([refusal(503, 'not_ready'), made]);
    await expect(without.client.alertCreate(ALERT)).rejects.toBeInstanceOf(UnavailableError);
    expect(without.keys).toEqual([null]);
  });

  test('error: a key that no header carries, and a key of a row that takes none', async () => {
    const { client, keys } = clientOf([made]);
    for (const idempotencyKey of ['', 'a b', 'ü', 'a'.repeat(256)])
      await expect(client.alertCreate(ALERT, { idempotencyKey })).rejects.toBeInstanceOf(InputError);
    await expect(client.prices(undefined, { idempotencyKey: 'key' })).rejects.toBeInstanceOf(InputError);
    expect(keys).toEqual([]);
  });

  test('error: ConflictError for another registration under the key', async () => {
    const { client } = clientOf([refusal(409, 'conflict')]);
    await expect(client.alertCreate(ALERT, { idempotencyKey: 'k' })).rejects.toBeInstanceOf(ConflictError);
  });
});
