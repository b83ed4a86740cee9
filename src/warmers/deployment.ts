import type { Chain } from '../catalog/types.ts';
import type { ChainReader, DeploymentReading } from '../chain/reader.ts';
import { CHAIN_SOURCE } from '../chain/rpc/errors.ts';
import { agreementOf, type Disagreement } from '../domain/deployment/disagreements.ts';
import { DEPLOYMENT_KEY } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { measureGroup, reportOrThrow, type Snapshot, sumReports } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface DeploymentDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Create the warmer of the deployment: values of the deployed contract, its support of each market, and the tokens' own
 * values. They are read at one block, published as one version and compared with the catalog.
 */
export function createDeploymentWarmer(
  deps: DeploymentDeps,
  chain: Chain,
  reader: ChainReader,
  everySec: number,
): Warmer {
  const { chainId, markets, tokens } = chain;
  const logChanges = createChangeLogger(deps.logger, chainId);
  return {
    name: `deployment:${chainId}`,
    groups: ['deployment', 'marketSupport', 'tokenContract'],
    everySec,
    phase: 1,
    run: async (signal) => {
      const reading = reader.readDeployment(chain, { signal });
      const common = { chainId, source: CHAIN_SOURCE, signal } as const;
      const [deployment, marketSupport, tokenContract] = await Promise.all([
        measureGroup(deps, {
          everySec,
          ...common,
          group: 'deployment',
          keys: [DEPLOYMENT_KEY],
          ask: async () => atBlock(await reading, (read) => read.deployment),
        }),
        measureGroup(deps, {
          everySec,
          ...common,
          group: 'marketSupport',
          keys: markets.map(({ id }) => id),
          ask: async () => atBlock(await reading, (read) => read.marketSupport),
        }),
        measureGroup(deps, {
          everySec,
          ...common,
          group: 'tokenContract',
          keys: tokens.filter(({ isNative }) => !isNative).map(({ address }) => address),
          ask: async () => atBlock(await reading, (read) => read.tokenContract),
        }),
      ]);
      await deps.snapshot.publishAll(chainId, {
        deployment: deployment.publication,
        marketSupport: marketSupport.publication,
        tokenContract: tokenContract.publication,
      });
      logChanges(agreementOf(chain, deps.snapshot.facts(chainId)).disagreements);
      return sumReports([deployment, marketSupport, tokenContract].map(({ outcome }) => reportOrThrow(outcome)));
    },
  };
}

/** Log each disagreement once when it is found, and once when it is resolved. */
function createChangeLogger(logger: Logger, chainId: ChainId): (found: readonly Disagreement[]) => void {
  let before: ReadonlyMap<string, Disagreement> = new Map();
  return (found) => {
    const now = new Map(found.map((one) => [[one.kind, one.key, one.chain].join(' '), one] as const));
    for (const [id, { kind, effect, key, name, catalog, chain }] of now) {
      if (!before.has(id)) {
        logger.warn({ chainId, kind, effect, key, name, catalog, chain }, 'catalog and chain disagree');
      }
    }
    for (const [id, { kind, key, name }] of before) {
      if (!now.has(id)) logger.info({ chainId, kind, key, name }, 'catalog and chain agree again');
    }
    before = now;
  };
}

function atBlock<T>(
  reading: DeploymentReading,
  pick: (reading: DeploymentReading) => T,
): T & { readonly asOfMs: number } {
  return { ...pick(reading), asOfMs: Number(reading.block.timestamp) * 1_000 };
}
