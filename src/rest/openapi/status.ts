import type { z } from 'zod';
import { healthBody, readyBody } from '../schemas/status.ts';
import type { SchemaCollector } from './json-schema.ts';
import { headerRefs } from './operation.ts';
import { samplesOf } from './samples.ts';

/** Describe the status pages, which are outside of the route table: they need no key, budget or facts. */
export function statusPaths(schemas: SchemaCollector): Record<string, unknown> {
  const answer = (description: string, schema: z.ZodType) => ({
    description,
    headers: headerRefs('x-correlation-id', 'Ignored-Parameters'),
    content: { 'application/json': { schema: schemas.convert(schema, 'output') } },
  });
  const samples = (operationId: string) =>
    samplesOf({ operationId, method: 'GET', path: `/${operationId}`, surface: 'Status', example: { summary: '' } });
  return {
    '/health': {
      get: {
        operationId: 'health',
        tags: ['Status'],
        summary: 'Liveness and cache diagnostics',
        description: 'Answers while the process runs, independent of its upstreams. No rate limit.',
        security: [],
        responses: {
          200: answer('The process runs.', healthBody),
          304: { description: 'Not changed since the `ETag` that was sent.', headers: headerRefs('x-correlation-id') },
        },
        'x-code-samples': samples('health'),
      },
    },
    '/ready': {
      get: {
        operationId: 'ready',
        tags: ['Status'],
        summary: 'Readiness',
        description: 'Whether the required data of every chain is loaded and not far past its budget. No rate limit.',
        security: [],
        responses: {
          200: answer('Required data is loaded.', readyBody),
          503: answer('Warming up, stopping, or required data is far past its budget.', readyBody),
        },
        'x-code-samples': samples('ready'),
      },
    },
  };
}
