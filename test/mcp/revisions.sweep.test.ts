import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { failureOf } from './client.ts';

const STRATEGY = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const HANDSHAKES = ['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const STATELESS = '2026-07-28';

/** What the tests ask of a client of any SDK. */
type AnyClient = Pick<Client, 'listTools' | 'callTool' | 'listResources' | 'readResource' | 'close'>;

let front: Front;
/** The version and the methods of the requests that the client under test has sent. */
let sent: { version: string | null; method: string | null; session: string | null; body: string }[] = [];
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front?.stop());

const recorded: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  sent.push({
    version: headers.get('mcp-protocol-version'),
    method: headers.get('mcp-method'),
    session: headers.get('mcp-session-id'),
    body: String(init?.body ?? ''),
  });
  return fetch(input, init);
};
const options = () => ({ fetch: recorded, requestInit: { headers: PARTNER_KEY } });
const address = () => new URL('/mcp', front.url);

async function handshake(version: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { supportedProtocolVersions: [version] });
  await client.connect(new StreamableHTTPClientTransport(address(), options()));
  return client;
}

async function stateless(mode: 'auto' | { pin: string }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(address(), options()));
  return client;
}

async function former(): Promise<AnyClient> {
  const client = new FormerClient({ name: 'test', version: '1' });
  // The optional handlers of the two types differ in `undefined` only.
  await client.connect(new FormerTransport(address(), options()) as Parameters<typeof client.connect>[0]);
  return client as unknown as AnyClient;
}

/** Everything that a client does: list, call, fail, read. */
async function exercise(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('build_open');
  const read = await client.callTool({ name: 'get_strategy', arguments: { id: STRATEGY } });
  expect(read.structuredContent).toMatchObject({ id: STRATEGY });
  const keyed = await client.callTool({ name: 'list_positions', arguments: { address: `0x${'9'.repeat(40)}` } });
  expect(keyed.structuredContent).toMatchObject({ positions: [] });
  const refused = await client.callTool({ name: 'get_strategy', arguments: { id: 'x' } });
  expect(failureOf(refused)).toMatchObject({ code: 'bad_request', details: { field: 'id' } });
  const { resources } = await client.listResources();
  expect(resources.length).toBeGreaterThan(5);
  const { contents } = await client.readResource({ uri: 'spiral://errors' });
  expect(contents).toHaveLength(1);
  await expect(client.readResource({ uri: 'spiral://none' })).rejects.toThrow('No resource has the URI');
  await client.close();
}

describe.each(HANDSHAKES)('a client of version %s', (version) => {
  test('default: agrees on it by a handshake, and has everything', async () => {
    sent = [];
    const client = await handshake(version);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    await exercise(client);
    expect(new Set(sent.slice(1).map((request) => request.version))).toEqual(new Set([version]));
    expect(new Set(sent.slice(1).map((request) => request.session)).size).toBe(1);
  });
});

test('default: the SDK before the stateless version has everything', async () => {
  sent = [];
  await exercise(await former());
  expect(sent.at(-1)?.version).toBe('2025-11-25');
});

describe.each([
  ['pinned to', { pin: STATELESS }],
  ['that negotiates up to', 'auto' as const],
])(`a client %s version ${STATELESS}`, (_name, mode) => {
  test('default: discovers the server without a handshake, and has everything', async () => {
    sent = [];
    const client = await stateless(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(STATELESS);
    await exercise(client);
    expect(sent[0]).toMatchObject({ version: STATELESS, method: 'server/discover', session: null });
    expect(sent.filter(({ body }) => body.includes('"initialize"'))).toEqual([]);
    expect(new Set(sent.map((request) => request.version))).toEqual(new Set([STATELESS]));
  });
});

test('error: a client pinned to a later version is told which ones there are', async () => {
  await expect(stateless({ pin: '2099-01-01' })).rejects.toThrow();
});
