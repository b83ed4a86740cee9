import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import { createFaults } from '../http/faults.ts';
import { type Front, PARTNER_KEY, startFront, UNLIMITED } from '../http/front.ts';
import type { Answer } from '../support/service.ts';

const faults = createFaults();
let front: Front;
beforeAll(async () => {
  front = await startFront({ env: { ...UNLIMITED, RATE_LIMIT_ANONYMOUS: '100000' }, faults });
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
  const strict = await startFront({ env: { ...UNLIMITED, PERSISTED_ONLY_FOR_ANONYMOUS: 'true' }, faults });
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
