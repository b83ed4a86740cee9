import type { Hex } from 'viem';
import { numberToHex } from 'viem';
import { sendMined } from '../../devnet/chain/receipt.ts';
import type { VerifiablePlan, Verified } from '../../packages/client/src/verify/index.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import type { Address } from '../../src/shared/ids.ts';
import { equityVerbs } from '../support/equity.ts';
import type { TestService } from '../support/service.ts';
import { callsIn } from './verify-mutants.ts';

const GAS = numberToHex(6_000_000n);

/** What a plan did to its wallet, by token; gas is not counted. `undefined` = a call reverted. */
export type Changes = ReadonlyMap<string, bigint>;

/** Run a plan on a chain that is reverted afterwards, and read what it did to every token of the catalog. */
export async function execute(
  service: TestService,
  plan: VerifiablePlan,
  owner: Address,
): Promise<Changes | undefined> {
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
    return new Map(
      chain.tokens.map(({ address, isNative }, i) => {
        const change = (after[i] ?? 0n) - (before[i] ?? 0n);
        return [address, isNative ? change + gas : change];
      }),
    );
  } finally {
    await local.revert(snapshot);
  }

  /** The cost of gas, wei; `undefined` = reverted. */
  async function send(): Promise<bigint | undefined> {
    const calls = callsIn(plan).map(({ to, data, value }) => ({
      ...{ to: to as Address, data: data as Hex, value: BigInt(value ?? 0) },
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

/** The bounds of a report that the changes of a wallet break; none = it did at most what was proven. */
export function broken({ spendsAtMost, receivesAtLeast }: Verified, changes: Changes): readonly string[] {
  const sums = new Map<string, bigint>();
  for (const { token, amount } of spendsAtMost) sums.set(token, (sums.get(token) ?? 0n) - amount);
  for (const { token, amount } of receivesAtLeast) sums.set(token, (sums.get(token) ?? 0n) + amount);
  return [...changes].flatMap(([token, change]) => {
    const least = sums.get(token) ?? 0n;
    return change < least ? [`${token}: ${change} is less than ${least}`] : [];
  });
}
