import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Call, type LoadStats, startLoad } from '../../bench/reliability/load.ts';
import { type Collection, collectionsIn, type Sample } from '../../bench/reliability/memory.ts';
import { judge, type Run, reportOf } from '../../bench/reliability/verdict.ts';

const STATS: LoadStats = {
  requests: 1_000,
  statuses: { 200: 990, 404: 10 },
  failures: {},
  answers: { 'list 200': 990, 'unknown id 404 not_found': 10 },
  wrong: {},
  leftOut: 0,
  p50Ms: 1,
  p99Ms: 2,
  maxMs: 3,
};
/** Samples of half an hour that grow by so many MB a minute, in their first half or in their second. */
function runOf({
  first = 0,
  second = 0,
  stats = STATS,
}: {
  first?: number;
  second?: number;
  stats?: LoadStats;
} = {}): Run {
  const minutes = 30;
  const grown = (atMin: number) => Math.min(atMin, 15) * first + Math.max(0, atMin - 15) * second;
  const samples = Array.from({ length: 31 }, (_, atMin): Sample => {
    const rssMb = 200 + grown(atMin);
    return { atMin, rssMb, heapMb: 100, heapTotalMb: 120, externalMb: 10, cacheMb: 12 };
  });
  const collections = samples.map(({ atMin }): Collection => ({ atMin, heapMb: 80 + grown(atMin) }));
  return {
    minutes,
    warmMinutes: 15,
    perSecond: 100,
    heapLimitMb: 320,
    samples,
    warmUp: [STATS],
    measured: [stats],
    collections,
  };
}

describe('judge', () => {
  test('default: flat memory and expected answers pass; the warm-up does not count as growth', () => {
    expect(judge(runOf()).faults).toEqual([]);
    expect(judge(runOf({ first: 5 })).faults).toEqual([]);
    expect(reportOf(runOf(), judge(runOf()))).toContain('| unknown id | 404 not_found: 20 |');
  });

  test('behavior: memory growth after the warm-up fails, slow or fast', () => {
    expect(judge(runOf({ second: 2 })).faults).toHaveLength(2);
    const [fault, ...others] = judge(runOf({ second: 0.5 })).faults;
    expect(fault).toContain('full collections');
    expect(others).toEqual([]);
  });

  test('behavior: a run without samples fails', () => {
    expect(judge({ ...runOf(), collections: [] }).faults).toHaveLength(1);
    expect(judge({ ...runOf(), samples: [] }).faults).toHaveLength(1);
  });

  test('behavior: an unexpected answer fails, and so does missing load', () => {
    expect(judge(runOf({ stats: { ...STATS, wrong: { 'list 500 internal': 1 } } })).faults).toHaveLength(1);
    expect(judge(runOf({ stats: { ...STATS, leftOut: 100 } })).faults).toHaveLength(1);
  });
});

describe('startLoad', () => {
  const envelope = (code: string) => JSON.stringify({ error: { code, message: 'Say why.' } });
  const paths: Readonly<Record<string, (response: ServerResponse) => void>> = {
    '/ok': (response) => response.end('{}'),
    '/unknown': (response) => response.writeHead(404).end(envelope('not_found')),
    '/busy': (response) => response.writeHead(503, { 'retry-after': '7' }).end(envelope('upstream_unavailable')),
    '/rude': (response) => response.writeHead(503).end(envelope('upstream_unavailable')),
    '/page': (response) => response.writeHead(502).end('<html>'),
    '/graphql': (response) =>
      response.writeHead(400).end('{"errors":[{"message":"Say why.","extensions":{"code":"bad_request"}}]}'),
    '/gone': (response) => response.destroy(),
  };
  const answers = async (path: string, expects?: readonly string[]): Promise<LoadStats> => {
    const server = createServer((request: IncomingMessage, response) => paths[request.url ?? '']?.(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    const call: Call = { name: 'call', method: 'GET', path, expects };
    let sent = 0;
    const load = startLoad({
      targets: () => (sent < 1 ? [`http://127.0.0.1:${port}`] : []),
      perSecond: 1_000,
      maxOpen: 1,
      next: () => {
        sent += 1;
        resolve();
        return call;
      },
    });
    await promise;
    const stats = await load.stop();
    server.close();
    return stats;
  };

  test.each([
    ['/ok', undefined],
    ['/unknown', ['404 not_found']],
    ['/busy', ['200', '503 upstream_unavailable']],
    ['/graphql', ['400 bad_request']],
  ])('default: %s is an expected answer or a refusal', async (path, expects) => {
    const stats = await answers(path, expects);
    expect([stats.requests, stats.wrong]).toEqual([1, {}]);
  });

  test.each([
    ['/unknown', undefined, 'call 404 not_found'],
    ['/rude', ['503 upstream_unavailable'], 'call 503 upstream_unavailable: no Retry-After'],
    ['/page', ['502'], 'call 502: no code and message'],
    ['/gone', undefined, 'call lost'],
  ])('behavior: %s is unexpected', async (path, expects, wrong) => {
    expect(Object.keys((await answers(path, expects)).wrong)).toEqual([wrong]);
  });
});

describe('collectionsIn', () => {
  test('default: heap after full collections, by minute', () => {
    const log = ['{"msg":"listening"}', '{"msg":"collected","time":61000,"heapUsed":1048576}', 'no json'];
    expect(collectionsIn(log, 1_000)).toEqual([{ atMin: 1, heapMb: 1 }]);
  });
});
