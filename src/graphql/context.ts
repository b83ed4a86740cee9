import type { Account } from '../limits/account.ts';
import type { RequestContext } from '../limits/request-context.ts';
import type { AppContext } from '../resolvers/common/context.ts';
import type { ReadingCost } from './queries.ts';

/** What the initial context of every execution carries, whichever transport it came by. */
export interface ServerContext {
  readonly info: RequestContext;
  readonly transport: 'graphql' | 'rest';
  /** What was read of a GraphQL request: one operation or a batch. */
  readonly params?: unknown;
  /** What the operation has paid, once its parameters are known. */
  operation?:
    | {
        readonly account: Account;
        readonly reading: ReadingCost;
        /** What coercing its variables costs. */
        readonly values: number;
      }
    | undefined;
}

/** What an execution knows. */
export type ExecutionContext = ServerContext & AppContext;
