import { readFileSync } from 'node:fs';
import fastifyCompress from '@fastify/compress';
import fastifyEtag from '@fastify/etag';
import fastifyRateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { Counter, Histogram, Registry } from 'prom-client';
import type { RowBytes } from '../rows.ts';
import { serve } from '../serve.ts';

const NO_END = 1_000_000_000;

/**
 * Fastify as it is deployed, turning the composed object into JSON for every request: with a rate limit, entity tags, compression,
 * metrics by route, a request id and an access log.
 */
serve<readonly RowBytes[]>(async (rows) => {
  const app = fastify({
    logger: { level: 'info', file: '/dev/null' },
    requestIdHeader: 'x-correlation-id',
    genReqId: () => crypto.randomUUID(),
  });
  const registers = [new Registry()];
  const labelNames = ['route', 'method', 'status'];
  const requests = new Counter({ name: 'http_requests_total', help: 'Answered requests.', labelNames, registers });
  const seconds = new Histogram({
    name: 'http_seconds',
    help: 'Duration of requests.',
    labelNames: ['route'],
    registers,
  });
  app.addHook('onResponse', async ({ method, routeOptions: { url: route = '' } }, reply) => {
    requests.inc({ route, method, status: String(reply.statusCode) });
    seconds.observe({ route }, reply.elapsedTime / 1_000);
  });
  app.addHook('onSend', async (request, reply) => void reply.header('x-correlation-id', request.id));
  await app.register(fastifyRateLimit, { max: NO_END, timeWindow: '1 minute' });
  await app.register(fastifyCompress);
  await app.register(fastifyEtag);
  for (const { name, file } of rows) {
    const composed: object = JSON.parse(readFileSync(file, 'utf8'));
    app.get(`/${name}`, async () => composed);
  }
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), stop: () => app.close() };
});
