import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { captureLogs } from '../support/log-capture.ts';
import { type Json, PARTNER, startService, type TestService } from '../support/service.ts';
import { connect } from './client.ts';

const HOLDER = seededWallet('looper').account.address;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const logs = captureLogs();
let service: TestService;
beforeAll(async () => {
  // No wait ends by itself, and a client has one at a time.
  service = await startService({
    logger: logs.logger,
    env: { READ_WAIT_SEC: '30', MAX_WAITS_PER_CLIENT: '1', METRICS_PORT: '0' },
  });
});
afterAll(() => service?.stop());

const send = (message: object, headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
  fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: { ...HEADERS, ...PARTNER, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    signal,
  });
const initialize = async (): Promise<string> => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const answer = await send({ id: 'init', method: 'initialize', params });
  return answer.headers.get('mcp-session-id') ?? '';
};
/** A call that waits for a block which does not come. */
const waitingArgs = async () => ({
  address: HOLDER,
  chainId: 1,
  minBlock: String((await service.world.chains.on(1).client.getBlockNumber()) + 5n),
});
const waitingCall = async (id: number | string) => ({
  id,
  method: 'tools/call',
  params: { name: 'list_positions', arguments: await waitingArgs() },
});
const cancel = (requestId: unknown, headers: Record<string, string>) =>
  send({ method: 'notifications/cancelled', params: { requestId, reason: 'not needed' } }, headers);
const waits = async (): Promise<number> => {
  const text = await (await fetch(`${service.app.metricsUrl}/metrics`)).text();
  return Number(/^spiral_block_waits (\d+)$/m.exec(text)?.[1]);
};
const areWaiting = (count: number) => expect.poll(waits).toBe(count);

describe('a cancelled call', () => {
  test('default: ends its work, and has no answer', async () => {
    const session = { 'mcp-session-id': await initialize() };
    const call = send(await waitingCall(7), session);
    await areWaiting(1);
    const cancelled = await cancel(7, session);
    expect([cancelled.status, await cancelled.text()]).toEqual([202, '']);
    const answer = await call;
    expect([answer.status, await answer.text()]).toEqual([202, '']);
    await areWaiting(0);
    // That is no failure of the service.
    expect(logs.take().filter((line) => line.includes('request failed'))).toEqual([]);
    // The same id may be used again.
    const again = await send({ id: 7, method: 'ping' }, session);
    expect(((await again.json()) as Json).id).toBe(7);
  });

  test('default: the client of the SDK cancels by its signal', async () => {
    const client = await connect(service.url, PARTNER);
    const leaving = new AbortController();
    const call = client.callTool(
      { name: 'list_positions', arguments: await waitingArgs() },
      { signal: leaving.signal },
    );
    await areWaiting(1);
    leaving.abort('the user has left');
    await expect(call).rejects.toThrow();
    await areWaiting(0);
    expect((await client.callTool({ name: 'get_tvl', arguments: {} })).isError).toBeUndefined();
    await client.close();
  });

  test('behavior: a notification of another session, key or id, or of another type of id, ends nothing', async () => {
    const session = { 'mcp-session-id': await initialize() };
    const leaving = new AbortController();
    const call = send(await waitingCall(7), session, leaving.signal).catch(() => null);
    await areWaiting(1);
    const other = { 'mcp-session-id': await initialize() };
    for (const [requestId, headers] of [
      [7, other],
      [7, {}],
      [7, { ...session, authorization: 'Bearer local-ops' }],
      [8, session],
      ['7', session],
      [null, session],
      [{ id: 7 }, session],
      [undefined, session],
    ] as const) {
      expect((await cancel(requestId, headers)).status).toBeLessThan(500);
      expect(await waits()).toBe(1);
    }
    leaving.abort();
    expect(await call).toBeNull();
    await areWaiting(0);
  });

  test('behavior: a client that disconnects ends its work too, as on REST', async () => {
    const leaving = new AbortController();
    const call = send(await waitingCall(1), {}, leaving.signal).catch(() => null);
    await areWaiting(1);
    logs.take();
    leaving.abort();
    expect(await call).toBeNull();
    await areWaiting(0);
    expect(logs.take().filter((line) => line.includes('request failed'))).toEqual([]);
  });

  test('behavior: a call without a session is not cancelled, because its id is not unique', async () => {
    const leaving = new AbortController();
    const call = send(await waitingCall(1), {}, leaving.signal).catch(() => null);
    await areWaiting(1);
    expect((await cancel(1, {})).status).toBe(202);
    expect(await waits()).toBe(1);
    leaving.abort();
    await call;
    await areWaiting(0);
  });
});

describe('sessions', () => {
  test('default: each has an id of its own, and every process takes any id or none', async () => {
    const ids = [await initialize(), await initialize()];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    for (const headers of [{}, { 'mcp-session-id': ids[0] ?? '' }, { 'mcp-session-id': 'of-another-process' }])
      expect((await send({ id: 1, method: 'ping' }, headers)).status).toBe(200);
  });
});
