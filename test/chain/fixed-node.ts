import type { NodeCapabilities } from '../../src/chain/rpc/capabilities.ts';
import { type ChainNodes, createChainNodes } from '../../src/chain/rpc/nodes.ts';
import { type Clock, systemClock } from '../../src/shared/clock.ts';
import type { ChainId } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';

/** Calls in one batch of a node. */
const MAX_BATCH = 500;

/** The capabilities of a scripted node: all, with blocks addressed by number. */
export const CAPABLE: NodeCapabilities = {
  chainId: 1,
  simulateV1: 'works',
  stateOverrides: 'works',
  batchSize: MAX_BATCH,
  callGas: 50_000_000n,
  blockHash: 'missing',
  blockTags: { safe: 'works', finalized: 'works' },
  logRange: 10_000,
};

export interface FixedNode {
  readonly chainId?: ChainId;
  readonly rpcUrl: string;
  readonly timeoutMs?: number;
  /** Default: 500. */
  readonly batchSize?: number;
  /** Default: the real one. */
  readonly clock?: Clock;
  /** Told of every HTTP request. */
  readonly onRequest?: () => void;
}

/** One node of a chain that is not probed, and tried once. */
export function fixedNode({
  chainId = 1,
  rpcUrl,
  timeoutMs,
  batchSize = MAX_BATCH,
  clock = systemClock,
  onRequest,
}: FixedNode): ChainNodes {
  return createChainNodes({
    chainId,
    urls: [rpcUrl],
    clock,
    logger: silentLogger,
    retryCount: 0,
    timeoutMs,
    fetchOf: () => (input, init) => {
      onRequest?.();
      return fetch(input, init);
    },
    probe: async () => ({ ...CAPABLE, chainId, batchSize }),
  });
}
