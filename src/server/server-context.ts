import type { QueryCost } from './queries.ts';
import type { Visit } from './visit.ts';

/** What the initial context of every execution carries, whichever transport it came by. */
export interface ServerContext {
  readonly info: Visit;
  readonly transport: 'graphql' | 'rest';
  /** What the front door has read of a GraphQL request: one operation or a batch. */
  readonly params?: unknown;
  /** What was charged for its only operation already. */
  readonly charged?: QueryCost;
}
