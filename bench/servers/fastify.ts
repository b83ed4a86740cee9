import { readFileSync } from 'node:fs';
import fastify from 'fastify';
import type { RowBytes } from '../rows.ts';
import { serve } from '../serve.ts';

/** Fastify turning the composed object into JSON for every request. */
serve<readonly RowBytes[]>(async (rows) => {
  const app = fastify();
  for (const { name, file } of rows) {
    const composed: object = JSON.parse(readFileSync(file, 'utf8'));
    app.get(`/${name}`, async () => composed);
  }
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), stop: () => app.close() };
});
