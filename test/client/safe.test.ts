import fc from 'fast-check';
import { parseAbi, keccak256 as reference, stringToHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { keccak256 } from '../../packages/client/src/hash/keccak.ts';
import {
  ExpiredError,
  InputError,
  InvalidPlanError,
  type Plan,
  safeTransaction,
} from '../../packages/client/src/index.ts';
import { checksumOf } from '../../packages/client/src/safe/safe.ts';
import { decodeFunctionData } from '../../src/abi/calldata.ts';

describe('keccak256', () => {
  test('behavior: equals the reference for every length around the block size', () => {
    for (const length of [0, 1, 135, 136, 137, 271, 272, 273]) {
      expect(keccak256('a'.repeat(length))).toBe(reference(stringToHex('a'.repeat(length))));
    }
    const equals = (text: string) => keccak256(text) === reference(stringToHex(text));
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), equals), { numRuns: 50 });
  });
});

describe('safeTransaction', () => {
  /** Plans with the parts that a Safe takes. */
  const transactionOf = (plan: unknown, options: Parameters<typeof safeTransaction>[1]) =>
    safeTransaction(plan as Plan, options);
  const call = (byte: string, value?: string) => ({
    to: `0x${byte.repeat(20)}`,
    data: '0x095ea7b3',
    ...(value === undefined ? null : { value }),
  });
  const plan = {
    chainId: 1,
    action: 'open_leverage',
    path: 'leverage',
    approvals: [call('aa')],
    tx: call('bb', '7'),
    meta: {},
  } as const;
  const options = { safe: `0x${'cc'.repeat(20)}`, createdAt: 1 };

  test('default: MultiSend runs the calls in order, and the file has its checksum', () => {
    const { data, operation, transactionBuilder } = transactionOf(plan, options);
    const abi = parseAbi(['function multiSend(bytes transactions) payable']);
    const [packed] = decodeFunctionData({ abi, data: data as `0x${string}` }).args;
    const part = (byte: string, value: number) =>
      `00${byte.repeat(20)}${value.toString(16).padStart(64, '0')}${'4'.padStart(64, '0')}095ea7b3`;
    expect([packed, operation]).toEqual([`0x${part('aa', 0)}${part('bb', 7)}`, 1]);
    expect(transactionBuilder.meta.checksum).toBe(checksumOf(transactionBuilder));
    const changed = { ...transactionBuilder, chainId: '10' };
    expect(checksumOf(changed)).not.toBe(transactionBuilder.meta.checksum);
  });

  test('error: a plan whose quotes have lapsed when it is proposed', () => {
    const until = (expiresAt: string) => ({ ...plan, meta: { expiresAt } });
    const noon = Date.parse('2026-11-23T12:00:00Z');
    const now = { safe: options.safe, now: () => noon };
    expect(transactionOf(until('2026-11-23T12:00:01Z'), now).expiresAt).toBe('2026-11-23T12:00:01Z');
    expect(() => transactionOf(until('2026-11-23T12:00:00Z'), now)).toThrow(ExpiredError);
    expect(() => transactionOf(until('2020-01-01T00:00:00Z'), { safe: options.safe })).toThrow(ExpiredError);
    // The time that is written into the file turns neither clock off.
    const lapsed = until('2026-11-23T11:59:59Z');
    expect(() => transactionOf(lapsed, { ...now, createdAt: noon - 7_200_000 })).toThrow(ExpiredError);
    expect(() => transactionOf(until('2026-11-23T12:00:01Z'), { ...now, createdAt: noon + 1_000 })).toThrow(
      ExpiredError,
    );
    for (const wrong of [{ createdAt: Number.NaN }, { createdAt: -1 }, { now: () => Number.NaN }]) {
      expect(() => transactionOf(lapsed, { ...now, ...wrong })).toThrow(InputError);
    }
    for (const time of ['9999-12-31T00:00:00Z', '+275760-09-13T00:00:00Z', 'Mon', '2026-11-24T12:00:01Z', '']) {
      expect(() => transactionOf(until(time), now), time).toThrow(InvalidPlanError);
    }
  });

  test('error: a value that does not fit into its 32 bytes, and would move those behind it', () => {
    const most = 2n ** 256n - 1n;
    const of = (value: bigint) => ({ ...plan, tx: { ...plan.tx, value: String(value) } });
    expect(transactionOf(of(most), options).data).toContain('f'.repeat(64));
    expect(() => transactionOf(of(most + 1n), options)).toThrow(InvalidPlanError);
  });

  test('error: a call of the Safe itself, which would be allowed to change its owners', () => {
    const own = { ...plan, tx: { ...plan.tx, to: options.safe } };
    expect(() => transactionOf(own, options)).toThrow(InvalidPlanError);
  });

  test.each(['', '00'])('error: an approval of a spender that no later call is for, with "%s" at its end', (end) => {
    const approval = (spender: string) => ({
      to: `0x${'aa'.repeat(20)}`,
      data: `0x095ea7b3${spender.padStart(64, '0')}${'1'.padStart(64, '0')}${end}`,
    });
    const approving = (spender: string) => ({ ...plan, approvals: [approval(spender)] });
    expect(transactionOf(approving('bb'.repeat(20)), options).operation).toBe(1);
    expect(() => transactionOf(approving('dd'.repeat(20)), options)).toThrow(InvalidPlanError);
  });

  test('behavior: a single call needs no MultiSend', () => {
    const single = transactionOf({ ...plan, approvals: [] }, options);
    expect(single).toMatchObject({ to: plan.tx.to, data: plan.tx.data, value: '7', operation: 0 });
  });

  test('behavior: the checksum is that of a file which the app of Safe made', () => {
    const address = { name: 'to', type: 'address', internalType: 'address' };
    const amount = { name: 'value', type: 'uint256', internalType: 'uint256' };
    const file = {
      version: '1.0',
      chainId: '1',
      createdAt: 1750255509666,
      meta: {
        name: 'Transactions Batch',
        description: '',
        txBuilderVersion: '1.18.0',
        createdFromSafeAddress: '0x7eC991e1648B7F1d5fa91ae3688C9f36a5CA6C8B',
        createdFromOwnerAddress: '',
      },
      transactions: [
        {
          to: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
          value: '0',
          data: null,
          contractMethod: { inputs: [address, amount], name: 'transfer', payable: false },
          contractInputsValues: { to: '0x116Da30d890533516f2683731F9Bd167807448b8', value: '1000000' },
        },
      ],
    };
    const checksum = '0xf1966baf2cdc7c68774e5be291e81549cc7438efbceccaad0003bb12f8d30baf';
    expect(checksumOf(file as never)).toBe(checksum);
  });

  test('error: InputError for an address that is none', () => {
    expect(() => transactionOf(plan, { ...options, safe: '0x1' })).toThrow(InputError);
    expect(() => transactionOf(plan, { ...options, multiSend: '' })).toThrow(InputError);
  });
});
