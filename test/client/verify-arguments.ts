import { type Hex, maxUint256, zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import {
  type TrustedChain,
  type VerifiablePlan,
  VerificationError,
  type Verified,
  verify,
} from '../../packages/client/src/verify/index.ts';
import { decodeFunctionData, encodeFunctionData } from '../../src/abi/calldata.ts';
import { type Bundle, localChains } from './verify-bundles.ts';
import { type Executed, harmOf } from './verify-execute.ts';
import { callsIn, planAbi, withCall } from './verify-mutants.ts';

interface Samples {
  samples(): readonly Bundle[];
  execute(plan: VerifiablePlan, report: Verified): Promise<Executed | undefined>;
}

const STRANGER = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const SHARES = [2000n, 1015n, 1006n, 994n, 985n, 500n];
/** Arguments that the proof bounds without a fixed value (BOUNDED), and those that it does not check (OPAQUE). */
const BOUNDED = /(minTokenOut|stockMinOut|yieldMinOut|minLoanOut|amountFlashLoan|stockBorrowAmount)$/;
const OPAQUE = /(extRouter|extCalldata)$|^reallocateParams\./;

interface Change {
  readonly path: string;
  readonly value: unknown;
}

/** Every argument with values that mean something: other tokens and markets, a stranger, nothing, everything, a bit more. */
export function describeArguments({ samples, execute }: Samples): void {
  describe('an argument of another meaning', () => {
    it('behavior: is refused, or is a bound within which the effects on the chain stay within the proof', async () => {
      let count = 0;
      const filled = new Set<string>();
      for (const { kind, plan, intent } of samples()) {
        const chain = localChains.find(({ chainId }) => chainId === intent.chainId) as TrustedChain;
        for (const [callIndex, call] of callsIn(plan).entries()) {
          for (const { path, data } of otherCalls(call.data as Hex, chain)) {
            count += 1;
            const changed = withCall(plan, callIndex, { ...call, data });
            const report = verified(() => verify(changed, intent, localChains));
            if (!report || OPAQUE.test(path)) continue;
            const isAllowance = intent.action === 'manual_exit' && path === 'amount';
            expect(BOUNDED.test(path) || isAllowance, `${kind}: ${path} of ${data.slice(0, 10)}`).toBe(true);
            const executed = await execute(changed, report);
            if (!executed) continue;
            filled.add(kind);
            expect(harmOf(report, executed), `${kind}: ${path}`).toEqual([]);
          }
        }
      }
      expect(count).toBeGreaterThan(2000);
      expect(filled.size).toBeGreaterThan(5);
    });
  });
}

function verified<T>(prove: () => T): T | undefined {
  try {
    return prove();
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

function* otherCalls(data: Hex, chain: TrustedChain): Generator<{ readonly path: string; readonly data: Hex }> {
  const { functionName, args = [] } = decodeFunctionData({ abi: planAbi, data });
  const item = planAbi.find((one) => one.type === 'function' && one.name === functionName);
  const names = item && 'inputs' in item ? item.inputs.map(({ name }) => name ?? '') : [];
  for (const [i, argument] of args.entries()) {
    for (const { path, value } of changesOf(argument, names[i] ?? '', chain)) {
      const encoded = verifiedEncoding(functionName, (args as readonly unknown[]).with(i, value));
      if (encoded !== undefined && encoded !== data) yield { path, data: encoded };
    }
  }
}

/** `undefined` = a number beyond its type. */
function verifiedEncoding(functionName: string, args: readonly unknown[]): Hex | undefined {
  try {
    return encodeFunctionData({ abi: planAbi, functionName, args });
  } catch {
    return undefined;
  }
}

function* changesOf(value: unknown, path: string, chain: TrustedChain): Generator<Change> {
  if (Array.isArray(value)) {
    for (const list of [[], [...value, value.at(-1)], [...value].reverse()]) yield { path: `${path}.`, value: list };
    for (const [i, item] of value.entries()) {
      for (const inner of changesOf(item, `${path}.${i}`, chain)) yield { ...inner, value: value.with(i, inner.value) };
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      for (const inner of changesOf(item, `${path}.${name}`, chain)) {
        yield { ...inner, value: { ...value, [name]: inner.value } };
      }
    }
  } else {
    for (const other of othersOf(value, chain)) yield { path, value: other };
  }
}

function othersOf(value: unknown, { tokens, swapRouters, contracts, markets }: TrustedChain): readonly unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'bigint') {
    return [0n, 1n, maxUint256, value + 1n, value - 1n, ...SHARES.map((share) => (value * share) / 1000n)];
  }
  const { length } = String(value);
  if (length === 66) return markets.map(({ id }) => id);
  const known = [...tokens.map(({ address }) => address), ...swapRouters, ...Object.values(contracts)];
  return length === 42 ? [STRANGER, zeroAddress, ...known] : ['0x', '0xdeadbeef'];
}
