import type { FailureReason } from '../../domain/facts.ts';
import { RETRY_AFTER_SEC, settlesWithin } from '../../shared/calls/wait-timeout.ts';
import type { Timers } from '../../shared/timers.ts';
import type { NamedBlock, Reading } from '../reading.ts';
import type { ReadOptions } from '../types.ts';
import type { NodeCapabilities } from './capabilities.ts';
import { BlockMissingError, ChainReadError } from './errors.ts';
import type { Node } from './node.ts';

export interface SessionOptions extends ReadOptions {
  /** Block to read at; absent: the newest one. */
  readonly block?: NamedBlock | undefined;
  /** Preferred capabilities; without such a node, any other is used. */
  readonly prefers?: ((can: NodeCapabilities) => boolean) | undefined;
  /** Nodes that are not used, by their position in RPC_URL_*, also when no other one answers. */
  readonly without?: readonly number[] | undefined;
}

/** The longest wait for one piece of work of a session, retries on another node included. */
export interface WaitTimeout {
  readonly ms: number;
  readonly timers: Timers;
}

/** All reads for one purpose: on one node and at one block, as long as that node answers. */
export interface Session {
  /**
   * Run work at the session's node and block. If the node fails, or does not have the block, the work is repeated once on
   * another node, and the session stays there.
   * @throws ChainReadError, `timeout` after the wait timeout of the session, and any other error of the work
   */
  run<T>(work: (reading: Reading) => Promise<T>, options?: ReadOptions): Promise<T>;
}

/** A reading on a node. */
export interface OpenedReading {
  readonly node: Node;
  readonly reading: Reading;
}

export interface SessionDeps {
  /** Whether the session is at a given block instead of the newest one. */
  readonly hasBlock: boolean;
  /** Whether the chain has a single node. */
  readonly isAlone: boolean;
  /** Absent: work lasts as long as its requests. */
  readonly waitTimeout?: WaitTimeout | undefined;
  /**
   * Begin a reading on any node except some.
   * @throws ChainReadError
   */
  readonly open: (without: readonly Node[], options?: ReadOptions) => Promise<OpenedReading>;
}

/** Create a session. */
export function createSession({ hasBlock, isAlone, waitTimeout, open }: SessionDeps): Session {
  let opened: Promise<OpenedReading> | undefined;
  const reopen = (without: readonly Node[], options?: ReadOptions): Promise<OpenedReading> => {
    const opening = open(without, options);
    opened = opening;
    opening.catch(() => {
      if (opened === opening) opened = undefined;
    });
    return opening;
  };
  const attempt = async <T>({ node, reading }: OpenedReading, work: (reading: Reading) => Promise<T>): Promise<T> => {
    try {
      const done = await work(reading);
      node.succeeded();
      return done;
    } catch (error) {
      if (isNodeFault(error) && !(error instanceof BlockMissingError)) node.failed(error);
      throw error;
    }
  };
  const run: Session['run'] = async (work, options) => {
    const opening = opened ?? reopen([], options);
    const first = await opening;
    try {
      return await attempt(first, work);
    } catch (error) {
      // A URL may be served by several nodes: for a missing block the same URL is retried.
      if (!isNodeFault(error) || (isAlone && !(error instanceof BlockMissingError && !hasBlock))) throw error;
      // Another work of this session may have changed the node already; the session uses one node.
      const moved = opened === opening ? undefined : opened;
      const second = await (moved ?? reopen(isAlone ? [] : [first.node], options));
      return attempt(second, work);
    }
  };
  return { run: waitTimeout ? withWaitTimeout(run, waitTimeout) : run };
}

const PASSING: readonly FailureReason[] = ['unreachable', 'timeout', 'server_error', 'malformed'];

/** End work for its reader after a time, with the time of a retry in the error. */
function withWaitTimeout(run: Session['run'], { ms, timers }: WaitTimeout): Session['run'] {
  return async (work, options) => {
    const running = run(work, options);
    if (!(await settlesWithin(running, ms, timers))) {
      // Its requests end by their own timeouts.
      throw new ChainReadError('timeout', RETRY_AFTER_SEC);
    }
    try {
      return await running;
    } catch (error) {
      if (!(error instanceof ChainReadError) || error instanceof BlockMissingError) throw error;
      const isPassing = PASSING.includes(error.reason) && error.retryAfterSec === undefined;
      throw isPassing ? new ChainReadError(error.reason, RETRY_AFTER_SEC) : error;
    }
  };
}

/** Whether an error is the node's fault, so that another node may succeed: every error except a revert. */
function isNodeFault(error: unknown): error is ChainReadError {
  return error instanceof ChainReadError && error.reason !== 'reverted';
}
