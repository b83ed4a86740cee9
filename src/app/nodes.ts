import { createAnswerBytes } from '../chain/rpc/client.ts';
import { printable } from '../chain/rpc/node.ts';
import { type ChainNodes, createChainNodes } from '../chain/rpc/nodes.ts';
import { READER_WAIT_MS } from '../shared/calls/wait-timeout.ts';
import type { ChainId } from '../shared/ids.ts';
import type { AppDeps } from './deps.ts';
import type { Telemetry } from './telemetry.ts';

/** The nodes of every chain that has a configured one. */
export type NodesOf = ReadonlyMap<ChainId, ChainNodes>;

/** Create the nodes of every configured chain, with metrics and tracing. No request is sent yet. */
export function createNodesByChain(
  { config, clock, logger, timeouts }: Pick<AppDeps, 'config' | 'clock' | 'logger' | 'timeouts'>,
  telemetry: Telemetry,
): NodesOf {
  const { metrics } = telemetry;
  const answerBytes = createAnswerBytes();
  return new Map(
    [...config.rpcUrls].map(([chainId, urls]) => {
      const nodes = createChainNodes({
        chainId,
        urls,
        clock,
        logger,
        timeoutMs: config.env.RPC_TIMEOUT_MS,
        timeouts,
        answerBytes,
        fetchOf: (node) => telemetry.rpcFetch(chainId, node),
        onChosen: metrics === undefined ? undefined : (node) => metrics.nodeChosen(chainId, node),
      });
      return [chainId, nodes] as const;
    }),
  );
}

/** The same nodes for waiting readers. */
export function forReaders(nodes: NodesOf): NodesOf {
  return new Map([...nodes].map(([chainId, all]) => [chainId, all.within(READER_WAIT_MS)]));
}

/** Format the state of a chain's nodes. Their URLs are secret, so each is named by its position in RPC_URL_*. */
export function formatNodes(nodes: ChainNodes | undefined) {
  const status = nodes?.status() ?? [];
  const highest = status.reduce((max, { head }) => (head && head.number > max ? head.number : max), 0n);
  return status.map(({ place, status: state, head, latencyMs, capabilities, lastFailure, ...failing }) => ({
    node: place,
    status: state,
    block: head && Number(head.number),
    blocksBehind: head && Number(highest - head.number),
    latencyMs,
    lastFailure: lastFailure && { reason: lastFailure.reason, at: new Date(lastFailure.atMs).toISOString() },
    restingUntil: failing.restsUntilMs === undefined ? undefined : new Date(failing.restsUntilMs).toISOString(),
    failingSince: failing.failingSinceMs === undefined ? undefined : new Date(failing.failingSinceMs).toISOString(),
    capabilities: capabilities && printable(capabilities),
  }));
}
