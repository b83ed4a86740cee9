import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { mcpSettings } from '../../src/config/mcp.ts';
import { createRelay } from '../../src/mcp/stdio/relay.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { failureOf } from './client.ts';

const run = promisify(execFile);
const INSPECTOR = 'node_modules/@modelcontextprotocol/inspector-cli/build/index.js';
/** Beside the packages, so that it finds those that it imports. */
const PROGRAM = join('node_modules/.cache/spiral-gateway', `mcp-${process.pid}.mjs`);
const STRATEGY = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const KEY = PARTNER_KEY.authorization.replace('Bearer ', '');

let front: Front;
beforeAll(async () => {
  [front] = await Promise.all([
    startTestGateway({ env: UNLIMITED }),
    build({
      entryPoints: ['scripts/mcp.ts'],
      outfile: PROGRAM,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
    }),
  ]);
});
afterAll(() => front?.stop());

describe('the program on stdio', () => {
  test('default: the client of the SDK lists and calls tools and reads resources', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM],
      stderr: 'pipe',
      env: { MCP_URL: front.url, MCP_API_KEY: KEY },
    });
    let lines = '';
    transport.stderr?.on('data', (chunk: Buffer) => {
      lines += chunk.toString();
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('build_open');
    const read = await client.callTool({ name: 'get_strategy', arguments: { id: STRATEGY } });
    expect(read.structuredContent).toMatchObject({ id: STRATEGY });
    const wallet = `0x${'9'.repeat(40)}`;
    const positions = await client.callTool({ name: 'list_positions', arguments: { address: wallet } });
    expect(positions.structuredContent).toMatchObject({ positions: [] });
    const { contents } = await client.readResource({ uri: 'spiral://errors' });
    expect(contents).toHaveLength(1);
    await client.close();
    expect(lines).toContain(`${front.url}/mcp`);
    expect(lines).not.toContain(KEY);
  });

  test('error: a wrong setting ends the program with its name', async () => {
    const failed = run(process.execPath, [PROGRAM], { env: { MCP_URL: 'ftp://x' } });
    await expect(failed).rejects.toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('MCP_URL') });
  });
});

describe('the inspector', () => {
  const inspect = async (target: readonly string[], args: readonly string[], env: Record<string, string> = {}) => {
    const { stdout } = await run(process.execPath, [INSPECTOR, ...target, '--method', ...args], { env });
    return JSON.parse(stdout);
  };

  test('default: it lists the tools over HTTP', async () => {
    const { tools } = await inspect([`${front.url}/mcp`], ['tools/list']);
    expect(tools.length).toBeGreaterThan(15);
  });

  test('default: it calls tools over HTTP and over stdio', async () => {
    const callOf = (id: string) => ['tools/call', '--tool-name', 'get_strategy', '--tool-arg', `id=${id}`];
    const [found, refused] = await Promise.all([
      inspect([`${front.url}/mcp`], callOf(STRATEGY)),
      inspect([process.execPath, PROGRAM], callOf('x'), { MCP_URL: front.url }),
    ]);
    expect(found.structuredContent.id).toBe(STRATEGY);
    expect(failureOf(refused)).toMatchObject({ code: 'bad_request', details: { field: 'id' } });
  });
});

describe(createRelay, () => {
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'get_tvl' } } as const;
  const list = { jsonrpc: '2.0', id: 8, method: 'tools/list' } as const;

  /** Relay messages to a service that answers like this. */
  async function relayed(messages: readonly JSONRPCMessage[], fetch: typeof globalThis.fetch) {
    const sent: JSONRPCMessage[] = [];
    const lines: string[] = [];
    const relay = createRelay({
      endpoint: new URL('https://gateway.example/mcp'),
      apiKey: 'key',
      fetch,
      send: async (message) => void sent.push(message),
      log: (line) => lines.push(line),
    });
    await Promise.all(messages.map(relay.take));
    return { sent, lines };
  }

  test('error: a service that is away is an error of the tool, and of the protocol for other messages', async () => {
    const { sent, lines } = await relayed([call, list], async () => {
      throw new TypeError('fetch failed');
    });
    const [called, listed] = sent as unknown as [
      { id: number; result: unknown },
      { id: number; error: { message: string } },
    ];
    expect(called.id).toBe(7);
    expect(failureOf(called.result)).toMatchObject({ code: 'upstream_unavailable', retryable: true });
    expect([listed.id, listed.error.message]).toEqual([8, expect.stringContaining('MCP_URL')]);
    expect(lines).toHaveLength(2);
  });

  test.each([
    ['a page of a proxy', 502, '<html>', {}, { code: 'upstream_unavailable' }],
    ['a list', 200, '[]', {}, { code: 'upstream_unavailable' }],
    [
      'the refusal of a flood',
      429,
      JSON.stringify({ error: { code: 'rate_limited', message: 'Too many.' } }),
      { 'retry-after': '9' },
      { code: 'rate_limited', message: 'Too many.', retryAfterSec: 9 },
    ],
    [
      'a refused key',
      401,
      JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_000, message: 'No.', data: { code: 'unauthorized' } },
      }),
      {},
      { code: 'unauthorized', message: 'No.' },
    ],
  ])('error: %s', async (_name, status, body, headers, expected) => {
    const { sent } = await relayed([call], async () => new Response(body, { status, headers }));
    expect(failureOf((sent[0] as { result: unknown }).result)).toMatchObject(expected);
  });

  test('behavior: an error of the protocol is relayed as it is, with the id of the request', async () => {
    const error = { code: -32_002, message: 'No resource.', data: { uri: 'x' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
    const { sent } = await relayed([list], async () => new Response(body));
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 8, error }]);
  });

  test('behavior: a cancelled request ends at the service and has no answer', async () => {
    let ended = false;
    const { sent } = await relayed(
      [call, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }],
      (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => {
            ended = true;
            reject(new Error('aborted'));
          });
        }),
    );
    expect([ended, sent]).toEqual([true, []]);
  });

  test('behavior: the key and the agreed version are sent, and redirects are not followed', async () => {
    const inits: RequestInit[] = [];
    const answers = [{ protocolVersion: '2025-06-18' }, {}];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      if (init) inits.push(init);
      return new Response(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers[inits.length - 1] }));
    };
    const sent: JSONRPCMessage[] = [];
    const endpoint = new URL('https://gateway.example/mcp');
    const send = async (message: JSONRPCMessage) => void sent.push(message);
    const relay = createRelay({ endpoint, apiKey: 'key', fetch, send, log: () => {} });
    await relay.take({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    await relay.take(list);
    expect(inits[1]).toMatchObject({
      redirect: 'error',
      headers: { authorization: 'Bearer key', 'mcp-protocol-version': '2025-06-18' },
    });
    expect(sent).toHaveLength(2);
  });
});

describe(mcpSettings, () => {
  test.each([
    [undefined, 'http://127.0.0.1:8787/mcp'],
    ['https://gateway.example', 'https://gateway.example/mcp'],
    ['https://gateway.example/prefix/', 'https://gateway.example/prefix/mcp'],
    ['https://gateway.example/mcp', 'https://gateway.example/mcp'],
  ])('default: %s is the endpoint %s', (url, expected) => {
    expect(mcpSettings({ MCP_URL: url }).endpoint.href).toBe(expected);
  });

  test('behavior: a key is sent without TLS to this machine only', () => {
    expect(mcpSettings({ MCP_URL: 'http://localhost:1', MCP_API_KEY: 'k' }).apiKey).toBe('k');
    expect(mcpSettings({ MCP_URL: 'http://gateway.example', MCP_API_KEY: '' }).apiKey).toBeUndefined();
    expect(() => mcpSettings({ MCP_URL: 'http://gateway.example', MCP_API_KEY: 'k' })).toThrow(ConfigError);
    expect(() => mcpSettings({ MCP_URL: 'gateway' })).toThrow(ConfigError);
    expect(() => mcpSettings({ MCP_API_KEY: 'a b' })).toThrow(ConfigError);
  });
});
