import { createHash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { EventSubject } from '../../resolvers/common/context.ts';
import type { ChainId } from '../../shared/ids.ts';
import { type SeenChain, writeEventId } from './event-id.ts';
import { contentOf, isContent, keysOf, type Selected } from './selection.ts';

/** An event to send, with its id for `Last-Event-ID`. */
export interface SelectedEvent {
  readonly result: ExecutionResult;
  readonly id: string;
}

/** The content that a stream has sent of one chain: a hash of the content of each entry of a list, or of the whole. */
type Sent = Map<string, string>;

const DIGEST_CHARS = 16;
const WHOLE = '';
/** The list of an event that is narrowed to the entries that differ. */
const LIST = 'changed';

/**
 * Remember the content that one stream has sent, so that it sends only events, and of a list only entries, whose selected
 * content differs. Memory is bounded: one hash per listed entry.
 * @param seen the state that the client received before it reconnected
 */
export function createChangedSelection(selected: Selected, seen: ReadonlyMap<ChainId, SeenChain>) {
  const sent = new Map<ChainId, Sent>();
  const state = new Map<ChainId, SeenChain>();
  const resumed = new Map(seen);
  const listKeys = keysOf(selected, LIST);
  // A client that selects no content, only versions and times, gets every event.
  const hasContent = [...selected.below.values()].some(isContent);
  return {
    /** `null` = the client has this content already. */
    next(result: ExecutionResult, subject: EventSubject): SelectedEvent | null {
      const [root] = Object.values(result.data ?? {}) as Record<string, unknown>[];
      if (result.errors !== undefined || !root) {
        // The client may lack fields of it: the next event of the chain is compared with nothing, also after this id.
        for (const known of [sent, state, resumed]) known.delete(subject.chainId);
        return { result, id: writeEventId(state) };
      }
      const before = sent.get(subject.chainId);
      // A directive may have left the list out.
      const list = subject.entries === undefined ? [] : listKeys.filter((name) => Array.isArray(root[name]));
      const hashes = hashesOf(root, list, subject, selected);
      const now: Sent =
        subject.entries === undefined || before === undefined ? hashes : new Map([...before, ...hashes]);
      for (const removed of subject.removed ?? []) now.delete(removed);
      sent.set(subject.chainId, now);
      const digest = digestOf(now);
      const known = before === undefined ? resumed.get(subject.chainId) : undefined;
      state.set(subject.chainId, { version: subject.version, publishedMs: subject.publishedMs ?? 0, digest });
      const hasNews = before !== undefined || subject.mayDiffer === undefined || subject.mayDiffer.size > 0;
      const followsVersions = (subject.entries === undefined ? !hasContent : list.length === 0) && hasNews;
      if (known?.digest === digest && !(followsVersions && known.version !== subject.version)) return null;
      const differs = (key: string): boolean =>
        before === undefined ? (subject.mayDiffer?.has(key) ?? true) : before.get(key) !== hashes.get(key);
      const keep = [...hashes.keys()].map(differs);
      const isFirst = before === undefined && subject.mayDiffer === undefined;
      const isSent = isFirst || followsVersions || keep.includes(true) || (subject.removed ?? []).length > 0;
      if (!isSent) return null;
      return { result: narrowed(result, root, list, keep), id: writeEventId(state) };
    },
  };
}

function hashesOf(
  root: Record<string, unknown>,
  list: readonly string[],
  subject: EventSubject,
  selected: Selected,
): Sent {
  if (subject.entries === undefined) return new Map([[WHOLE, hashOf(contentOf(root, selected))]]);
  return new Map(
    subject.entries.map((key, i) => {
      const contents = list.map((name) => contentOf((root[name] as unknown[])[i], selected.below.get(name)));
      return [key, hashOf(contents.join('\n'))];
    }),
  );
}

/** Keep the entries of the list that differ. */
function narrowed(
  result: ExecutionResult,
  root: Record<string, unknown>,
  list: readonly string[],
  keep: readonly boolean[],
): ExecutionResult {
  if (list.length === 0 || !keep.includes(false)) return result;
  const lists = list.map((name) => [name, (root[name] as unknown[]).filter((_entry, i) => keep[i])] as const);
  const [key = ''] = Object.keys(result.data ?? {});
  return { ...result, data: { [key]: { ...root, ...Object.fromEntries(lists) } } };
}

function digestOf(sent: Sent): string {
  return hashOf(
    [...sent]
      .map((pair) => pair.join(' '))
      .sort()
      .join('\n'),
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARS);
}
