import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The client of the SDK, which begins with a handshake. It validates each structured answer with the schema that the server lists. */
export async function connect(
  url: string,
  headers: Record<string, string> = {},
  options: ClientOptions = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
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

/** A result of a tool, as the SDKs of all revisions return it. */
interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
}

/** The error of a failed call. */
export function failureOf(result: unknown): ToolFailure {
  const { isError, content, structuredContent } = result as ToolResult;
  const [block] = content;
  if (isError !== true || block?.text === undefined || structuredContent !== undefined) {
    throw new Error(`not a failed call: ${JSON.stringify(result).slice(0, 300)}`);
  }
  return JSON.parse(block.text).error as ToolFailure;
}
