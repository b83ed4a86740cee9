import type { Account } from '../limits/account.ts';
import type { RequestContext } from '../limits/request-context.ts';
import type { AppContext } from '../resolvers/common/context.ts';
import type { ReadingCost } from './queries.ts';

/** The initial context of every execution, the same for every transport. */
export interface ServerContext {
  readonly info: RequestContext;
  readonly transport: 'graphql' | 'rest';
  /** Whether mutations are refused: the request is a GET. Absent = no. */
  readonly isRead?: boolean | undefined;
  /** Parameters of a GraphQL request: one operation or a batch. */
  readonly params?: unknown;
  /** `Last-Event-ID` of a subscription that reconnects. */
  readonly lastEventId?: string | undefined;
  /** Aborted when the connection of a stream has ended. */
  readonly readerLeft?: AbortSignal | undefined;
  /** Ids of the events of a stream that are not written yet, in order; `null` = the event has none. */
  readonly eventIds?: (string | null)[] | undefined;
  /** Payments of the operation, once its parameters are known. */
  operation?:
    | {
        readonly account: Account;
        readonly reading: ReadingCost;
        /** Cost of coercing its variables. */
        readonly values: number;
      }
    | undefined;
}

export type ExecutionContext = ServerContext & AppContext;
