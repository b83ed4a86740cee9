import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../../src/server/listen.ts';
import { createReadyHeads } from '../../src/server/ready-heads.ts';
import { createTextSender } from '../../src/server/text-answer.ts';
import type { Answer } from '../support/service.ts';
import { type Front, type FrontOptions, startFront } from './front.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(options?: FrontOptions): Promise<Front> {
  const front = await startFront(options);
  ends.push(front.stop);
  return front;
}

const LIST = `query List($first: Int, $short: Boolean = false, $loan: String) {
  strategies(first: $first, filter: { loan: $loan }) { totalCount nodes { id chainId @skip(if: $short) } }
}
query Other { chains { chainId } }`;
const ONE = 'query One($id: StrategyId!) { strategy(id: $id) { id } }';
const UNKNOWN = `0x${'12'.repeat(32)}`;

interface Case {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Sent before, so that the document is known and its media type negotiated. */
  readonly before: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const list = (variables: object, operationName = 'List') => ({ query: LIST, operationName, variables });
const CASES: readonly Case[] = [
  { name: 'a page', before: list({ first: 1 }), body: list({ first: 3 }) },
  { name: 'a page without variables', before: list({ first: 1 }), body: { query: LIST, operationName: 'List' } },
  { name: 'a directive', before: list({ first: 1 }), body: list({ first: 3, short: true }) },
  { name: 'another operation of the document', before: list({ first: 1 }), body: list({}, 'Other') },
  { name: 'an operation that is not there', before: list({ first: 1 }), body: list({}, 'Nothing') },
  { name: 'a variable of another type', before: list({ first: 1 }), body: list({ first: 'many' }) },
  { name: 'a variable out of bounds', before: list({ first: 1 }), body: list({ first: -1 }) },
  { name: 'too much at once', before: list({ first: 1 }), body: list({ first: 100_000 }) },
  { name: 'variables that are none', before: list({ first: 1 }), body: { ...list({}), variables: [1] } },
  { name: 'a parameter that is none', before: list({ first: 1 }), body: { ...list({}), more: 1 } },
  {
    name: 'an error of a resolver',
    before: { query: ONE, variables: { id: `0x${'34'.repeat(32)}` } },
    body: { query: ONE, variables: { id: UNKNOWN } },
  },
  {
    name: 'the media type of GraphQL',
    before: list({ first: 1 }),
    body: list({ first: 2 }),
    headers: { accept: 'application/graphql-response+json' },
  },
];

/** What of an answer does not tell when it was given. */
function essence({ status, headers, body, text }: Answer) {
  const { date: _date, 'x-correlation-id': _id, 'transfer-encoding': _how, ...kept } = Object.fromEntries(headers);
  return { status, headers: { ...kept, 'content-length': String(Buffer.byteLength(text)) }, body };
}

describe('the short way of a known query', () => {
  test.each(CASES)('behavior: $name is answered and charged as on the usual way', async ({ before, body, headers }) => {
    const ask = (front: Front, what: object) =>
      front.send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-correlation-id': 'the-same-id', ...headers },
        body: JSON.stringify(what),
      });
    // With a parameter beside it a request always goes the usual way.
    const usual = await start();
    await ask(usual, { ...before, extensions: {} });
    const short = await start();
    await ask(short, before);
    expect(essence(await ask(short, body))).toEqual(essence(await ask(usual, { ...body, extensions: {} })));
  });

  test('behavior: an answer that comes back is kept until its facts change', async () => {
    const { graphql } = await start();
    const answers = [];
    for (let i = 0; i < 5; i += 1) answers.push(await graphql(LIST, { variables: { first: 2 } }));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    const good = [];
    for (let i = 0; i < 5; i += 1) good.push(await graphql('{strategies(first:2){nodes{id}}}'));
    expect(new Set(good.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
    const remaining = good.map(({ body }) => body.extensions.rateLimit.remaining as number);
    const steps = remaining.slice(1).map((left, i) => (remaining[i] ?? 0) - left);
    expect(new Set(steps).size).toBe(1);
  });

  test('error: rate_limited in the middle of equal queries, and again in the next window after it', async () => {
    const { graphql, clock } = await start({ env: { RATE_LIMIT_ANONYMOUS: '3' } });
    const statuses = async () => {
      const answers = [];
      for (let i = 0; i < 5; i += 1) answers.push((await graphql('{chains{chainId}}')).status);
      return answers;
    };
    expect(await statuses()).toEqual([200, 200, 200, 429, 429]);
    clock.advance(60_000);
    expect(await statuses()).toEqual([200, 200, 200, 429, 429]);
  });
});

describe('createTextSender', () => {
  test.each(['plain', 'ünïcode, 漢字 and 🙂', ''])('default: %j arrives as it was sent', async (body) => {
    const clock = { now: () => 0 };
    const cors = { origins: '*' } as const;
    const send = createTextSender({ heads: createReadyHeads({ cors, clock }), clock });
    const info = { correlationId: 'an-id', authorization: undefined, clientIp: '192.0.2.1' };
    const listening = await listen(
      (req, res) => {
        expect(send(req, res, { contentType: 'text/plain; charset=utf-8', body, standing: null }, info)).toBe(true);
      },
      { host: '127.0.0.1', port: 0 },
    );
    ends.push(() => listening.close(100));
    const answer = await fetch(listening.url);
    expect(await answer.text()).toBe(body);
    expect(answer.headers.get('x-correlation-id')).toBe('an-id');
  });

  test('behavior: a connection that ends with the answer gets no ready head', async () => {
    const clock = { now: () => 0 };
    const send = createTextSender({ heads: createReadyHeads({ cors: { origins: '*' }, clock }), clock });
    const info = { correlationId: 'an-id', authorization: undefined, clientIp: '192.0.2.1' };
    const listening = await listen(
      (req, res) => {
        const sent = send(req, res, { contentType: 'text/plain', body: 'x', standing: null }, info);
        res.end(String(sent));
      },
      { host: '127.0.0.1', port: 0 },
    );
    ends.push(() => listening.close(100));
    const text = await new Promise<string>((resolve, reject) => {
      request(listening.url, { headers: { connection: 'close' }, agent: false }, (answer) => {
        answer.setEncoding('utf8').once('data', resolve);
      })
        .once('error', reject)
        .end();
    });
    expect(text).toBe('false');
  });
});
