import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpMessage } from '../../../devnet/http.ts';
import { collectionFiles } from '../../../scripts/collection/files.ts';
import { collectionRequests } from '../../support/bruno.ts';
import { type BoundRequest, boundsOf } from '../../support/documented-bounds.ts';
import { sendRequest } from '../../support/http-client.ts';
import { conformanceTo, type DocumentedOperation, examplesOf } from '../../support/openapi.ts';
import { requestsFor } from '../../support/requests.ts';
import { runSamples } from '../../support/samples.ts';
import { type Answer, OPS, startService, type TestService } from '../../support/service.ts';

/** The committed document; test/rest/openapi.test.ts compares it with the generated one. */
const document = JSON.parse(readFileSync('openapi.json', 'utf8'));
const { operations, violation } = conformanceTo(document);

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { READ_WAIT_SEC: '1' }, sleep: async () => {} });
});
afterAll(() => service?.stop());

const send = (url: string, init: HttpMessage) => sendRequest(`${service.url}${url}`, init);
const titled = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

describe('/openapi.json', () => {
  test('default: serves the committed document', async () => {
    const served = await service.get('/openapi.json');
    expect(served.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(served.body).toEqual(document);
  });
});

describe('examples', () => {
  // The alerts in examples are those of another key, and some of them delete: test/client/reads sends them in order.
  const examples = operations
    .filter(({ path }) => !path.startsWith('/v1/partner/alerts/'))
    .flatMap((operation) =>
      examplesOf(operation).map(
        (example) => [`${operation.method} ${operation.path}: ${example.name}`, operation, example] as const,
      ),
    );

  test.each(examples)('default: %s', async (_title, operation, { url, init }) => {
    const answer = await send(url, { ...init, headers: { ...init.headers, ...OPS } });
    expect(violation(operation, answer)).toBeNull();
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  });
});

describe('code samples', () => {
  test.each(['Shell', 'TypeScript', 'Python'] as const)(
    'default: the %s sample of every operation runs and gets a documented answer',
    async (lang) => {
      const answers = await runSamples(lang, operations, service.url);
      const headers = new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-correlation-id': lang });
      for (const [operation, body] of answers) {
        const answer = { status: 200, headers, body, text: JSON.stringify(body) };
        expect([operation.path, violation(operation, answer)]).toEqual([operation.path, null]);
      }
    },
  );
});

describe('the Bruno collection', () => {
  test('default: equals the generated one (npm run collection writes it)', () => {
    const files = collectionFiles(document);
    expect(
      readdirSync('collection', { recursive: true, encoding: 'utf8' })
        .filter((name) => name.includes('.'))
        .sort(),
    ).toEqual([...files.keys()].sort());
    for (const [path, text] of files) expect(readFileSync(join('collection', path), 'utf8')).toBe(text);
  });

  test('default: every request gets the status that it asserts', async () => {
    const requests = collectionRequests(service.url);
    expect(requests.length).toBeGreaterThanOrEqual(operations.length);
    for (const { file, url, init, status } of requests) {
      const response = await fetch(url, init);
      expect([file, response.status, await response.text()]).toEqual([file, status, expect.stringMatching(/^\{/)]);
    }
  });
});

describe('documented bounds', () => {
  const bounds = operations.flatMap((operation) =>
    boundsOf(operation, document).map(
      (bound) => [`${operation.path}: ${bound.keyword} of ${bound.place}`, operation, bound] as const,
    ),
  );
  const ask = ({ url, init }: BoundRequest) => send(url, { ...init, headers: { ...init.headers, ...OPS } });

  test.each(bounds)('behavior: %s', async (_title, operation, { field, limit, inside, outside }) => {
    const reasons = new Set<string>();
    for (const request of outside) {
      const answer = await ask(request);
      expect([request.value, answer.status, answer.body.error?.details?.field?.replace(/\.\d+$/, '')]).toEqual([
        request.value,
        400,
        field,
      ]);
      expect(violation(operation, answer)).toBeNull();
      const { message, details } = answer.body.error;
      expect([request.value, typeof details.value]).toEqual([request.value, 'string']);
      for (const part of limit) if (!message.includes(part)) expect(message).toContain(String(Number(part) + 1));
      reasons.add(reasonOf(answer));
    }
    for (const request of inside) {
      const answer = await ask(request);
      expect(violation(operation, answer)).toBeNull();
      expect(reasons).not.toContain(reasonOf(answer));
    }
  });
});

/** The message of a refusal without its value. */
function reasonOf({ body }: Answer): string {
  const { message = '', details } = body.error ?? {};
  return message.replaceAll(details?.value, '');
}

describe('generated requests', () => {
  const COUNT = Math.ceil(5_000 / operations.length);

  test('default: there are at least 5,000', () => {
    expect(COUNT * operations.length).toBeGreaterThanOrEqual(5_000);
  });

  const AT_ONCE = 16;

  test.each(titled)(
    'behavior: %s answers as documented, never with 500',
    async (_title, operation: DocumentedOperation) => {
      const requests = requestsFor(operation, COUNT);
      const violations: unknown[] = [];
      const statuses = new Map<number, number>();
      let next = 0;
      let etag: string | null = null;
      const worker = async () => {
        for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
          // As caches do: a known document is requested only if it has changed.
          const known = etag === null ? {} : { 'if-none-match': etag };
          const answer = await send(request.url, { ...request.init, headers: { ...known, ...request.init.headers } });
          etag = answer.headers.get('etag') ?? etag;
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const found = answer.status === 500 ? 'status 500' : violation(operation, answer);
          if (found !== null) violations.push({ found, request });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      expect(violations.slice(0, 5)).toEqual([]);
      expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(COUNT);
      // Both kinds were among them.
      if (operation.operation.parameters || operation.operation.requestBody)
        expect(statuses.get(400) ?? 0).toBeGreaterThan(0);
    },
  );
});
