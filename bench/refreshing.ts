import { serviceFlags, startChild } from './child.ts';
import type { RefreshResult } from './servers/refresh.ts';
import { say } from './table.ts';

/** Measure the refresh of all lending states and oracles over JSON-RPC at several sizes, from request to composition. */
export async function refreshing(sizes: readonly number[]): Promise<void> {
  say(
    '\n| markets | refresh | CPU of the service | HTTP requests | longest event-loop delay, median and worst round |',
  );
  say('|--:|--:|--:|--:|--:|');
  const node = await startChild('node', {}, [], true);
  try {
    for (const markets of sizes) {
      const child = await startChild('refresh', { markets, rpcUrl: node.url }, [
        '--max-old-space-size=4096',
        ...serviceFlags,
      ]);
      const { wallMs, cpuMs, requests, delayMs, worstDelayMs } = child.report.result as RefreshResult;
      await child.stop();
      const ms = (value: number) => `${value.toFixed(1)} ms`;
      say(`| ${markets} | ${ms(wallMs)} | ${ms(cpuMs)} | ${requests} | ${ms(delayMs)}, ${ms(worstDelayMs)} |`);
    }
  } finally {
    await node.stop();
  }
}
