import fc from 'fast-check';
import type { Abi, Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { equityRouterAbi } from '../../src/abi/equity-router.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { buildDepositBatch, buildExitBatch, type EquityCall } from '../../src/transactions/equity/batch.ts';
import type { ExitTerms } from '../../src/transactions/equity/types.ts';
import { chain, planned, pricesOf, router, swapOf, vaultOf } from './equity-world.ts';

const { contracts } = chain;
const ALLOWED = new Set([router, contracts.morphoBlue, contracts.flashLeverage, vaultOf('SPY').depositToken.address]);

const vaults = fc.constantFrom(...chain.equityVaults);
const slippages = fc.integer({ min: 1, max: 100 }).map((bps) => new Decimal(bps).shiftedBy(-4));
const deposits = fc.record({
  vault: vaults,
  amountIn: fc.bigInt(1_000_000n, 10n ** 13n),
  stockLtvPct: fc.integer({ min: 1, max: 5_500 }).map((hundredths) => new Decimal(hundredths).shiftedBy(-2)),
  slippage: slippages,
  lossBps: fc.bigInt(0n, 60n),
  stockUsd: fc.integer({ min: 100, max: 100_000 }).map((cents) => new Decimal(cents).shiftedBy(-2).toFixed()),
});
const grants = fc.record({ allowance: fc.bigInt(0n, 2n ** 100n), isAuthorized: fc.boolean() });

const termsOf = ({ stockUsd, ...input }: typeof deposits extends fc.Arbitrary<infer T> ? T : never) =>
  planned({ ...input, prices: pricesOf(input.vault, stockUsd, '1.04') });

const callsAbi = [...erc20Abi, ...morphoBlueAbi, ...flashLeverageAbi, ...equityRouterAbi] as Abi;

interface Decoded {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** The meaning of the bytes for a wallet, independent of `action`. */
function decoded({ data }: EquityCall): Decoded {
  const { functionName, args } = decodeFunctionData({ abi: callsAbi, data });
  return { name: functionName, args: args ?? [] };
}

function expectRevoked(calls: readonly EquityCall[], meanings: readonly Decoded[]): void {
  const authorizations = meanings.flatMap(({ name, args }, index) =>
    name === 'setAuthorization' ? [{ index, authorized: args[0], granted: args[1], to: calls[index]?.to }] : [],
  );
  expect(authorizations.every(({ authorized, to }) => authorized === router && to === contracts.morphoBlue)).toBe(true);
  expect(authorizations.filter(({ granted }) => granted)).toHaveLength(1);
  expect(authorizations.at(-1)).toMatchObject({ index: calls.length - 1, granted: false });
  expect(authorizations.at(-2)).toMatchObject({ index: calls.length - 3, granted: true });
}

function expectHarmless(calls: readonly EquityCall[]): void {
  expect(calls.every(({ to, value }) => ALLOWED.has(to) && value === 0n)).toBe(true);
}

describe('buildDepositBatch', () => {
  test('default', () => {
    const terms = termsOf({
      vault: vaultOf('NVDA'),
      amountIn: 10_000_000_000n,
      stockLtvPct: new Decimal(50),
      slippage: new Decimal('0.01'),
      lossBps: 0n,
      stockUsd: '200',
    });
    const calls = buildDepositBatch(contracts, terms, { allowance: 0n, isAuthorized: false });
    expect(calls.map(({ to, action }) => ({ to, type: action.type }))).toEqual([
      { to: terms.vault.depositToken.address, type: 'approve' },
      { to: contracts.morphoBlue, type: 'setAuthorization' },
      { to: router, type: 'equityEntry' },
      { to: contracts.morphoBlue, type: 'setAuthorization' },
    ]);
    expect(calls[2]?.action.args).toMatchObject({
      amountIn: 10_000_000_000n,
      stockMarketId: terms.vault.stockMarket.id,
      stockBorrowAmount: 4_950_000_000n,
      leverageParams: { marketId: terms.vault.yieldMarket.id, amountCollateral: 0n },
    });
    expect(Object.isFrozen(calls)).toBe(true);
  });

  test('behavior: revokes a leftover authorization before the grant', () => {
    const terms = termsOf({
      vault: vaultOf('SPY'),
      amountIn: 10_000_000n,
      stockLtvPct: new Decimal(50),
      slippage: new Decimal('0.01'),
      lossBps: 0n,
      stockUsd: '600',
    });
    const calls = buildDepositBatch(contracts, terms, { allowance: 2n ** 100n, isAuthorized: true });
    expect(calls.map(decoded)).toMatchObject([
      { name: 'setAuthorization', args: [router, false] },
      { name: 'setAuthorization', args: [router, true] },
      { name: 'equityEntry' },
      { name: 'setAuthorization', args: [router, false] },
    ]);
  });

  test('property: it ends with the revoke, has one grant, approves exactly, and its intent matches its bytes', () => {
    fc.assert(
      fc.property(deposits, grants, (input, wallet) => {
        const terms = termsOf(input);
        const calls = buildDepositBatch(contracts, terms, wallet);
        const meanings = calls.map(decoded);
        expectRevoked(calls, meanings);
        expectHarmless(calls);
        const approvals = meanings.filter(({ name }) => name === 'approve');
        expect(approvals).toEqual(
          wallet.allowance >= terms.amountIn ? [] : [{ name: 'approve', args: [router, terms.amountIn] }],
        );
        const entries = calls.filter(({ action }) => action.type === 'equityEntry');
        expect(entries).toHaveLength(1);
        const { args } = meanings[calls.indexOf(entries[0] as EquityCall)] as Decoded;
        expect(args).toEqual([entries[0]?.action.args]);
        const [entry] = args as [Record<string, unknown>];
        expect(entry.amountIn).toBe(terms.amountIn);
        expect(entry.depositToken).toBe(terms.vault.depositToken.address);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('buildExitBatch', () => {
  const exits = fc.record({
    vault: vaults,
    loops: fc.uniqueArray(fc.nat({ max: 50 }), { maxLength: 6 }),
    slippage: slippages,
    stockOut: fc.bigInt(1n, 10n ** 14n),
    isAuthorized: fc.boolean(),
  });

  test('property: it ends with the revoke, has one grant, and closes only the loops of the list', () => {
    fc.assert(
      fc.property(exits, ({ vault, loops, slippage, stockOut, isAuthorized }) => {
        const { yieldMarket, depositToken, stock } = vault;
        const terms: ExitTerms = {
          vault,
          router,
          slippage,
          loops: loops.map((positionId, i) => ({
            positionId,
            proxy: router,
            swap: swapOf(yieldMarket.collateral, depositToken, 10n ** 18n, 10n ** 6n, slippage, `0x0${i + 1}` as Hex),
          })),
          stockSwap: swapOf(stock, depositToken, 10n ** 18n, stockOut, slippage),
        };
        const calls = buildExitBatch(contracts, terms, { isAuthorized });
        const meanings = calls.map(decoded);
        expectRevoked(calls, meanings);
        expectHarmless(calls);
        const closed = meanings.filter(({ name }) => name === 'deleverage');
        expect(closed.map(({ args }) => args.slice(0, 2))).toEqual(loops.map((id) => [BigInt(id), 0n]));
        const names = meanings.map(({ name }) => name);
        expect(names.filter((name) => name === 'equityExit')).toHaveLength(1);
        expect(names.some((name) => name === 'approve')).toBe(false);
        expect(names.lastIndexOf('deleverage')).toBeLessThan(names.indexOf('setAuthorization'));
      }),
      { numRuns: 1_000 },
    );
  });
});
