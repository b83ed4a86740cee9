import { afterEach, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let front: Front | undefined;
afterEach(async () => {
  await front?.stop();
  front = undefined;
});

/** The facts of the test gateway have no validity, so that no row of it is cached. */
const ROW = '/v1/strategies';

describe('rows that are made for one caller', () => {
  test('default: are compressed like answers of GraphQL', async () => {
    front = await startTestGateway({ env: UNLIMITED });
    const plain = await front.send(ROW, { headers: PARTNER_KEY });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary') ?? '').toContain('accept-encoding');
    const { status, headers, text } = await front.send(ROW, {
      headers: { ...PARTNER_KEY, 'accept-encoding': 'gzip' },
    });
    expect([status, headers.get('content-encoding')]).toEqual([200, 'gzip']);
    expect(Number(headers.get('content-length'))).toBeLessThan(text.length);
    expect(text.length).toBe(plain.text.length);
  });

  test('behavior: short answers and files stay as they are', async () => {
    front = await startTestGateway({ env: UNLIMITED });
    const headers = { 'accept-encoding': 'gzip' };
    const refused = await front.send('/v1/strategies/0x12', { headers });
    expect([refused.headers.get('content-encoding'), refused.headers.get('vary')]).toEqual([null, null]);
    const file = await front.send('/openapi.json', { headers });
    expect(file.headers.get('vary')).toBe('accept-encoding');
  });
});
