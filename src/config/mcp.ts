import { z } from 'zod';
import { ConfigError } from './config-error.ts';

/** Settings of the program that connects a client by stdio to a running service. */
export interface McpSettings {
  /** Address of the endpoint. */
  readonly endpoint: URL;
  readonly apiKey: string | undefined;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const schema = z.object({
  MCP_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
    .default('http://127.0.0.1:8787')
    .describe('Address of the service.'),
  MCP_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'expected a key without spaces')
    .optional()
    .describe('API key, for positions, previews and builds.'),
});

/**
 * Parse the settings. Empty strings count as not set.
 * @throws ConfigError
 */
export function mcpSettings(raw: Readonly<Record<string, string | undefined>>): McpSettings {
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== ''));
  const result = schema.safeParse(given);
  const [issue] = result.error?.issues ?? [];
  if (!result.success) throw new ConfigError(`${String(issue?.path[0])}: ${issue?.message}.`);
  const { MCP_URL: url, MCP_API_KEY: apiKey } = result.data;
  const { protocol, hostname, pathname } = new URL(url);
  if (apiKey !== undefined && protocol === 'http:' && !LOOPBACK.test(hostname)) {
    throw new ConfigError('MCP_URL has no TLS, and MCP_API_KEY would be readable on the way. Use an https address.');
  }
  const endpoint = new URL(url);
  endpoint.pathname = `${pathname.replace(/\/$/, '').replace(/\/mcp$/, '')}/mcp`;
  return { endpoint, apiKey };
}
