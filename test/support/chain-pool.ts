import type { Hex } from 'viem';
import { type LocalChains, type StartChainsOptions, startChains } from '../../devnet/chain/index.ts';
import { systemClock } from '../../src/shared/clock.ts';

/** Chains that no test uses at the moment, in the state of their seeding. */
interface IdleChains {
  readonly key: string;
  readonly chains: LocalChains;
  readonly snapshots: ReadonlyMap<number, Hex>;
}

/** Kinds of chains kept for later files of this worker; each chain is a process of some 50 MB. */
const MAX_IDLE = 4;
const MINUTE_MS = 60_000;
/**
 * Anvil keeps the states of the newest blocks that it has mined (`HISTORY_BLOCKS` of the local chains), those included that were
 * set back, and tests read the seeded ones. So a file finds nearly the same room on a chain of earlier files as on a new one.
 */
const MAX_MINED_BLOCKS = 300n;
const idle: IdleChains[] = [];

/**
 * Start local chains, or take over those of an earlier test file of this worker that began at the same minute with the same
 * settings: they are set back to the state of their seeding, which takes a tenth of deploying everything anew. They end with
 * the worker.
 */
export async function startPooledChains(options: StartChainsOptions): Promise<LocalChains> {
  const { chains: wanted, clock = systemClock, deployment = {}, mining, ports = {} } = options;
  const startMinute = Math.floor(clock.now() / MINUTE_MS);
  const key = JSON.stringify(
    [wanted.map(({ chainId }) => chainId), startMinute, mining, ports, deployment],
    (_, value) => (typeof value === 'bigint' ? value.toString() : value),
  );
  const at = idle.findIndex((found) => found.key === key);
  const [found] = at < 0 ? [] : idle.splice(at, 1);
  const running = found ?? (await seeded(key, await startChains(options), options));
  return { ...running.chains, stop: () => putBack(running, options) };
}

async function seeded(key: string, chains: LocalChains, options: StartChainsOptions): Promise<IdleChains> {
  const snapshots = options.chains.map(async ({ chainId }) => [chainId, await chains.on(chainId).snapshot()] as const);
  return { key, chains, snapshots: new Map(await Promise.all(snapshots)) };
}

/** Set chains back and keep them. Chains of which a test has ended one, that cannot be set back or have mined much are ended. */
async function putBack({ key, chains, snapshots }: IdleChains, options: StartChainsOptions): Promise<void> {
  try {
    let most = 0n;
    for (const [chainId, snapshot] of snapshots) {
      const { client, revert, minedBlocks } = chains.on(chainId);
      await client.request({ method: 'anvil_dropAllTransactions' } as never);
      await revert(snapshot);
      const mined = await minedBlocks();
      if (mined > most) most = mined;
    }
    if (most > MAX_MINED_BLOCKS) await chains.stop();
    else idle.push(await seeded(key, chains, options));
  } catch {
    await chains.stop();
  }
  while (idle.length > MAX_IDLE) await idle.shift()?.chains.stop();
}
