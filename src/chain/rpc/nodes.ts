import type { ChainId } from '../../shared/ids.ts';
import { systemTimers } from '../../shared/timers.ts';
import type { NamedBlock, Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import { ChainReadError } from './errors.ts';
import { createNode, type Node, type NodeDeps, type NodeStatus } from './node.ts';
import { candidatesOf, createHeadRace, holderOf, type NodeHead } from './node-selection.ts';
import { createSession, type OpenedReading, type Session, type SessionOptions, type WaitTimeout } from './session.ts';

export interface ChainNodes {
  readonly chainId: ChainId;
  /** Begin a session. No request is sent before its first work. */
  session(options?: SessionOptions): Session;
  /** Run one piece of work in a session of its own. */
  read<T>(work: (reading: Reading) => Promise<T>, options?: SessionOptions): Promise<T>;
  /** The nodes with a deadline for each piece of work, ms, failover included. */
  within(waitMs: number): ChainNodes;
  /** Probe every node. Never throws. */
  probe(): Promise<void>;
  status(): readonly NodeStatus[];
}

export interface ChainNodesDeps
  extends Pick<NodeDeps, 'chainId' | 'clock' | 'logger' | 'timeouts' | 'answerBytes' | 'retryCount' | 'probe'> {
  /** In the order of RPC_URL_*. */
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  /** Fetch for the requests to a node, by its position from 1. Default: the global one. */
  readonly fetchOf?: ((place: number) => typeof fetch) | undefined;
  /** Called with the node that was chosen for a reading. */
  readonly onChosen?: ((place: number) => void) | undefined;
}

const TIMEOUT_MS = 10_000;
/** Shares of a reader's time for one request: with several nodes there has to be time left for another one. */
const ONLY_NODE_SHARE = 0.9;
const FIRST_NODE_SHARE = 0.5;

/**
 * Create the nodes of one chain. A reading begins with the newest block of all nodes: the first one that answers and is not
 * behind the others is chosen. A node that failed recently is used only when no other is left.
 */
export function createChainNodes(deps: ChainNodesDeps): ChainNodes {
  const { chainId, urls, clock, logger, timeoutMs = TIMEOUT_MS, fetchOf, onChosen } = deps;
  const nodes = urls.map((url, i) =>
    createNode({ ...deps, url, place: i + 1, fetch: fetchOf?.(i + 1) ?? globalThis.fetch }),
  );
  const first = createHeadRace({ chainId, nodes, clock, logger });
  return view(timeoutMs);

  /** `waitMs`: timeout of each request. */
  function view(waitMs: number, waitTimeout?: WaitTimeout): ChainNodes {
    const session = ({ block, prefers, without: excluded = [] }: SessionOptions = {}) => {
      const usable = nodes.filter(({ place }) => !excluded.includes(place));
      return createSession({
        hasBlock: block !== undefined,
        isAlone: usable.length === 1,
        waitTimeout: waitTimeout,
        open: (without, options) => {
          const left = usable.filter((node) => !without.includes(node));
          return begin(left, { block, prefers }, waitMs, options);
        },
      });
    };
    return {
      chainId,
      session,
      read: (work, options) => session(options).run(work, options),
      within: (ms) => {
        const share = nodes.length === 1 ? ONLY_NODE_SHARE : FIRST_NODE_SHARE;
        return view(Math.min(timeoutMs, Math.floor(ms * share)), { ms, timers: deps.timeouts ?? systemTimers });
      },
      probe: async () => {
        await Promise.all(nodes.map((node) => node.probe()));
      },
      status: () => nodes.map((node) => node.status()),
    };
  }

  /** Ask the candidates, and the remaining nodes if none of them answers. */
  async function begin(
    left: readonly Node[],
    wish: { readonly block: NamedBlock | undefined; readonly prefers: SessionOptions['prefers'] },
    waitMs: number,
    options?: ReadOptions,
  ): Promise<OpenedReading> {
    if (left.length === 0) throw new ChainReadError('unreachable');
    for (const node of nodes) node.refresh();
    const candidates = candidatesOf(left, wish.prefers);
    const others = (tried: readonly Node[], error: unknown): Promise<OpenedReading> => {
      const rest = left.filter((node) => !tried.includes(node));
      if (rest.length === 0 || !(error instanceof ChainReadError)) throw error;
      return begin(rest, wish, waitMs, options);
    };
    let choice: NodeHead;
    try {
      choice = wish.block ? holderOf(wish.block, candidates) : await first(candidates, waitMs, options);
    } catch (error) {
      return others(candidates, error);
    }
    const { node, head } = choice;
    try {
      const reading = await node.readingOf(head, waitMs);
      onChosen?.(node.place);
      return { node, reading };
    } catch (error) {
      if (error instanceof ChainReadError) node.failed(error);
      return others([node], error);
    }
  }
}
