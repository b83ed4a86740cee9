import type { Clock } from '../../src/shared/clock.ts';
import type { FaultKind } from './faults.ts';
import { PROVIDERS, type Provider, type SimRequest } from './types.ts';

/** Older requests are dropped; the counts stay. */
const MAX_RECORDS = 5_000;
/** Their values are keys, so only their presence is recorded. */
const SECRET_QUERY = new Set(['api_key', 'apikey']);
const PRESENT = '<present>';

export interface RecordedRequest {
  readonly provider: Provider;
  readonly atMs: number;
  readonly method: string;
  /** Below the provider's base URL. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names of the received headers. */
  readonly headers: readonly string[];
  readonly body?: unknown | undefined;
  readonly fault?: FaultKind | undefined;
  /** `null` = no answer (yet). */
  readonly status: number | null;
}

export interface RequestLog {
  add(provider: Provider, request: SimRequest, fault: FaultKind | undefined): { status: number | null };
  /** Oldest first. */
  list(provider?: Provider): readonly RecordedRequest[];
  counts(): Readonly<Record<Provider, number>>;
  clear(): void;
}

/** Record a request. */
export function createRequestLog(clock: Clock): RequestLog {
  let remaining: RecordedRequest[] = [];
  const counts = new Map<Provider, number>();
  return {
    add(provider, { method, path, query, headers, body }, fault) {
      const record = {
        provider,
        atMs: clock.now(),
        method,
        path,
        query: Object.fromEntries([...query].map(([key, value]) => [key, SECRET_QUERY.has(key) ? PRESENT : value])),
        headers: Object.keys(headers).sort(),
        body,
        fault,
        status: null as number | null,
      };
      remaining.push(record);
      if (remaining.length > MAX_RECORDS) remaining = remaining.slice(-MAX_RECORDS / 2);
      counts.set(provider, (counts.get(provider) ?? 0) + 1);
      return record;
    },
    list: (provider) =>
      provider === undefined ? [...remaining] : remaining.filter((record) => record.provider === provider),
    counts: () =>
      Object.fromEntries(PROVIDERS.map((name) => [name, counts.get(name) ?? 0])) as Record<Provider, number>,
    clear() {
      remaining = [];
      counts.clear();
    },
  };
}
