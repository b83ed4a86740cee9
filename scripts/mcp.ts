import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ConfigError } from '../src/config/config-error.ts';
import { mcpSettings } from '../src/config/mcp.ts';
import { createRelay } from '../src/mcp/stdio/relay.ts';

/** Lines for people: stdout has messages only. */
const log = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

try {
  const { endpoint, apiKey } = mcpSettings(process.env);
  const transport = new StdioServerTransport();
  const relay = createRelay({ endpoint, apiKey, fetch, send: (message) => transport.send(message), log });
  transport.onmessage = (message) => void relay.take(message);
  transport.onerror = (error) => log(`A line is not a message: ${error.name}`);
  // The client has left.
  process.stdout.on('error', () => process.exit(0));
  await transport.start();
  log(`Tools of ${endpoint.href}, ${apiKey === undefined ? 'without a key: reads only' : 'with a key'}.`);
} catch (error) {
  log(error instanceof ConfigError ? error.message : String(error));
  process.exitCode = 1;
}
