import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually, spawnService } from '../support/process/spawn-service.ts';
import { startService } from '../support/service.ts';

/** A collector on loopback, and the paths that it was asked for. */
async function startCollector(): Promise<{ readonly url: string; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

test('OTEL_EXPORTER_OTLP_ENDPOINT receives the spans of a process, and with TRACE_SAMPLE_RATIO=0 none', async () => {
  const [traced, untraced] = [await startCollector(), await startCollector()];
  const { world, stop } = await startService({ warm: false });
  const folder = await mkdtemp(join(tmpdir(), 'settings-'));
  onTestFinished(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  const settings = { ...world.overrides.env, PORT: '0', NODE_ENV: 'development' };
  const start = (name: string, env: Record<string, string>) =>
    spawnService({ ...settings, SNAPSHOT_FILE: join(folder, name), ...env });
  const [one, other] = await Promise.all([
    start('traced', { OTEL_EXPORTER_OTLP_ENDPOINT: traced.url }),
    start('untraced', { OTEL_EXPORTER_OTLP_ENDPOINT: untraced.url, TRACE_SAMPLE_RATIO: '0' }),
  ]);
  for (const { url } of [one, other]) expect((await fetch(`${url}/health`)).status).toBe(200);
  await eventually(
    () => traced.paths.length,
    (count) => count > 0,
  );
  expect(traced.paths[0]).toBe('/v1/traces');
  // A stop sends the last spans.
  await Promise.all([one.end('SIGTERM'), other.end('SIGTERM')]);
  expect(untraced.paths).toEqual([]);
});
