import { afterEach, describe, expect, test } from 'vitest';
import type { ChangesPort } from '../../src/resolvers/changes.ts';
import { type Front, startFront } from './front.ts';

let front: Front | undefined;
afterEach(() => front?.stop());

describe('streams that break', () => {
  test('error: internal, without what went wrong, under the id of the request', async () => {
    async function* broken() {
      yield await Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432 as gateway'));
    }
    const changes = { open: () => broken() } as unknown as ChangesPort;
    front = await startFront({ services: { changes } });
    const { text } = await front.send('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-correlation-id': 'stream-that-breaks',
      },
      body: JSON.stringify({ query: 'subscription { freshnessChanged { __typename } }' }),
    });
    expect(text).toContain('"code":"internal"');
    expect(text).toContain('"correlationId":"stream-that-breaks"');
    expect(text).not.toContain('5432');
    expect(front.logs.take().join()).toContain('ECONNREFUSED');
  });
});
