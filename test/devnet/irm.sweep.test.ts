import { AdaptiveCurveIrmLib, MathLib } from '@morpho-org/blue-sdk';
import { adaptiveCurveIrmAbi } from '@morpho-org/blue-sdk-viem';
import fc from 'fast-check';
import { type Address, encodeFunctionData, type Hex, numberToHex, zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { sendMined } from '../../devnet/chain/receipt.ts';
import { rateAtTargetSlot } from '../../devnet/chain/seed.ts';
import { computeMarketId } from '../../src/catalog/index.ts';
import { catalog, useChains } from './world.ts';

const on = useChains([1]);
const irm = catalog.chain(1)?.contracts.adaptiveCurveIrm ?? zeroAddress;
const morpho = catalog.chain(1)?.contracts.morphoBlue ?? zeroAddress;

interface Case {
  readonly supplied: bigint;
  readonly borrowed: bigint;
  /** Zero: the market's first interaction. */
  readonly rateAtTarget: bigint;
  readonly elapsed: bigint;
}

const { MIN_RATE_AT_TARGET, MAX_RATE_AT_TARGET } = AdaptiveCurveIrmLib;
const cases = fc.record({
  supplied: fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n ** 30n)),
  share: fc.oneof(fc.constantFrom(0n, 9n * 10n ** 17n, 10n ** 18n), fc.bigInt(0n, 10n ** 18n)),
  rateAtTarget: fc.oneof(fc.constant(0n), fc.bigInt(MIN_RATE_AT_TARGET, MAX_RATE_AT_TARGET)),
  elapsed: fc.oneof(fc.constant(0n), fc.bigInt(1n, 86_400n), fc.bigInt(1n, 5n * 31_536_000n)),
});
/** The same cases in every run: all of them are computed on the chain in one request, so nothing is shrunk. */
const sampled = fc.sample(
  cases.map(({ share, ...rest }): Case => ({ ...rest, borrowed: (rest.supplied * share) / 10n ** 18n })),
  { numRuns: 1000, seed: 4663 },
);

/** A separate market for each case, so that each has its own stored rate. */
function paramsOf(index: number) {
  return {
    loanToken: zeroAddress,
    collateralToken: zeroAddress,
    oracle: zeroAddress,
    irm,
    lltv: BigInt(index),
  } as const;
}

function expected({ supplied, borrowed, rateAtTarget, elapsed }: Case) {
  const utilization = supplied === 0n ? 0n : MathLib.wDivDown(borrowed, supplied);
  return AdaptiveCurveIrmLib.getBorrowRate(utilization, rateAtTarget, elapsed);
}

function marketAt({ supplied, borrowed, elapsed }: Case, now: bigint) {
  return {
    totalSupplyAssets: supplied,
    totalSupplyShares: 0n,
    totalBorrowAssets: borrowed,
    totalBorrowShares: 0n,
    lastUpdate: now - elapsed,
    fee: 0n,
  };
}

async function storeRates(batch: readonly Case[]): Promise<void> {
  const { client } = on(1);
  await Promise.all(
    batch.map(({ rateAtTarget }, index) =>
      client.setStorageAt({
        address: irm,
        index: rateAtTargetSlot(computeMarketId(paramsOf(index))),
        value: numberToHex(rateAtTarget, { size: 32 }),
      }),
    ),
  );
  await client.mine({ blocks: 1 });
}

describe('AdaptiveCurveIrm', () => {
  it('behavior: borrowRateView equals the SDK to the wei for any utilization, stored rate and time', async () => {
    const { client } = on(1);
    await storeRates(sampled);
    const { timestamp } = await client.getBlock();
    const rates = await client.multicall({
      allowFailure: false,
      batchSize: 0, // one request
      contracts: sampled.map((entry, index) => ({
        address: irm,
        abi: adaptiveCurveIrmAbi,
        functionName: 'borrowRateView' as const,
        args: [paramsOf(index), marketAt(entry, timestamp)] as const,
      })),
    });
    const wrong = sampled.flatMap((entry, index) => {
      const { avgBorrowRate } = expected(entry);
      return rates[index] === avgBorrowRate ? [] : [{ ...entry, rate: rates[index], avgBorrowRate }];
    });
    expect(wrong).toEqual([]);
    expect(new Set(rates).size).toBeGreaterThan(300); // the cases do differ
  });

  it('behavior: borrowRate stores the rate at target that the SDK expects', async () => {
    const { client } = on(1);
    const batch = sampled.slice(0, 40);
    await storeRates(batch);
    await client.setBalance({ address: morpho, value: 10n ** 21n });
    await client.impersonateAccount({ address: morpho });
    for (const [index, entry] of batch.entries()) {
      // The next block's time is known before it is mined, so the elapsed time is exact.
      const timestamp = (await client.getBlock()).timestamp + 7n;
      await client.setNextBlockTimestamp({ timestamp });
      await callBorrowRate(morpho, encodeBorrowRate(index, entry, timestamp));
      const stored = await client.readContract({
        address: irm,
        abi: adaptiveCurveIrmAbi,
        functionName: 'rateAtTarget',
        args: [computeMarketId(paramsOf(index))],
      });
      expect(stored).toBe(expected(entry).endRateAtTarget);
    }
  });

  it('error: anyone but Morpho may not move the stored rate', async () => {
    const data = encodeBorrowRate(0, { supplied: 1n, borrowed: 1n, rateAtTarget: 1n, elapsed: 0n }, 1n);
    await expect(on(1).client.call({ to: irm, data })).rejects.toThrow();
  });
});

function encodeBorrowRate(index: number, entry: Case, timestamp: bigint): Hex {
  const args = [paramsOf(index), marketAt(entry, timestamp)] as const;
  return encodeFunctionData({ abi: adaptiveCurveIrmAbi, functionName: 'borrowRate', args });
}

async function callBorrowRate(from: Address, data: Hex): Promise<void> {
  const { client } = on(1);
  const receipt = await sendMined(client, { from, to: irm, data, gas: numberToHex(500_000) });
  expect(receipt.status).toBe('success');
}
