import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderEntry } from '../../src/domain/portfolio/render.ts';
import type { PortfolioEntry } from '../../src/domain/portfolio/types.ts';
import type { OpsPort } from '../../src/resolvers/ops/ops-services.ts';
import { MANY, portfoliosOf, reportWith } from '../support/portfolios.ts';
import { type Front, OPS_KEY, startTestGateway } from './test-gateway.ts';

const PATH = '/v1/ops/portfolios?chainId=1';

let front: Front;
let current: Pick<OpsPort, 'report'>;
beforeAll(async () => {
  front = await startTestGateway({ services: { ops: { report: (chainId) => current.report(chainId) } as OpsPort } });
});
afterAll(() => front.stop());

/** Serve these reports from now on. */
const serving = (ops: Pick<OpsPort, 'report'>): Front => {
  current = ops;
  return front;
};
/** The body as it is without pages. */
const wholeOf = async (ops: Pick<OpsPort, 'report'>): Promise<string> => {
  const { report } = await ops.report(1);
  return JSON.stringify({
    chainId: 1,
    asOf: new Date(report.asOfMs).toISOString(),
    stale: false,
    degraded: false,
    computedAt: new Date(report.computedAtMs).toISOString(),
    counts: report.counts,
    users: report.entries.map(renderEntry),
  });
};

describe('GET /v1/ops/portfolios', () => {
  test.each([0, 1, 20, 21, 101])('default: %i wallets give the same bytes as a single body', async (wallets) => {
    const ops = portfoliosOf(wallets);
    const { send } = serving(ops);
    const { status, text, headers } = await send(PATH, { headers: { ...OPS_KEY, 'accept-encoding': 'identity' } });
    expect([status, text]).toEqual([200, await wholeOf(ops)]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('ratelimit')).toBeTruthy();
    expect(headers.get('x-correlation-id')).toBeTruthy();
  });

  test.each(['gzip', 'br'])('behavior: %s is the same text', async (encoding) => {
    const ops = portfoliosOf(101);
    const { send } = serving(ops);
    const { text, headers } = await send(PATH, { headers: { ...OPS_KEY, 'accept-encoding': encoding } });
    expect(headers.get('content-encoding')).toBe(encoding);
    expect(headers.get('vary')).toContain('accept-encoding');
    expect(text).toBe(await wholeOf(ops));
  });

  test('behavior: HEAD has the headers of GET and no body; errors before the first byte have the envelope', async () => {
    const rendered: number[] = [];
    const { send } = serving(reportWith(100, (n) => rendered.push(n)));
    const head = await send(PATH, { method: 'HEAD', headers: OPS_KEY });
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      200,
      '',
      'application/json; charset=utf-8',
    ]);
    expect(rendered.length).toBeLessThanOrEqual(20);
    expect((await send(PATH)).body.error.code).toBe('unauthorized');
    expect((await send('/v1/ops/portfolios?chainId=5', { headers: OPS_KEY })).body.error.code).toBe('bad_request');
  });

  test('behavior: Range is ignored: the whole answer with 200', async () => {
    const ops = portfoliosOf(101);
    const { send } = serving(ops);
    for (const range of ['bytes=0-9', 'bytes=-5', 'bytes=999999999-']) {
      const { status, text, headers } = await send(PATH, { headers: { ...OPS_KEY, range } });
      expect([status, text, headers.get('content-range')]).toEqual([200, await wholeOf(ops), null]);
    }
  });

  test('behavior: all pages come from one report and count as one call of the field', async () => {
    const [first, second] = [reportWith(MANY), reportWith(3)];
    let calls = 0;
    const report: OpsPort['report'] = (chainId) => {
      calls += 1;
      return (calls === 1 ? first : second).report(chainId);
    };
    const { send } = serving({ report });
    const { body } = await send(PATH, { headers: OPS_KEY });
    expect([calls, body.users.length, body.counts.users]).toEqual([1, MANY, MANY]);
    expect((await send(PATH, { headers: OPS_KEY })).body.users).toHaveLength(3);
  });

  test.each(['identity', 'gzip', 'br'])(
    'error: a wallet that fails in the middle of %s closes the connection',
    async (encoding) => {
      const fail = (n: number) => {
        if (n === 50) throw new Error('rendering failed at 10.0.0.7');
      };
      const { url, logs, brokenAnswers, send } = serving(reportWith(100, fail));
      const before = brokenAnswers.length;
      const response = await fetch(`${url}${PATH}`, { headers: { ...OPS_KEY, 'accept-encoding': encoding } });
      expect(response.status).toBe(200);
      await expect(response.text()).rejects.toThrow();
      const lines = logs.take();
      expect(lines.filter((line) => line.includes('answer broke off'))).toHaveLength(1);
      expect(brokenAnswers.slice(before)).toEqual(['/v1/ops/portfolios']);
      expect((await send('/v1/prices')).status).toBe(200);
    },
  );

  test('error: sends no further page after five minutes', async () => {
    const stop = (n: number) => {
      if (n === 45) front.clock.advance(300_001);
    };
    const { url, logs } = serving(reportWith(100, stop));
    const response = await fetch(`${url}${PATH}`, { headers: OPS_KEY });
    await expect(response.text()).rejects.toThrow();
    expect(logs.take().join()).toContain('SlowStreamError');
  });

  test('behavior: pauses the work when the caller stops reading, and ends it when the caller leaves', async () => {
    let rendered = 0;
    const { url, logs, brokenAnswers, send } = serving(
      reportWith(MANY, () => {
        rendered += 1;
      }),
    );
    const broken = brokenAnswers.length;
    await new Promise<void>((resolve, reject) => {
      const request = get(`${url}${PATH}`, { headers: OPS_KEY }, (response) => {
        response.once('data', () => {
          response.pause();
          response.once('close', resolve);
          response.destroy();
        });
      });
      request.once('error', reject);
    });
    for (let i = 0; i < 5; i += 1) expect((await send('/v1/prices')).status).toBe(200);
    const after = rendered;
    expect(after).toBeLessThan(MANY / 2);
    for (let i = 0; i < 5; i += 1) await send('/v1/prices');
    expect([rendered, brokenAnswers.length]).toEqual([after, broken]);
    expect(logs.take().join()).not.toContain('broke off');
  });
});

describe('ops { reports { items { documents } } }', () => {
  const QUERY = `query ($first: Int!, $after: String) { ops { reports(chainIds: [1]) { items { documents(first: $first, after: $after) {
    totalCount nodes edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } } } } }`;

  test('behavior: the pages together equal the list; the cursor is valid in another report', async () => {
    const { graphql } = serving(reportWith(45));
    const nodes: { address: string }[] = [];
    let after: string | null = null;
    for (const expected of [20, 20, 5]) {
      const { body } = await graphql(QUERY, { variables: { first: 20, after }, headers: OPS_KEY });
      const { documents: users } = body.data.ops.reports.items[0];
      expect([users.nodes.length, users.totalCount]).toEqual([expected, 45]);
      expect(users.pageInfo.hasPreviousPage).toBe(nodes.length > 0);
      nodes.push(...users.nodes);
      after = users.pageInfo.hasNextPage ? users.pageInfo.endCursor : null;
    }
    expect(after).toBeNull();
    const { entries } = (await reportWith(45).report(1)).report as { entries: readonly PortfolioEntry[] };
    expect(nodes.map(({ address }) => address)).toEqual(entries.map(({ wallet }) => wallet));
  });

  test('error: BadRequest for an invalid cursor and for a page beyond the limit', async () => {
    const { graphql } = serving(reportWith(3));
    for (const variables of [{ first: 20, after: 'abc' }, { first: 501 }, { first: 0 }]) {
      const { body } = await graphql(QUERY, { variables, headers: OPS_KEY });
      expect(body.errors[0].extensions.code).toBe('bad_request');
    }
  });
});
