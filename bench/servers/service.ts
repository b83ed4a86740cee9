import { openSync } from 'node:fs';
import { pino } from 'pino';
import { createApp } from '../../src/app/start-and-stop.ts';
import { createConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { serve } from '../serve.ts';

/** The service as in production, with the given settings: limits, metrics and logs are on. */
serve<Readonly<Record<string, string>>>(async (settings) => {
  const sampleKeys = new Map([['local-partner', { tier: 'partner' as const }]]);
  const app = createApp({
    config: createConfig({}, { env: settings, sampleKeys }),
    logger: pino({ level: 'info', base: null }, pino.destination(openSync('/dev/null', 'w'))),
    clock: systemClock,
    timers: systemTimers,
    random: Math.random,
    fetch: globalThis.fetch,
  });
  await app.start();
  const listeningMs = performance.now();
  await app.warmed;
  return { url: app.url, report: { listeningMs, warmedMs: performance.now() }, stop: () => app.stop() };
});
