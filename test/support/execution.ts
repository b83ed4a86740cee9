import type { Address, Hex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { LocalChain } from '../../devnet/chain/index.ts';
import { untouchedAccounts } from '../../devnet/seed/accounts.ts';
import {
  type Client,
  createClient,
  type ExecuteOptions,
  type TransactionBundle,
} from '../../packages/client/src/index.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { marketOf } from '../e2e/leverage/support.ts';
import { type EquityVerbs, equityVerbs, passing } from './equity.ts';
import { type Json, startService, type TestService } from './service.ts';

const [first, second] = untouchedAccounts;
if (!first || !second) throw new Error('the local world has untouched accounts');
export const account = first;
export const otherAccount = second;
export const user = first.address;
export const market = marketOf(1, 'sUSDe/PYUSD 91.5');

/** A running service with a client of it; both chains are reverted after every test. */
export interface ExecutionWorld {
  readonly service: TestService;
  readonly client: Client;
  readonly vaults: EquityVerbs;
  readonly local: () => LocalChain;
  /** Options by the clock of the service, without long waits. */
  options(more?: ExecuteOptions): ExecuteOptions;
  openPlan(more?: object): Promise<TransactionBundle>;
  positionOf(index: bigint, of?: Address): Promise<{ readonly open: boolean; readonly userProxy: Address }>;
  hasPosition(): Promise<boolean>;
}

/**
 * Tests that this worker has begun. Its files share the plans that the client has started, and their clocks begin at one time: each
 * test has a millisecond of its own, where tests advance the clock by whole seconds.
 */
let begun = 0;

/** Start a service for the tests of a file. */
export function useExecution(): ExecutionWorld {
  let service: TestService;
  let client: Client;
  let vaults: EquityVerbs;
  let snapshots: Hex[];
  beforeAll(async () => {
    service = await startService({ sleep: passing(() => service) });
    service.clock.advance(begun);
    client = createClient({ baseUrl: service.url, apiKey: 'local-partner' });
    vaults = equityVerbs(service);
  });
  afterAll(() => service?.stop());
  const local = () => service.world.chains.on(1);
  beforeEach(async () => {
    // The chains go back after a test, and the plans that it has started stay started: those of the next one end a little later.
    begun += 1;
    service.clock.advance(1);
    snapshots = await Promise.all([local().snapshot(), vaults.local.snapshot()]);
  });
  afterEach(async () => {
    await local().revert(snapshots[0] as Hex);
    await vaults.local.revert(snapshots[1] as Hex);
  });
  const contract = () => ({ address: local().chain.contracts.flashLeverage, abi: flashLeverageAbi });
  return {
    get service() {
      return service;
    },
    get client() {
      return client;
    },
    get vaults() {
      return vaults;
    },
    local,
    options: (more = {}) => ({ now: service.clock.now, pollMs: 1, receiptTimeoutMs: 60_000, ...more }),
    openPlan: (more = {}) => {
      const open = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage: 5 };
      return client.leverageBuild({ ...open, userAddress: user, ...more });
    },
    positionOf: (index, of = user) =>
      local().client.readContract({ ...contract(), functionName: 'getUserLeveragePosition', args: [of, index] }),
    hasPosition: async () => {
      const args = [user] as const;
      const found = await local().client.readContract({
        ...contract(),
        functionName: 'getUserLeveragePositions',
        args,
      });
      return found.length > 0;
    },
  };
}

/** The failure of a call that has to fail. */
export const failureOf = (call: Promise<unknown>): Promise<Json> =>
  call.then(
    () => 'executed',
    (error: unknown) => error,
  );
