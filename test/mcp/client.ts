import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** The client of the SDK. It validates each structured answer with the schema that the server lists. */
export async function connect(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } });
  // The optional handlers of the two types differ in `undefined` only.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  await client.listTools();
  return client;
}

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
  readonly retryable: boolean;
  readonly retryAfterSec?: number;
  readonly correlationId: string;
  // biome-ignore lint/suspicious/noExplicitAny: each code has details of its own
  readonly details?: any;
}

/** The error of a failed call. */
export function failureOf(result: unknown): ToolFailure {
  const { isError, content, structuredContent } = result as CallToolResult;
  const [block] = content;
  if (isError !== true || block?.type !== 'text' || structuredContent !== undefined) {
    throw new Error(`not a failed call: ${JSON.stringify(result).slice(0, 300)}`);
  }
  return JSON.parse(block.text).error as ToolFailure;
}
