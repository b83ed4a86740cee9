import type { Loaders } from '../../loaders/index.ts';
import type { Services } from './services.ts';
import type { Validity } from './validity.ts';

/** Who asks. A key's tier opens the partner fields, and with `ops` the ops fields as well. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly keyId: string; readonly tier: 'partner' | 'ops' };

/** What every resolver gets: one per request, whichever transport it came by. */
export interface AppContext {
  /** Taken once per request, so that all ages in one answer agree. */
  readonly nowMs: number;
  readonly caller: Caller;
  readonly correlationId: string;
  /** Longest page of a list: bounded for documents that callers write, not for the persisted ones, which are ours. */
  readonly maxPageSize: number;
  readonly services: Services;
  readonly loaders: Loaders;
  /** Collects how long the answer holds; absent where nobody asks. */
  readonly validity?: Validity;
}
