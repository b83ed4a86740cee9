import { createLoaders, type Loaders } from '../../loaders/index.ts';
import { type CacheHints, createCacheHints } from '../../shared/cache-validity.ts';
import type { PricedContext } from '../../shared/contract/work-costs.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { SeenVersion } from '../strategy/changes.ts';
import type { Caller } from './caller.ts';
import { createListSizes, type ListSizes } from './list-sizes.ts';
import type { PinnedBlock, ReadReceipt } from './read-services.ts';
import type { Services, SnapshotServices } from './services.ts';

/** The client of a request: the owner of its rate limit, and whether it still waits for the answer. */
export interface ClientPort {
  /** The key, or the address. */
  readonly identity: string;
  /** The IPv6 network of the address, whose clients count together too. */
  readonly network?: string | undefined;
  /** Charge points beside those of the query. @throws RateLimitedError, UpstreamUnavailableError */
  charge(points: number): Promise<void>;
  /** Never throws. */
  refund(points: number): Promise<void>;
  /** Aborted when the client disconnects; absent where that is not known. */
  left(): AbortSignal | undefined;
}

/** The data of a request before its operation is executed. */
interface ContextInput {
  /** Taken once per request, so that all ages in one answer agree. Resolvers read it by `momentOf` or `secondOf`. */
  readonly nowMs: number;
  readonly caller: Caller;
  readonly correlationId: string;
  /** Longest page of a list: bounded for documents that callers write, not for the persisted ones, which are ours. */
  readonly maxPageSize: number;
  /** Whose contract the answer follows: the rows of /v1 run persisted operations and keep their own names and limits. */
  readonly contract: 'v1' | 'graphql';
  /** Absent: nothing is charged. */
  readonly client?: ClientPort | undefined;
}

/** The subject of a subscription's event, to compare it with the events before. */
export interface EventSubject {
  readonly chainId: ChainId;
  readonly version: number;
  /** Time of the version: after a restart without a store another state may have its number. Absent: only its content counts. */
  readonly publishedMs?: number | undefined;
  /** Keys of the entries of the event's list `changed`, in its order; absent: the event is compared as a whole. */
  readonly entries?: readonly string[] | undefined;
  /** Keys of the entries that may differ from those known to a returning reader; absent: all. */
  readonly mayDiffer?: ReadonlySet<string> | undefined;
  readonly removed?: readonly string[] | undefined;
}

/** The context of every resolver: one per operation, for every transport. */
export interface AppContext extends ContextInput, PricedContext {
  /** Collects how long the answer may be given again. */
  readonly cacheHints: CacheHints;
  /** The types of objects that were loaded by global id, since an object itself may not show its type. */
  readonly loadedTypes: Map<object, string>;
  /** How fresh the fields are that were asked to be: part of the answer. */
  readonly receipts: ReadReceipt[];
  /** Blocks that this request reads at, by chain and number. */
  readonly blocks: Map<string, PinnedBlock>;
  /** Reads of the catalog, the settings and the snapshot. */
  readonly services: SnapshotServices;
  /** Sizes of the lists of the snapshot, which the cost of a query counts. */
  readonly sizes: ListSizes;
  /** Reads of the snapshot, of histories and of wallets, each with its cache hints. */
  readonly loaders: Loaders;
  /** Count one call of a field below the root that has a limit per minute. Absent: nothing is limited. @throws RateLimitedError */
  readonly countCall?: ((coordinate: string) => void) | undefined;
  /** Versions that the reader of a stream has received before it reconnected. */
  readonly seenVersions?: ReadonlyMap<ChainId, SeenVersion> | undefined;
  /** `Last-Event-ID` of a stream that reconnects. */
  readonly lastEventId?: string | undefined;
  /** Aborted when the connection of a stream has ended. */
  readonly readerLeft?: AbortSignal | undefined;
  /** Id of the event that is resolved now, for events that are not told apart by a chain and its version. */
  readonly eventId?: string | undefined;
  /** The event of a subscription that is resolved now. */
  readonly subject?: EventSubject | undefined;
  /** Reads on demand (a chain, an upstream, the database): the answer is never cached. */
  live(): Services;
}

/** Make the context of one operation. */
export function createContext(services: Services, input: ContextInput): AppContext {
  const cacheHints = createCacheHints();
  return {
    ...input,
    cacheHints,
    loadedTypes: new Map(),
    receipts: [],
    blocks: new Map(),
    services,
    sizes: createListSizes(services),
    loaders: createLoaders(services, cacheHints, input.nowMs),
    live() {
      cacheHints.never();
      return services;
    },
  };
}

/** Note the subject of the subscription's event that is resolved now. */
export function noteSubject(ctx: AppContext, subject: EventSubject): void {
  Object.assign(ctx, { subject });
}

/** Give the event of a subscription that is resolved now an id for `Last-Event-ID`. */
export function noteEventId(ctx: AppContext, eventId: string): void {
  Object.assign(ctx, { eventId });
}
