import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { failureOf } from './client.ts';

const run = promisify(execFile);
const INSPECTOR = 'node_modules/@modelcontextprotocol/inspector-cli/build/index.js';
const RELAY = 'node_modules/mcp-remote/dist/proxy.js';
const STRATEGY = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

let front: Front;
let folder: string;
beforeAll(async () => {
  [front, folder] = await Promise.all([startTestGateway({ env: UNLIMITED }), mkdtemp(join(tmpdir(), 'mcp-'))]);
});
afterAll(async () => {
  await front?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the relay on stdio that the guide names', () => {
  test('default: a client that starts programs lists and calls tools and reads resources', async () => {
    const file = join(folder, 'headers');
    await writeFile(file, `Authorization: ${PARTNER_KEY.authorization}\n`);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [RELAY, `${front.url}/mcp`, '--header-file', file],
      stderr: 'pipe',
      env: { MCP_REMOTE_CONFIG_DIR: folder },
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
    const refused = await client.callTool({ name: 'get_strategy', arguments: { id: 'x' } });
    expect(failureOf(refused)).toMatchObject({ code: 'bad_request', details: { field: 'id' } });
    const { contents } = await client.readResource({ uri: 'spiral://errors' });
    expect(contents).toHaveLength(1);
    await client.close();
    expect(lines).not.toContain(PARTNER_KEY.authorization.replace('Bearer ', ''));
  });
});

describe('the inspector', () => {
  const inspect = async (...args: readonly string[]) => {
    const { stdout } = await run(process.execPath, [INSPECTOR, `${front.url}/mcp`, '--method', ...args], { env: {} });
    return JSON.parse(stdout);
  };

  test('default: it lists the tools', async () => {
    const { tools } = await inspect('tools/list');
    expect(tools.length).toBeGreaterThan(15);
  });

  test('default: it calls tools', async () => {
    const callOf = (id: string) => inspect('tools/call', '--tool-name', 'get_strategy', '--tool-arg', `id=${id}`);
    const [found, refused] = await Promise.all([callOf(STRATEGY), callOf('x')]);
    expect(found.structuredContent.id).toBe(STRATEGY);
    expect(failureOf(refused)).toMatchObject({ code: 'bad_request', details: { field: 'id' } });
  });
});
