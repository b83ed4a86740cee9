import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonTypeFor } from '../../src/graphql/media-type.ts';
import { createFaults } from '../http/faults.ts';
import { type Front, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED, faults: createFaults() });
});
afterAll(() => front.stop());

test.each([
  '*/*',
  'application/*',
  '*/json',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json;q=0.9',
  'application/json;q=0.1, application/graphql-response+json',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'text/event-stream, application/json',
  'APPLICATION/JSON; charset=UTF-8',
  'application/json;charset=latin1, application/graphql-response+json',
  'text/plain, */*;q=0.1',
])('default: an answer to "%s" has the type of Yoga', async (accept) => {
  // A new document, so that the first answer is executed.
  const query = `query Q${Buffer.from(accept).toString('hex').slice(0, 200)}{chains{chainId}}`;
  const executed = await front.graphql(query, { headers: { accept } });
  expect(executed.headers.get('content-type')).toBe(jsonTypeFor(accept));
  for (let round = 0; round < 3; round += 1) {
    const again = await front.graphql(query, { headers: { accept } });
    expect(again.headers.get('content-type')).toBe(executed.headers.get('content-type'));
  }
});

test('behavior: none for callers that do not accept JSON, and for unusual headers', () => {
  for (const accept of ['text/event-stream', 'text/html', 'application/json;charset=latin1', 'x'.repeat(201)])
    expect(jsonTypeFor(accept)).toBeUndefined();
  expect(jsonTypeFor(undefined)).toBe('application/json; charset=utf-8');
  expect(jsonTypeFor('')).toBe('application/json; charset=utf-8');
});
