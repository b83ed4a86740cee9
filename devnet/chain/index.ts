import { parseEther } from 'viem';
import type { Chain } from '../../src/catalog/index.ts';
import { type Clock, systemClock } from '../../src/shared/clock.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { type During, inSilence } from '../progress.ts';
import { BORROWER, LENDER, OWNER } from '../seed/accounts.ts';
import { type DeploymentSettings, defaultDeployment } from '../seed/deployment.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { createDevnetClient } from './client.ts';
import { type Artifacts, compileContracts } from './compile.ts';
import { beginDeployment } from './context.ts';
import { deployLending } from './deploy.ts';
import { deployProduct } from './deploy-product.ts';
import { seedLending } from './seed.ts';
import { seedPositions } from './seed-positions.ts';
import { type ChainVerbs, createVerbs } from './verbs.ts';

export { accounts, privateKeyOf, untouchedAccounts } from '../seed/accounts.ts';
export type { ChainVerbs } from './verbs.ts';

export interface StartChainsOptions {
  /** Chains of the catalog, overlay included. */
  readonly chains: readonly Chain[];
  /** Per chain id; a chain without one gets a free port. */
  readonly ports?: Readonly<Record<number, number>>;
  /**
   * `interval`: a block every second, by the real clock. `auto`: a block for every transaction, and time changes only by
   * `increaseTime`, so that the time of a block does not depend on the speed of the machine.
   */
  readonly mining: 'interval' | 'auto';
  /** Differences from the usual deployment of the product's contract. */
  readonly deployment?: Partial<DeploymentSettings> | undefined;
  readonly clock?: Clock;
  /** Path of the anvil binary, when neither the npm package nor PATH has it. */
  readonly anvilBin?: string | undefined;
  /** Is told the parts of the start. */
  readonly during?: During | undefined;
  readonly logger?: Logger;
}

export interface LocalChain extends ChainVerbs {
  readonly rpcUrl: string;
}

export interface LocalChains {
  readonly rpcUrls: Readonly<Record<number, string>>;
  /** Pick a running chain. @throws Error when it was not started. */
  on(chainId: number): LocalChain;
  stop(): Promise<void>;
}

const BLOCK_GAS_LIMIT = 60_000_000n;
const BLOCK_TIME_SEC = 1;
/**
 * Blocks whose states stay readable, those included that were set back. A state takes up to 0.4 MB: at a block per second, all
 * of them would take gigabytes after some hours.
 */
const HISTORY_BLOCKS = { interval: 16, auto: 2_048 } as const;

/**
 * Start the local chains with everything on them: compile (or take the compilation from the cache), deploy at the
 * catalog's addresses, seed. After a failure every started process is ended.
 */
export async function startChains(options: StartChainsOptions): Promise<LocalChains> {
  const logger = options.logger ?? silentLogger;
  const { during = inSilence } = options;
  const artifacts = await during('the code of the contracts', compileContracts());
  const started = await Promise.allSettled(
    options.chains.map((chain) => during(`chain ${chain.chainId}`, startChain(chain, artifacts, options))),
  );
  const running = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(running.map(({ anvil }) => anvil.stop()));
  };
  const failure = started.find((result) => result.status === 'rejected');
  if (failure !== undefined) {
    await stop();
    throw failure.reason;
  }
  for (const { anvil } of running) logger.info({ chainId: anvil.chainId, rpcUrl: anvil.rpcUrl }, 'local chain is up');
  return {
    rpcUrls: Object.fromEntries(running.map(({ anvil }) => [anvil.chainId, anvil.rpcUrl])),
    on: (chainId) => {
      const found = running.find(({ anvil }) => anvil.chainId === chainId);
      if (found === undefined) throw new Error(`The local chain ${chainId} was not started`);
      return found.local;
    },
    stop,
  };
}

async function startChain(
  chain: Chain,
  artifacts: Artifacts,
  options: StartChainsOptions,
): Promise<{ anvil: Anvil; local: LocalChain }> {
  const port = options.ports?.[chain.chainId];
  const anvil = await startAnvil({
    chainId: chain.chainId,
    timestamp: Math.floor((options.clock ?? systemClock).now() / 1000),
    history: HISTORY_BLOCKS[options.mining],
    port,
    anvilBin: options.anvilBin,
  });
  try {
    const client = createDevnetClient(chain.chainId, anvil.rpcUrl, chain.contracts.multicall3);
    if (options.mining === 'auto') await client.setBlockTimestampInterval({ interval: 1 });
    const context = await beginDeployment(chain, client, artifacts, OWNER);
    await Promise.all(
      [OWNER, LENDER, BORROWER].map((address) => client.setBalance({ address, value: parseEther('1000000') })),
    );
    await deployLending(context);
    await seedLending(context);
    await deployProduct(context, { ...defaultDeployment, ...options.deployment });
    await seedPositions(context);
    await client.request({ method: 'anvil_autoImpersonateAccount', params: [false] } as never);
    await client.setBlockGasLimit({ gasLimit: BLOCK_GAS_LIMIT });
    await client.mine({ blocks: 1 }); // the limit holds from the next block on
    if (options.mining === 'auto') {
      await client.setBlockTimestampInterval({ interval: 0 });
      await client.setAutomine(true);
    } else await client.setIntervalMining({ interval: BLOCK_TIME_SEC });
    return { anvil, local: { ...createVerbs({ chain, client, artifacts }), rpcUrl: anvil.rpcUrl } };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}
