import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAIN_IDS } from '../e2e/known.ts';
import { sendRequest } from '../support/http-client.ts';
import type { DocumentedOperation } from '../support/openapi.ts';
import { startRpcProxy } from '../support/process/rpc-proxy.ts';
import { type Answer, type Json, noSleep, startService, type TestService } from '../support/service.ts';
import { frozen } from './canonical.ts';
import { type FrozenRequest, operations, positiveRequests, refusedRequests, violation } from './requests.ts';

/*
 * Every answer of /v1 in every state of the sources, compared with the files in `answers/`. A changed file is a change of the
 * interface, to be read and decided. `npx vitest run test/frozen -u` writes them.
 */

type Recorded = Record<string, Record<string, Json>>;

interface Row {
  readonly operation: DocumentedOperation;
  readonly answers: Recorded;
  readonly violations: string[];
}

const rows = operations.map((operation): Row => ({ operation, answers: {}, violations: [] }));
const DAY_MS = 86_400_000;
const isRead = ({ operation: { method } }: Row) => method === 'GET';
/** Requests that change nothing: plans and previews are computed, alerts are stored. */
const isRepeatable = (row: Row) => isRead(row) || !row.operation.path.startsWith('/v1/partner/alerts');

let service: TestService | undefined;
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  await service?.stop();
  for (const end of ends) await end();
});

async function record(state: string, of: (row: Row) => readonly FrozenRequest[], which = rows): Promise<void> {
  if (service === undefined) throw new Error('no service');
  const { url } = service;
  for (const row of which) {
    const answers: Record<string, Json> = {};
    for (const request of of(row)) {
      const answer: Answer = await sendRequest(`${url}${request.url}`, request.init);
      const found = violation(row.operation, answer);
      if (found !== null) row.violations.push(`${state}, ${request.name}: ${found}`);
      answers[request.name] = known(row.answers, frozen(answer)) ?? frozen(answer);
    }
    row.answers[state] = answers;
  }
}

/** The place of an equal answer that was recorded before, so that a file says each answer once. */
function known(recorded: Recorded, answer: Json): string | undefined {
  const text = JSON.stringify(answer);
  for (const [state, answers] of Object.entries(recorded)) {
    for (const [name, other] of Object.entries(answers)) {
      if (JSON.stringify(other) === text) return `as ${state}: ${name}`;
    }
  }
  return undefined;
}

const positive = ({ operation }: Row) => positiveRequests(operation);
const refused = ({ operation }: Row) => refusedRequests(operation);

beforeAll(async () => {
  // Cold: no node and no provider has ever answered.
  service = await startService({
    warm: false,
    sleep: noSleep,
    arrange: async (world) => {
      world.upstreams.faults.set('all', { kind: 'status', status: 503 });
      const proxies = await Promise.all(CHAIN_IDS.map((chainId) => startRpcProxy(world.chains.on(chainId).rpcUrl)));
      for (const proxy of proxies) {
        proxy.set({ kind: 'status', status: 503 });
        ends.push(proxy.stop);
      }
      const [first, second] = proxies.map(({ url }) => url);
      return { RPC_URL_1: first ?? '', RPC_URL_4663: second ?? '' };
    },
  });
  await service.app.warmed;
  await record('cold', positive, rows.filter(isRead));
  await service.stop();

  service = await startService({ sleep: noSleep });
  await record('warm', positive);
  await record('refused', refused);

  service.world.upstreams.faults.set('all', { kind: 'status', status: 503 });
  service.clock.advance(60_000);
  await service.refresh(...new Set(service.app.warmers.jobs().held.map((name) => name.split(':')[0] as string)));
  await record('providers failed', positive, rows.filter(isRepeatable));

  service.world.upstreams.faults.clear();
  service.clock.advance(2 * DAY_MS);
  await record('stale', positive, rows.filter(isRepeatable));
});

describe('answers', () => {
  test.each(rows.map((row) => [`${row.operation.method} ${row.operation.path}`, row] as const))(
    '%s answers as before, and as its document says',
    async (title, { answers, violations }) => {
      expect(violations).toEqual([]);
      const file = title
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/-$/, '');
      await expect(`${JSON.stringify(answers, null, 1)}\n`).toMatchFileSnapshot(`answers/${file}.json`);
    },
  );
});
