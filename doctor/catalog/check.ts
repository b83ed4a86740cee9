import type { Chain } from '../../src/catalog/types.ts';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import { createChainNodes } from '../../src/chain/rpc/nodes.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { type Check, linesOf } from '../core/types.ts';
import { compareCatalog } from './compare.ts';
import { judgeDeployment } from './deployment.ts';
import { readCatalog } from './read.ts';

const AREA = 'catalog';
const LIMIT_MS = 35_000;
const MAX_REQUEST_MS = 10_000;

/** Check every address of a chain's catalog against the chain, at one block of one of its nodes. */
export function checkCatalog(deps: DoctorDeps, chain: Chain, urls: readonly string[]): Check {
  const { clock, timers, env, observations } = deps;
  const subject = `chain ${chain.chainId}`;
  return {
    area: AREA,
    subject,
    limitMs: LIMIT_MS,
    run: async (signal) => {
      const make = linesOf(AREA, subject);
      const nodes = createChainNodes({
        chainId: chain.chainId,
        urls,
        clock,
        logger: silentLogger,
        timeouts: timers,
        timeoutMs: Math.min(env.RPC_TIMEOUT_MS, MAX_REQUEST_MS),
        fetchOf: () => deps.fetch,
      });
      try {
        const reading = await readCatalog(nodes, chain, clock, { signal });
        if (reading.lending) observations.addOracles(chain.chainId, reading.lending);
        return [...compareCatalog(chain, reading), ...judgeDeployment(chain, reading)];
      } catch (error) {
        if (!(error instanceof ChainReadError)) throw error;
        return [
          make.failure(
            'reading',
            `no node of the chain is readable (${error.reason})`,
            'See the lines of its nodes and of the clocks.',
          ),
        ];
      }
    },
  };
}
