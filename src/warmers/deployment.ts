import type { Chain } from '../catalog/types.ts';
import type { ChainReader, DeploymentReading } from '../chain/reader.ts';
import { CHAIN_SOURCE } from '../chain/rpc/errors.ts';
import { DEPLOYMENT_KEY } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import { measureGroup, reportOrThrow, type Snapshot, sumReports } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface DeploymentDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

/**
 * Create the warmer of what the deployed contract says of itself and of each market: one reading at one block, published
 * as one version.
 */
export function createDeploymentWarmer(
  deps: DeploymentDeps,
  chain: Chain,
  reader: ChainReader,
  everySec: number,
): Warmer {
  const { chainId, markets } = chain;
  return {
    name: `deployment:${chainId}`,
    groups: ['deployment', 'marketSupport'],
    everySec,
    phase: 1,
    run: async (signal) => {
      const reading = reader.readDeployment(chain, { signal });
      const common = { chainId, source: CHAIN_SOURCE, signal } as const;
      const [deployment, marketSupport] = await Promise.all([
        measureGroup(deps, {
          ...common,
          group: 'deployment',
          keys: [DEPLOYMENT_KEY],
          ask: async () => atBlock(await reading, (read) => read.deployment),
        }),
        measureGroup(deps, {
          ...common,
          group: 'marketSupport',
          keys: markets.map(({ id }) => id),
          ask: async () => atBlock(await reading, (read) => read.marketSupport),
        }),
      ]);
      await deps.snapshot.publishAll(chainId, {
        deployment: deployment.publication,
        marketSupport: marketSupport.publication,
      });
      return sumReports([reportOrThrow(deployment.outcome), reportOrThrow(marketSupport.outcome)]);
    },
  };
}

function atBlock<T>(
  reading: DeploymentReading,
  pick: (reading: DeploymentReading) => T,
): T & { readonly asOfMs: number } {
  return { ...pick(reading), asOfMs: Number(reading.block.timestamp) * 1_000 };
}
