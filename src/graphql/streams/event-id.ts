import type { ChainId } from '../../shared/ids.ts';

/** The state of one chain that a client has received. */
export interface SeenChain {
  readonly version: number;
  /** Time of the version; 0 = it has none. */
  readonly publishedMs: number;
  /** Hash of the selected content. */
  readonly digest: string;
}

/** Longer ids are of another origin. */
const MAX_CHARS = 1_024;
const ENTRY = /^(\d{1,9})\.(\d{1,15})\.(\d{1,15})\.([\w-]{16})$/;

/** Write the id of an event: the state of every chain that the stream has sent. */
export function writeEventId(seen: ReadonlyMap<ChainId, SeenChain>): string {
  return [...seen]
    .map(([chainId, { version, publishedMs, digest }]) => `${chainId}.${version}.${publishedMs}.${digest}`)
    .join('~');
}

/** Read a `Last-Event-ID`. One of another origin is ignored: the client gets the whole state. */
export function readEventId(id: string | undefined): ReadonlyMap<ChainId, SeenChain> {
  if (id === undefined || id === '' || id.length > MAX_CHARS) return new Map();
  const seen = new Map<ChainId, SeenChain>();
  for (const part of id.split('~')) {
    const [, chainId, version, publishedMs, digest] = ENTRY.exec(part) ?? [];
    if (chainId === undefined || digest === undefined) return new Map();
    seen.set(Number(chainId), { version: Number(version), publishedMs: Number(publishedMs), digest });
  }
  return seen;
}
