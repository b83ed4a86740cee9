import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { RowBytes } from '../rows.ts';
import { listening, serve } from '../serve.ts';

/** Hono turning the composed object into JSON for every request. */
serve<readonly RowBytes[]>(async (rows) => {
  const app = new Hono();
  for (const { name, file } of rows) {
    const composed: object = JSON.parse(readFileSync(file, 'utf8'));
    app.get(`/${name}`, (context) => context.json(composed));
  }
  return listening(createAdaptorServer({ fetch: app.fetch }) as Server);
});
