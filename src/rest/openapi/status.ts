import type { z } from 'zod';
import { healthBody, readyBody } from '../schemas/status.ts';
import type { SchemaCollector } from './json-schema.ts';
import { headerRefs } from './operation.ts';

/** Describe the status pages, which are no rows of the contract's table: they need no key, no budget and no facts. */
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
        description: 'Answers while the process lives, whatever its upstreams do. Never limited.',
        security: [],
        responses: { 200: answer('The process lives.', healthBody) },
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
