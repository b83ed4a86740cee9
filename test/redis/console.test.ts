import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { logConsole, logProcessWarnings } from '../../src/telemetry/console.ts';
import { captureLogs } from '../support/log-capture.ts';

test('behavior: logs the console output of libraries, without secrets and bounded', () => {
  const logs = captureLogs();
  const target = { ...console };
  logConsole(logs.logger, target);
  target.warn('[WARN] %s needs no password', 'redis://user:hunter22@host');
  target.error(new Error('x'.repeat(5_000)));
  const [first = '', second = ''] = logs.take();
  expect(first).toBe('warn library message {"text":"[WARN] redis://[credentials]@host needs no password"}');
  expect(second.length).toBeLessThan(1_100);
});

test('behavior: warnings of Node are logged instead of printed', () => {
  const logs = captureLogs();
  const target = new EventEmitter();
  let printed = 0;
  target.on('warning', () => printed++);
  logProcessWarnings(logs.logger, target as never);
  target.emit('warning', Object.assign(new Error('too many listeners'), { name: 'MaxListenersExceededWarning' }));
  expect([printed, logs.take()]).toEqual([
    0,
    ['warn library message {"text":"MaxListenersExceededWarning: too many listeners"}'],
  ]);
});
