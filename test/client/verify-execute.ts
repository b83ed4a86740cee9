import type { Hex } from 'viem';
import { numberToHex } from 'viem';
import { sendMined } from '../../devnet/chain/receipt.ts';
import type { VerifiablePlan, Verified } from '../../packages/client/src/verify/index.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import type { Address } from '../../src/shared/ids.ts';
import { equityVerbs } from '../support/equity.ts';
import type { TestService } from '../support/service.ts';
import { callsIn } from './verify-mutants.ts';
import { type Others, othersOf } from './verify-others.ts';

const GAS = numberToHex(6_000_000n);

/** Changes of the wallet's balances by a plan, by token; gas is not counted. */
type Changes = ReadonlyMap<string, bigint>;

/** The result of a plan: for its wallet, and for all other accounts. */
export interface Executed {
  readonly changes: Changes;
  /** Effects on other accounts, and on the rights of the owner beyond its report. */
  readonly toOthers: readonly string[];
}

/** Prepare to run plans on chains that are reverted after each of them: all of them start with the same accounts. */
export async function createExecutor(service: TestService) {
  const watched = new Map<number, { readonly others: Others; readonly before: readonly Hex[] }>();
  for (const chainId of [1, 4663]) {
    const others = await othersOf(service.world.chains.on(chainId));
    watched.set(chainId, { others, before: await others.read() });
  }
  return async (plan: VerifiablePlan, report: Verified): Promise<Executed | undefined> => {
    const known = watched.get(plan.chainId);
    if (!known) throw new Error(`chain ${plan.chainId} is not watched`);
    return run(service, plan, report.owner, async () =>
      known.others.broken(known.before, await known.others.read(), report),
    );
  };
}

async function run(
  service: TestService,
  plan: VerifiablePlan,
  owner: Address,
  lookAround: () => Promise<readonly string[]>,
): Promise<Executed | undefined> {
  const local = service.world.chains.on(plan.chainId);
  const { client, chain } = local;
  const snapshot = await local.snapshot();
  try {
    const balances = () =>
      Promise.all(
        chain.tokens.map(({ address, isNative }) =>
          isNative
            ? client.getBalance({ address: owner })
            : client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] }),
        ),
      );
    const before = await balances();
    const gas = await send();
    if (gas === undefined) return undefined;
    const after = await balances();
    const changes = new Map(
      chain.tokens.map(({ address, isNative }, i) => {
        const change = (after[i] ?? 0n) - (before[i] ?? 0n);
        return [address, isNative ? change + gas : change] as const;
      }),
    );
    return { changes, toOthers: await lookAround() };
  } finally {
    await local.revert(snapshot);
  }

  /** The cost of gas, wei; `undefined` = reverted. */
  async function send(): Promise<bigint | undefined> {
    const calls = callsIn(plan).map(({ to, data, value }) => ({
      to: to as Address,
      data: data as Hex,
      value: BigInt(value ?? 0),
    }));
    if (plan.calls && calls.length > 1) {
      const batch = calls.map((call) => ({ ...call, value: String(call.value) }));
      const sent = equityVerbs(service).local === local ? equityVerbs(service).sendAtomically(owner, batch) : undefined;
      if (sent) return sent.then(() => 0n).catch(() => undefined);
    }
    await local.impersonate(owner);
    let gas = 0n;
    for (const call of calls) {
      const receipt = await sendMined(client, { from: owner, ...call, value: numberToHex(call.value), gas: GAS });
      if (receipt.status !== 'success') return undefined;
      gas += receipt.gasUsed * receipt.effectiveGasPrice;
    }
    return gas;
  }
}

/** Effects of a plan beyond its report, on the wallet or on others; none = the plan stayed within its proof. */
export function harmOf(
  { spendsAtMost, receivesAtLeast }: Verified,
  { changes, toOthers }: Executed,
): readonly string[] {
  const sums = new Map<string, bigint>();
  for (const { token, amount } of spendsAtMost) sums.set(token, (sums.get(token) ?? 0n) - amount);
  for (const { token, amount } of receivesAtLeast) sums.set(token, (sums.get(token) ?? 0n) + amount);
  const toWallet = [...changes].flatMap(([token, change]) => {
    const least = sums.get(token) ?? 0n;
    return change < least ? [`${token}: ${change} is less than ${least}`] : [];
  });
  return [...toWallet, ...toOthers];
}
