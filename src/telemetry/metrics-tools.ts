import { Counter, type Registry } from 'prom-client';

export interface ToolMetrics {
  /** Count a call of a tool of /mcp. `outcome`: `ok` or the error code. */
  toolCall(tool: string, outcome: string): void;
}

/** Create the counter of calls of tools. */
export function toolMetrics(registers: Registry[]): ToolMetrics {
  const calls = new Counter({
    name: 'spiral_mcp_tool_calls_total',
    help: 'Calls of tools of the Model Context Protocol, by tool and error code.',
    labelNames: ['tool', 'outcome'],
    registers,
  });
  return { toolCall: (tool, outcome) => calls.inc({ tool, outcome }) };
}
