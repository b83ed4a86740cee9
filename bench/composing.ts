import { serviceFlags, startChild } from './child.ts';
import type { ComposeResult } from './servers/compose.ts';
import { say } from './table.ts';

/** Measure composition at several sizes, each in a process of its own, and print how cost grows with markets. */
export async function composing(sizes: readonly number[]): Promise<void> {
  say(
    '\n| markets | first composition | composition | publish to composed | longest event-loop delay, median and worst round | heap, facts included |',
  );
  say('|--:|--:|--:|--:|--:|--:|');
  const results: ComposeResult[] = [];
  for (const markets of sizes) {
    const child = await startChild('compose', { markets }, [
      '--expose-gc',
      '--max-old-space-size=4096',
      ...serviceFlags,
    ]);
    const result = child.report.result as ComposeResult;
    await child.stop();
    results.push(result);
    const ms = (value: number) => `${value.toFixed(1)} ms`;
    say(
      `| ${markets} | ${ms(result.firstMs)} | ${ms(result.atOnceMs)} | ${ms(result.refreshMs)} | ${ms(result.delayMs)}, ${ms(result.worstDelayMs)} ` +
        `| ${(result.heapBytes / 2 ** 20).toFixed(0)} MB |`,
    );
  }
  const [small, large] = [results[0], results.at(-1)];
  if (!small || !large || small === large) return;
  const more = large.markets - small.markets;
  const perMarketUs = ((large.atOnceMs - small.atOnceMs) * 1_000) / more;
  const perMarketKb = (large.heapBytes - small.heapBytes) / 1_024 / more;
  say(`\nslope: ${perMarketUs.toFixed(1)} µs and ${perMarketKb.toFixed(1)} kB per market`);
}
