import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorEnvelopeOf } from '../../src/rest/schemas/errors.ts';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';
import { type Front, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { attackCorpus, refusedCorpus } from './corpus.ts';
import { costlyCorpus } from './costly.ts';
import { namesCorpus } from './names.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

const corpus = refusedCorpus();

/** Upper limit of the CPU time of a refusal, with all that the process does besides: a hundred times the usual, far below the cost of an attack. */
const QUICK_MS = 5_000;
/** Most bytes of an answer, which may wait for its reader, per point. */
const BYTES_PER_POINT = 2 ** 20;

const isHealthy = async () => {
  const answer = await front.graphql('{chains{chainId name}}');
  expect(answer.body.data.chains).toHaveLength(2);
  expect((await front.send('/v1/prices')).status).toBe(200);
};

describe('attacks', () => {
  test('default: there are at least 300 different requests', () => {
    const all = attackCorpus();
    expect(all.length).toBeGreaterThanOrEqual(300);
    expect(new Set(all.map(({ path, init }) => JSON.stringify([path, init, String(init.body)]))).size).toBe(all.length);
  });

  test.each(corpus.map((attack) => [attack.name, attack] as const))('refused: %s', async (_name, attack) => {
    const started = process.cpuUsage();
    const answer = await front.send(attack.path ?? '/graphql', {
      ...attack.init,
      // Only a media type that allows it has the status of the error.
      headers: { accept: 'application/graphql-response+json, application/json', ...attack.init.headers },
    });
    const { user, system } = process.cpuUsage(started);
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([
      expect.toBeOneOf([...attack.status]),
      expect.anything(),
    ]);
    const error = answer.body.error ?? answer.body.errors?.[0]?.extensions;
    expect(error).toMatchObject({ code: attack.code, correlationId: answer.headers.get('x-correlation-id') });
    const { code, correlationId, details } = error;
    const envelope = { error: { code, message: '', correlationId, ...withoutUndefined({ details }) } };
    expect(errorEnvelopeOf(code).safeParse(envelope).error).toBeUndefined();
    expect(answer.text).not.toMatch(/\bat .*\.[jt]s:\d+|node_modules|SyntaxError/);
    expect(Object.values(answer.body.data ?? {}).every((field) => field === null)).toBe(true);
    expect((user + system) / 1_000).toBeLessThan(QUICK_MS);
  });

  test('behavior: the process is healthy after all requests at once', async () => {
    const all = corpus.map(({ path, init }) => front.send(path ?? '/graphql', init));
    const answers = await Promise.all(all);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    await isHealthy();
  });
});

describe('requests that are answered and charged', () => {
  let counted: Front;
  beforeAll(async () => {
    counted = await startTestGateway({ env: { RATE_LIMIT_ANONYMOUS: '10000000' } });
  });
  afterAll(() => counted.stop());
  const left = ({ headers }: { headers: Headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

  const attacks = [...costlyCorpus(), ...namesCorpus()];
  test.each(attacks.map((attack) => [attack.name, attack] as const))('default: %s', async (_name, attack) => {
    const before = left(await counted.send('/v1/nowhere'));
    const answer = await counted.send(attack.path ?? '/graphql', attack.init);
    const points = before - left(await counted.send('/v1/nowhere')) - 1;
    expect(attack.status).toContain(answer.status);
    expect(answer.headers.get('x-correlation-id')).not.toBeNull();
    expect(points).toBeGreaterThanOrEqual(1);
    expect(Number(answer.headers.get('content-length')) / points).toBeLessThanOrEqual(BYTES_PER_POINT);
  });
});

describe('malformed HTTP', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(front.url);
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer)).on('error', reject);
    });

  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400],
    ['two lengths', 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
    [
      'smuggling',
      'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['huge headers', `GET / HTTP/1.1\r\nhost: x\r\nx-pad: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['a huge target', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ])('refused: %s', async (_name, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    expect(body.error).toMatchObject({ code: 'bad_request', correlationId: expect.any(String) });
    await isHealthy();
  });

  test('behavior: a body longer than its content-length, or a missing body, affects no other connection', async () => {
    const endless = connect({ host: '127.0.0.1', port: Number(new URL(front.url).port) });
    endless.write(
      'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{',
    );
    await isHealthy();
    endless.destroy();
    await isHealthy();
  });

  test('error: payload_too_large for a stream without a content-length', async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 1;
        if (sent > 1_000) controller.close();
        else controller.enqueue(new Uint8Array(16 * 1024).fill(0x20));
      },
    });
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit;
    const answer = await fetch(`${front.url}/graphql`, init).catch((error: unknown) => error);
    // The connection may be cut while the rest is still being sent: then nothing can be read.
    if (!(answer instanceof Error)) expect((answer as { status: number }).status).toBe(413);
    await isHealthy();
  });
});
