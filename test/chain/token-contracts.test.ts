import { encodeAbiParameters, type Hex, stringToHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { foldTokenContracts, planTokenContracts } from '../../src/chain/plans/token-contracts.ts';
import type { CallResult } from '../../src/chain/types.ts';
import { chainOf } from '../domain/world.ts';

const chain = chainOf(4663);
const [first, second] = chain.tokens.filter(({ isNative }) => !isNative).map(({ address }) => address);
if (!first || !second) throw new Error('the chain has tokens');
const plan = planTokenContracts(chain);

const ok = (data: Hex): CallResult => ({ ok: true, data });
const uint = (value: bigint) => ok(encodeAbiParameters([{ type: 'uint256' }], [value]));
const text = (value: string) => ok(encodeAbiParameters([{ type: 'string' }], [value]));
const REVERTED: CallResult = { ok: false, reason: 'reverted' };

/** The result for the first token with these answers, while every other token answers well. */
function firstOf(decimals: CallResult, symbol: CallResult) {
  const sound = plan.slice(2).map((_, i) => (i % 2 === 0 ? uint(18n) : text('SOUND')));
  return foldTokenContracts(chain, [decimals, symbol, ...sound]);
}
const firstToken = (decimals: CallResult, symbol: CallResult) => firstOf(decimals, symbol).values.get(first);

describe('foldTokenContracts', () => {
  test('default: decimals and symbol of every token but the native one', () => {
    const { values, failures } = firstOf(uint(6n), text('USDG'));
    expect(values.get(first)).toEqual({ hasCode: true, decimals: 6n, symbol: 'USDG' });
    expect([values.size, failures.size]).toEqual([plan.length / 2, 0]);
    expect(chain.tokens.filter(({ isNative }) => !isNative)).toHaveLength(values.size);
  });

  test.each<[string, CallResult, string | undefined]>([
    ['as bytes32', ok(stringToHex('MKR', { size: 32 })), 'MKR'],
    ['of 10 kB', text('A'.repeat(10_000)), `${'A'.repeat(32)}...`],
    ['with control characters', text('US\u0000D\n\u202e'), 'US?D??'],
    ['of another alphabet', text('USD₮'), 'USD?'],
    ['that names a length which is not there', ok(`0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`), undefined],
    ['of odd bytes', ok('0x1234'), undefined],
    ['that reverts', REVERTED, undefined],
  ])('behavior: a symbol %s', (_name, symbol, shown) => {
    expect(firstToken(uint(6n), symbol)).toEqual({
      hasCode: true,
      decimals: 6n,
      symbol: shown,
    });
  });

  test.each<[string, CallResult, bigint | undefined]>([
    ['255', uint(255n), 255n],
    ['that no uint8 can be', uint(2n ** 256n - 1n), 2n ** 256n - 1n],
    ['that revert', REVERTED, undefined],
    ['of half a word', ok('0x0012'), undefined],
  ])('behavior: decimals %s', (_name, decimals, shown) => {
    expect(firstToken(decimals, text('USDG'))?.decimals).toBe(shown);
  });

  test('behavior: an address with empty answers has no code', () => {
    expect(firstToken(ok('0x'), ok('0x'))).toEqual({ hasCode: false });
    expect(firstToken(ok('0x'), text('USDG'))).toEqual({ hasCode: true, symbol: 'USDG' });
  });

  test('error: an unanswered call fails only its token', () => {
    const { values, failures } = firstOf({ ok: false, reason: 'timeout' }, text('USDG'));
    expect([...failures]).toEqual([[first, 'timeout']]);
    expect(values.has(second)).toBe(true);
  });
});
