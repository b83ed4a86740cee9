import type { z } from 'zod';
import { healthBody, readyBody } from '../schemas/status.ts';
import type { SchemaCollector } from './json-schema.ts';
import { errorOf, headerRefs } from './operation.ts';

/** Describe the status pages, which are outside of the route table: they need no key, budget or facts. */
export function statusPaths(schemas: SchemaCollector): Record<string, unknown> {
  const answer = (description: string, schema: z.ZodType) => ({
    description,
    headers: headerRefs('x-correlation-id'),
    content: { 'application/json': { schema: schemas.convert(schema, 'output') } },
  });
  return {
    '/health': {
      get: {
        operationId: 'health',
        tags: ['Status'],
        summary: 'Liveness and cache diagnostics',
        description:
          'Answers while the process lives, whatever its upstreams do. An address may ask 600 times a minute, beside its budget of cost points.',
        security: [],
        responses: {
          200: answer('The process lives.', healthBody),
          304: { description: 'Not changed since the `ETag` that was sent.', headers: headerRefs('x-correlation-id') },
          429: errorOf(['rate_limited'], schemas),
        },
      },
    },
    '/ready': {
      get: {
        operationId: 'ready',
        tags: ['Status'],
        summary: 'Readiness',
        description: 'Whether the required data of every chain is primed and not far past its budget. Never limited.',
        security: [],
        responses: {
          200: answer('Required data is primed.', readyBody),
          503: answer('Warming up, stopping, or required data is far past its budget.', readyBody),
        },
      },
    },
  };
}
