import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import { Decimal } from '../../src/shared/decimal.ts';
import { chainOf, completeFacts, marketOf, withItem } from '../domain/world.ts';
import { createFaults } from '../http/faults.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { CHAIN_IDS, servicesOf } from '../resolvers/world.ts';
import type { Answer } from '../support/service.ts';

const faults = createFaults();
let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: { ...UNLIMITED, RATE_LIMIT_ANONYMOUS: '100000' }, faults });
});
afterAll(() => front.stop());

const send = (body: unknown, headers: Record<string, string> = {}, to = front): Promise<Answer> =>
  to.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
/** Whether a request was executed. */
const executes = async (work: () => Promise<Answer>): Promise<boolean> =>
  (await faults.countDuring(work)).includes('createContext');
const cache = async (body: unknown): Promise<void> => {
  for (let round = 0; round < 2; round += 1) await send(body);
};

describe('a batch', () => {
  const one = { query: 'query One {chains{chainId}}' };
  const two = { query: 'query Two($id: ChainId!) {chain(chainId: $id){name}}', variables: { id: 1 } };

  test('default: is answered from the cache when all its operations are cached, with the budget in each answer', async () => {
    const executed = await send([one, two]);
    await cache([one, two]);
    let answer: Answer | undefined;
    const ask = async () => {
      answer = await send([one, two]);
      return answer;
    };
    expect(await executes(ask)).toBe(false);
    expect(answer?.body).toHaveLength(2);
    const data = ({ body }: Answer) => body.map((result: { data: unknown }) => result.data);
    expect(answer && data(answer)).toEqual(data(executed));
    const left = Number(/r=(\d+)/.exec(answer?.headers.get('ratelimit') ?? '')?.[1]);
    for (const { extensions } of answer?.body ?? []) {
      expect(extensions.cost.points).toBe(1);
      expect(extensions.rateLimit.remaining).toBe(left);
    }
  });

  test('behavior: is executed as a whole when one operation is not cached', async () => {
    await cache(one);
    expect(await executes(() => send([one, { query: 'query New {chains{chainId version}}' }]))).toBe(true);
  });
});

describe('content encodings', () => {
  const long = { query: `query Long {tokens(first:200){nodes{address symbol name decimals}}}` };
  /** The answer as it is sent. */
  const raw = async (body: unknown, encoding: string) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'accept-encoding': encoding };
      request(`${front.url}/graphql`, { method: 'POST', headers }, resolve)
        .once('error', reject)
        .end(JSON.stringify(body));
    });
    const bytes = await buffer(response);
    return { bytes, encoding: response.headers['content-encoding'], vary: response.headers.vary };
  };
  const plain = {
    br: brotliDecompressSync,
    gzip: (bytes: Buffer) => gunzipSync(bytes),
    identity: (bytes: Buffer) => bytes,
  };
  const dataOf = (bytes: Buffer) => JSON.parse(bytes.toString()).data;

  test.each([
    ['br', 'gzip, br'],
    ['gzip', 'gzip'],
    ['identity', 'identity'],
  ] as const)('default: %s, executed and from the cache', async (encoding, accepted) => {
    const expected = (await send(long)).body.data;
    const executed = await raw({ ...long, variables: { any: accepted } }, accepted);
    expect([executed.encoding ?? 'identity', executed.vary]).toEqual([encoding, 'accept-encoding']);
    expect(dataOf(plain[encoding](executed.bytes))).toEqual(expected);
    await cache(long);
    await send(long);
    await front.compressed();
    const cached = await raw(long, accepted);
    expect([cached.encoding ?? 'identity', cached.vary]).toEqual([encoding, 'accept-encoding']);
    const { data, extensions } = JSON.parse(plain[encoding](cached.bytes).toString());
    expect([data, extensions.rateLimit.remaining > 0]).toEqual([expected, true]);
  });

  test('behavior: a repeated answer is served from bytes that were compressed once', async () => {
    await cache(long);
    await send(long);
    await front.compressed();
    for (const accepted of ['br', 'gzip']) {
      const executed = await raw({ ...long, variables: { accepted } }, accepted);
      const cached = await raw(long, accepted);
      // Only the end with the budget of the request is written per request, and it stays uncompressed.
      expect([executed.bytes.includes('"rateLimit"'), cached.bytes.includes('"rateLimit"')]).toEqual([false, true]);
      expect(cached.bytes.length).toBeLessThan((await raw(long, 'identity')).bytes.length / 2);
    }
  });

  test('behavior: a short answer is not compressed for a caller that accepts Brotli', async () => {
    const short = await raw({ query: '{chains{chainId}}' }, 'br');
    expect([short.encoding, short.vary]).toEqual([undefined, undefined]);
  });
});

describe('facts that change under a cached answer', () => {
  const market = marketOf(chainOf(1), 'syrupUSDC', 'PYUSD');
  const published = (usd: string, version: number) =>
    CHAIN_IDS.map((chainId) => {
      const facts = completeFacts(chainOf(chainId));
      const item = { value: { usd: new Decimal(usd), source: 'test' } };
      return chainId === 1 ? { ...withItem(facts, 'price', market.loan.address, item), version } : facts;
    });

  test('behavior: the next request gets the new facts, and answers of other chains stay cached', async () => {
    let now = servicesOf(published('0.9998', 1));
    const changing = await startTestGateway({
      env: { ...UNLIMITED, RATE_LIMIT_ANONYMOUS: '100000' },
      faults,
      services: { facts: (chainId) => now.facts(chainId), composed: (chainId) => now.composed(chainId) },
    });
    try {
      const query = 'query Price($id: ChainId!) {chain(chainId: $id){tokens{address price{usd}}}}';
      const ask = (id: number) => send({ query, variables: { id } }, {}, changing);
      const priceIn = ({ body }: Answer) =>
        body.data.chain.tokens.find(({ address }: { address: string }) => address === market.loan.address).price.usd;
      for (const id of [1, 1, 4663, 4663]) await ask(id);
      expect(await executes(() => ask(1))).toBe(false);
      expect(priceIn(await ask(1))).toBe('0.9998');
      now = servicesOf(published('1.0003', 2));
      expect(await executes(() => ask(4663))).toBe(false);
      expect(priceIn(await ask(1))).toBe('1.0003');
      expect(await executes(() => ask(1))).toBe(false);
      expect(priceIn(await ask(1))).toBe('1.0003');
    } finally {
      await changing.stop();
    }
  });
});

describe('requests that are never answered from the cache', () => {
  const query = 'query Repeated {chains{chainId}}';
  test.each<[string, () => Promise<Answer>]>([
    ['an operation with a key', () => send({ query }, PARTNER_KEY)],
    ['an event stream', () => send({ query }, { accept: 'text/event-stream' })],
    ['other variables', () => send({ query, variables: { other: 1 } })],
    ['another operation name', () => send({ query: `${query} query Other {chains{name}}`, operationName: 'Repeated' })],
    ['an id beside the text', () => send({ query, documentId: manifest.Prices.sha256 })],
    ['extensions that may mean something', () => send({ query, extensions: { x: 1 } })],
  ])('behavior: %s', async (_name, ask) => {
    await cache({ query });
    expect(await executes(() => send({ query }))).toBe(false);
    expect(await executes(ask)).toBe(true);
  });

  test('behavior: an answer whose sources have a new version', async () => {
    const body = { query: 'query Aging {strategies(first:1){nodes{freshness{borrow{ageSec}}}}}' };
    await cache(body);
    expect(await executes(() => send(body))).toBe(false);
    front.clock.advance(1_000);
    expect(await executes(() => send(body))).toBe(true);
  });
});

test('behavior: with persisted operations only, ids are answered from the cache and texts are refused', async () => {
  const strict = await startTestGateway({ env: { ...UNLIMITED, PERSISTED_ONLY_FOR_ANONYMOUS: 'true' }, faults });
  try {
    const { sha256: documentId, document } = manifest.Prices;
    const variables = { chainId: 1 };
    for (let pass = 0; pass < 2; pass += 1) await send({ documentId, variables }, {}, strict);
    expect(await executes(() => send({ documentId, variables }, {}, strict))).toBe(false);
    const refused = await send({ query: document }, {}, strict);
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([400, 'bad_request']);
  } finally {
    await strict.stop();
  }
});
