import fastify from 'fastify';
import mercurius from 'mercurius';
import { contextFrom, schema } from '../peer-services.ts';
import { serve } from '../serve.ts';

/** Mercurius with its compiler on from the first request, with our schema and the same facts. */
serve<{ readonly snapshotFile: string; readonly overlayFile: string }>(async (input) => {
  const context = await contextFrom(input);
  const app = fastify();
  await app.register(mercurius, { schema, jit: 1, context: () => context() as never });
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), stop: () => app.close() };
});
