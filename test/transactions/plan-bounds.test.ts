import { encodeAbiParameters, keccak256, numberToHex, pad } from 'viem';
import { describe, expect, test } from 'vitest';
import { emptyChainFacts } from '../../src/domain/facts.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { hasOperator } from '../../src/transactions/deployment-guards.ts';
import { LimitExceededError } from '../../src/transactions/errors.ts';
import { completeFacts } from '../domain/world.ts';
import { manageIn, type Scene } from './model/scene.ts';
import { chain, contracts, d, deployed, HELD, losing } from './refusal-world.ts';
import { simulatorOn, TOKEN, word } from './simulation-world.ts';

/* Bounds of a plan beside the loss of each swap, and the words that depend on the contract's terms. */

describe('costs of an increase', () => {
  // A collateral of 8,000 at 1.07 owes 6,000: an equity of 2,560. At 8x it is worth 20,480, so some 11,900 are lent and
  // swapped; a loss of 0.95 % of that is 113, above 2 % of the equity. At 4x some 1,700 are swapped: 16, below 2 %.
  const losingScene: Scene = { ...HELD, lieOf: losing(9_910n) };

  test('error: LimitExceeded where all of them cost more than 2 % of the equity', async () => {
    const refused = manageIn(losingScene, { action: 'increase_leverage', leverage: d(8) });
    await expect(refused).rejects.toBeInstanceOf(LimitExceededError);
    await expect(refused).rejects.toMatchObject({ details: { limit: { maxTotalLossPct: '2' } } });
  });

  test('behavior: the same loss of a smaller increase is accepted', async () => {
    const plan = await manageIn(losingScene, { action: 'increase_leverage', leverage: d(4) });
    expect(plan.swaps).toHaveLength(1);
    expect(plan.swaps[0]?.lossPct?.gt('0.9')).toBe(true);
  });

  test('behavior: a close is not bounded by its costs together', async () => {
    // 8,560 are sold at a loss of 0.95 %: 81 of an equity of 2,560, above 3 %.
    const plan = await manageIn(losingScene, { action: 'close' });
    expect(plan.path).toBe('deleverage');
  });
});

describe('the sentence about the yield fee of a part', () => {
  const part = async (scene: Scene, amount: string) =>
    (await manageIn({ ...scene, unsimulated: 'node' }, { action: 'close', amount: d(amount), allowUnsimulated: true }))
      .instructions;

  test('behavior: it names the fee of the contract, and is left out without one', async () => {
    expect(await part(HELD, '3000')).toContain('it is at most 5 % of the proceeds that the debt leaves');
    const without = await part({ ...HELD, answers: { s_yieldFee: 0n } }, '3000');
    expect(without).toContain('only a simulation shows it');
    expect(without).not.toContain('yield fee');
  });
});

describe('hasOperator', () => {
  const facts = completeFacts(chain);
  const approved = (isAllowed: boolean) =>
    deployed({ operators: [{ address: contracts.flashLeverageRouter, isAllowed }] })(facts);

  test('behavior: only a router that is known not to be approved is none', () => {
    expect([hasOperator(chain, approved(true)), hasOperator(chain, approved(false))]).toEqual([true, false]);
    expect([hasOperator(chain, facts), hasOperator(chain, emptyChainFacts(1))]).toEqual([true, true]);
  });
});

describe('balance slots', () => {
  const ACCOUNT: Address = '0x00000000000000000000000000000000000000aa';
  const PROBE: Address = '0x5b1a700000000000000000000000000000005b1a';
  const encoded = (types: readonly string[], values: readonly unknown[]) =>
    keccak256(encodeAbiParameters(types.map((type) => ({ type })) as never, values as never));
  const solidity = (slot: bigint) => (account: Address) => encoded(['address', 'uint256'], [account, slot]);
  const vyper = (slot: bigint) => (account: Address) => encoded(['uint256', 'address'], [slot, account]);
  // ERC-7201: keccak256(abi.encode(uint256(keccak256("openzeppelin.storage.ERC20")) - 1)) & ~bytes32(uint256(0xff)).
  const namespace = (() => {
    const id = BigInt(keccak256(Buffer.from('openzeppelin.storage.ERC20')));
    return BigInt(keccak256(pad(numberToHex(id - 1n), { size: 32 }))) & ~0xffn;
  })();
  const solady = (account: Address) => keccak256(`0x${account.slice(2)}000000000000000087a211a2`.toLowerCase() as Hex);

  /** A token that reads the balances of one slot. */
  const found = (slotOf: (account: Address) => Hex) => {
    const { slots, reading, asked } = simulatorOn({ balance: (stateDiff) => stateDiff[slotOf(PROBE)] ?? word(0) });
    return slots.find(reading, TOKEN).then((slot) => ({ slot: slot?.(ACCOUNT), asked }));
  };

  test.each([
    ['the first slot', solidity(0n)],
    ['the last plain slot', solidity(59n)],
    ['the first slot of Vyper', vyper(0n)],
    ['the last slot of Vyper', vyper(59n)],
    ['the namespace of OpenZeppelin', solidity(namespace)],
    ['the seed of Solady', solady],
  ])('behavior: %s is found with one request', async (_name, slotOf) => {
    const { slot, asked } = await found(slotOf);
    expect([slot, asked.length]).toEqual([slotOf(ACCOUNT), 1]);
  });

  test.each([
    ['a balance of nothing', word(0)],
    ['a balance beyond all marks', word(2n ** 255n)],
    ['a text that is no word', '0x01'],
    ['a word with more behind it', `${word(0x5b1a_7e00_0000_0000n)}00`],
  ])('behavior: none is found for %s, and the next look asks again', async (_name, answer) => {
    const { slots, reading, asked } = simulatorOn({ balance: () => answer });
    expect(await slots.find(reading, TOKEN)).toBeUndefined();
    expect(await slots.find(reading, TOKEN)).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  test('behavior: a found slot is remembered; one further down is not looked for', async () => {
    const { slots, reading, asked } = simulatorOn({ balance: (stateDiff) => stateDiff[solidity(9n)(PROBE)] });
    for (const _ of [1, 2]) expect((await slots.find(reading, TOKEN))?.(ACCOUNT)).toBe(solidity(9n)(ACCOUNT));
    expect(asked).toHaveLength(1);
    expect((await found(solidity(60n))).slot).toBeUndefined();
  });
});
