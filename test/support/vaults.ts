import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { accounts } from '../../devnet/seed/accounts.ts';
import type { EquityVault } from '../../src/catalog/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { type EquityVerbs, equityVerbs, passing, type SentCall } from './equity.ts';
import { bodyViolation } from './row-body.ts';
import { type Json, startService, type TestService } from './service.ts';

/** An account that the seeding does not use. */
export const account = accounts[7] as (typeof accounts)[number];
export const user = account.address;

export type Send = (calls: readonly SentCall[]) => Promise<void>;

/** A running service whose chain is reverted after every test, with actions on vaults. */
export interface Vaults {
  readonly service: TestService;
  readonly verbs: EquityVerbs;
  /** The whole batch in one transaction of the user. */
  readonly atomically: Send;
  /** Build over REST; the answer matches the contract exactly. */
  build(path: 'deposit' | 'exit', body: object): Promise<Json>;
  /** Fund the user, build a deposit and send it; its build. */
  deposit(vault: EquityVault, amount: string, send?: Send, extra?: object): Promise<Json>;
  /** A wallet's position in a vault, from the positions endpoint. */
  positionIn(vault: EquityVault, of?: Address): Promise<Json>;
}

/** Start a service for the tests of a file. */
export function useVaults(): Vaults {
  let service: TestService;
  let verbs: EquityVerbs;
  let snapshot: Hex;
  beforeAll(async () => {
    service = await startService({ sleep: passing(() => service) });
    verbs = equityVerbs(service);
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    snapshot = await verbs.local.snapshot();
  });
  afterEach(async () => {
    service.world.upstreams.faults.clear();
    await verbs.local.revert(snapshot);
  });

  const atomically: Send = (calls) => verbs.sendAtomically(user, calls);
  const build = async (path: 'deposit' | 'exit', body: object): Promise<Json> => {
    const answer = await verbs.post(`/v1/partner/equity/${path}/build`, body);
    expect(answer.status, answer.text).toBe(200);
    expect(bodyViolation(path === 'deposit' ? 'equityDepositBuild' : 'equityExitBuild', answer.body)).toBeNull();
    return answer.body;
  };
  return {
    get service() {
      return service;
    },
    get verbs() {
      return verbs;
    },
    atomically,
    build,
    async deposit(vault, amount, send = atomically, extra = {}) {
      await verbs.fund(user, vault, BigInt(amount) * 10n ** BigInt(vault.depositToken.decimals));
      const built = await build('deposit', { strategyId: vault.id, amount, userAddress: user, ...extra });
      await send(built.calls);
      return built;
    },
    async positionIn(vault, of = user) {
      const { equityPositions } = await verbs.positions(of);
      return equityPositions.find(({ strategyId }: Json) => strategyId === vault.id);
    },
  };
}

/** One basis point of a percentage: a hundredth of a percentage point. */
export function expectPoints(actual: string, expected: string, what: string): void {
  expect(new Decimal(actual).minus(expected).abs().lte('0.01'), `${what}: ${actual} is not ${expected}`).toBe(true);
}

/** One basis point of an amount: a hundredth of a percent of it. */
export function expectNear(actual: string, expected: string, what: string): void {
  const off = new Decimal(actual).minus(expected).abs();
  expect(off.lte(new Decimal(expected).times('0.0001')), `${what}: ${actual} is not ${expected}`).toBe(true);
}
