import { loadavg } from 'node:os';
import { startTestGateway, UNLIMITED } from '../test/http/test-gateway.ts';
import { startChromium } from '../test/support/chromium.ts';
import { say } from './table.ts';

/*
 * The time from the navigation to `/docs` until its first operation is visible, with an empty cache: `npm run bench:docs`.
 */

const ROUNDS = 5;

const gateway = await startTestGateway({ env: UNLIMITED });
const browser = await startChromium();
const times: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  // A context of its own: nothing is cached.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const startedMs = performance.now();
  await page.goto(`${gateway.url}/docs`, { waitUntil: 'commit' });
  await page.getByText('List the strategies of a chain').first().waitFor();
  times.push(performance.now() - startedMs);
  await context.close();
}
await browser.close();
await gateway.stop();
const shown = times.map((ms) => (ms / 1_000).toFixed(2));
const median = shown.toSorted()[Math.floor(ROUNDS / 2)];
say(
  `| /docs, first operation visible, s | ${shown.join(', ')} | median ${median} | load average ${loadavg()[0]?.toFixed(1)} |`,
);
